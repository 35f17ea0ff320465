//! Findings as SARIF 2.1.0 (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>).

use std::fmt::Write as _;

use domain::Problem;
use domain::finding::{Grade, LocatedFinding, Rule};
use serde_json::{Value, json};
use strum::VariantArray;

use super::{BAD_INPUT_RULE, Outcome};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub fn report(found: &Outcome) -> serde_json::Result<String> {
    let results =
        found.findings.iter().map(|LocatedFinding { rule, problem }| result(rule.into_str(), rule.grade(), problem));
    let mut report = log(Rule::VARIANTS.iter().copied().map(rule).collect(), results.collect());
    if !found.reviews.is_empty() {
        report["runs"][0]["properties"] = json!({"reviews": found.reviews});
    }
    serde_json::to_string_pretty(&report)
}

/// Nothing was checked: the problems are all that there is to report.
pub fn bad_input(problems: &[Problem]) -> serde_json::Result<String> {
    let explanation = "Documents and flags can be read.";
    let rule = described(BAD_INPUT_RULE, explanation, Grade::Error);
    let results = problems.iter().map(|problem| result(BAD_INPUT_RULE, Grade::Error, problem));
    serde_json::to_string_pretty(&log(vec![rule], results.collect()))
}

fn log(rules: Vec<Value>, results: Vec<Value>) -> Value {
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "groundstate",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(rule: Rule) -> Value {
    described(rule.into_str(), rule.explanation(), rule.grade())
}

fn described(id: &str, explanation: &str, grade: Grade) -> Value {
    json!({
        "id": id,
        "shortDescription": {"text": explanation},
        "defaultConfiguration": {"level": level(grade)},
        "properties": {"grade": grade},
    })
}

fn result(rule: &str, grade: Grade, problem: &Problem) -> Value {
    let mut result = json!({
        "ruleId": rule,
        "level": level(grade),
        "message": {"text": text(problem)},
    });
    if !is_flag(problem) {
        result["locations"] = json!([{"physicalLocation": place(problem)}]);
    }
    result["properties"] = json!({"grade": grade, "field": problem.field});
    result
}

/// Where the file is not named, the text names the flag.
fn text(problem: &Problem) -> String {
    let flag = is_flag(problem).then_some(&problem.file);
    let parts = [flag, Some(&problem.field).filter(|field| !field.is_empty()), Some(&problem.message)];
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(": ")
}

fn is_flag(problem: &Problem) -> bool {
    problem.file.starts_with("--")
}

fn place(problem: &Problem) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri(&problem.file)}});
    // Lines count from 1; a finding without one belongs to the whole file.
    if problem.line > 0 {
        place["region"] = json!({"startLine": problem.line});
    }
    place
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
