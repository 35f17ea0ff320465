//! The same from a terminal.

use domain::export::{ExportSpec, Profile, SourceSpec, Toggles};
use leptos::prelude::*;

/// How `groundstate export` says it.
pub fn cli(spec: &ExportSpec, file: &str) -> String {
    let mut words = vec!["groundstate export".to_owned()];
    let (all, branches) = match &spec.source {
        SourceSpec::Run(rows) => {
            words.push(format!("--run {}", rows.id));
            words.extend(rows.judging.iter().map(|judging| format!("--judging {judging}")));
            words.extend(rows.corrected.then(|| "--corrected".to_owned()));
            (rows.all, rows.branches)
        }
        SourceSpec::Corpus(rows) => {
            words.push(format!("--corpus {}", rows.id));
            words.extend(rows.split.map(|split| format!("--split {split}")));
            (rows.all, rows.branches)
        }
    };
    words.extend(all.then(|| "--all".to_owned()));
    words.extend(branches.then(|| "--branches".to_owned()));
    words.push(format!("--profile {}", spec.profile));
    words.extend(toggles(&spec.toggles));
    if spec.profile.is_of_pairs() {
        words.push(format!("--score {} --margin {}", spec.pairs.score, spec.pairs.margin));
    }
    words.push(format!("--out {file}"));
    words.join(" \\\n  ")
}

/// How the API is asked.
pub fn curl(project: &str, spec: &ExportSpec) -> String {
    let body = serde_json::to_string(&body(spec)).unwrap_or_default().replace('\'', "'\\''");
    format!(
        "curl {}/api/v1/projects/{project}/exports \\\n  -H \"Authorization: Bearer $GROUNDSTATE_TOKEN\" \\\n  --json '{body}'",
        origin()
    )
}

/// What was cut off goes on when it is sent again.
pub fn download(id: &str, file: &str) -> String {
    format!(
        "curl -C - -o {file} {}/api/v1/exports/{id}/file \\\n  -H \"Authorization: Bearer $GROUNDSTATE_TOKEN\"",
        origin()
    )
}

/// Without what is as it is by default.
fn body(spec: &ExportSpec) -> serde_json::Value {
    let mut body = serde_json::json!({"source": spec.source, "profile": spec.profile});
    if spec.toggles != Toggles::default() {
        body["toggles"] = serde_json::json!(spec.toggles);
    }
    if spec.profile.is_of_pairs() {
        body["pairs"] = serde_json::json!(spec.pairs);
    }
    body
}

fn toggles(toggles: &Toggles) -> Vec<String> {
    let Toggles { reasoning, arguments, tools, data } = toggles;
    let all = [
        reasoning.map(|value| format!("--reasoning {value}")),
        arguments.map(|value| format!("--arguments {value}")),
        tools.map(|value| format!("--tools {value}")),
        data.map(|value| format!("--data {value}")),
    ];
    all.into_iter().flatten().collect()
}

fn origin() -> String {
    window().location().origin().unwrap_or_default()
}

/// What the file is called until the server says so.
pub fn file_name(profile: Profile) -> &'static str {
    if profile.is_bundle() { "dataset.zip" } else { "rows.jsonl" }
}

#[cfg(test)]
mod tests {
    use domain::export::{CorpusRows, Data, PairRule, Split};

    use super::*;

    #[test]
    fn commands_name_all_that_is_not_by_default() {
        let rows = CorpusRows { id: "cards".to_owned(), split: Some(Split::Golden), all: true, branches: true };
        let spec = ExportSpec {
            source: SourceSpec::Corpus(rows),
            profile: Profile::JsonStrings,
            toggles: Toggles { data: Some(Data::Jsonl), ..Toggles::default() },
            pairs: PairRule::default(),
        };
        let said = cli(&spec, "rows.jsonl").replace(" \\\n ", "");
        assert_eq!(
            said,
            "groundstate export --corpus cards --split golden --all --branches --profile json_strings --data jsonl --out rows.jsonl"
        );
        assert_eq!(body(&spec)["toggles"]["data"], "jsonl");
        assert!(body(&spec).get("pairs").is_none());
    }
}
