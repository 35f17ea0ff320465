//! Findings as SARIF 2.1.0 (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>).

use std::fmt::Write as _;

use domain::finding::{Grade, LocatedFinding, Rule};
use serde_json::{Value, json};
use strum::VariantArray;

use super::Outcome;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub fn report(found: &Outcome) -> serde_json::Result<String> {
    let mut report = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "groundstate",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": Rule::VARIANTS.iter().copied().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": found.findings.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    if !found.reviews.is_empty() {
        report["runs"][0]["properties"] = json!({"reviews": found.reviews});
    }
    serde_json::to_string_pretty(&report)
}

fn rule(rule: Rule) -> Value {
    json!({
        "id": rule.into_str(),
        "shortDescription": {"text": rule.explanation()},
        "defaultConfiguration": {"level": level(rule.grade())},
        "properties": {"grade": rule.grade()},
    })
}

fn result(LocatedFinding { rule, problem }: &LocatedFinding) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri(&problem.file)}});
    // Lines count from 1; a finding without one belongs to the whole file.
    if problem.line > 0 {
        place["region"] = json!({"startLine": problem.line});
    }
    json!({
        "ruleId": rule.into_str(),
        "level": level(rule.grade()),
        "message": {"text": format!("{}: {}", problem.field, problem.message)},
        "locations": [{"physicalLocation": place}],
        "properties": {"grade": rule.grade(), "field": problem.field},
    })
}

/// SARIF knows nothing worse than an error; the grade itself is kept as a property.
const fn level(grade: Grade) -> &'static str {
    match grade {
        Grade::Critical | Grade::Error => "error",
        Grade::Warning => "warning",
        Grade::Info => "note",
    }
}

/// A path as a relative URI.
fn uri(path: &str) -> String {
    path.bytes().fold(String::new(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
        uri
    })
}
