//! What a page gives an editor beside the text. As JSON it is what web/editor/src/index.js reads.

use domain::api::documents::DocumentFinding;
use domain::finding::Grade;
use serde::Serialize;
use strum::IntoStaticStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Language {
    Yaml,
    Starlark,
    Jinja,
    Json,
}

/// Something wrong with the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub severity: Severity,
    /// JSON pointer of the field; empty if only the line is known.
    pub pointer: String,
    /// 1-based; 0 when it has no place in the text.
    pub line: usize,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Error,
    Warning,
    Info,
}

impl From<&DocumentFinding> for Problem {
    fn from(found: &DocumentFinding) -> Self {
        let severity = match found.grade {
            Grade::Critical | Grade::Error => Severity::Error,
            Grade::Warning => Severity::Warning,
            Grade::Info => Severity::Info,
        };
        Self { severity, pointer: found.pointer.clone(), line: found.line, message: found.message.clone() }
    }
}

/// Names that may stand at some places, such as the tools of a playbook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Completions {
    /// Pattern of JSON pointers: `*` is any one segment, `**` any number of them. In Starlark and Jinja, which have no
    /// pointers, only what is given for the whole document, the empty pattern, is offered.
    pub pointer: String,
    /// The languages of code in which they are names. Without any, each is a value by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<CodeLanguage>,
    pub options: Vec<Completion>,
}

/// A language in which texts of a YAML document are written, as the schema names it (`x-language`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeLanguage {
    Expression,
    Template,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Completion {
    pub label: String,
    /// A word or two beside the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What it means, in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub info: Option<String>,
}

#[cfg(test)]
mod tests {
    use domain::finding::Rule;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_found_is_what_the_editor_reads() {
        let found = |rule| DocumentFinding {
            grade: Rule::grade(rule),
            rule: Some(rule),
            file: "a.yaml".to_owned(),
            line: 3,
            field: "tools[2]".to_owned(),
            pointer: "/tools/2".to_owned(),
            message: "is wrong".to_owned(),
        };
        let read = |rule| serde_json::to_value(Problem::from(&found(rule))).unwrap();
        assert_eq!(
            read(Rule::UnknownTool),
            json!({"severity": "error", "pointer": "/tools/2", "line": 3, "message": "is wrong"})
        );
        assert_eq!(read(Rule::InvalidWorld)["severity"], "error");
        assert_eq!(read(Rule::SimilarGoal)["severity"], "warning");
        assert_eq!(read(Rule::MissingVote)["severity"], "info");
    }

    #[test]
    fn what_is_unknown_of_a_name_is_left_out() {
        let option = Completion { label: "refund".to_owned(), ..Completion::default() };
        let pointer = "/script/*/calls/*/tool".to_owned();
        let names = Completions { pointer, options: vec![option], ..Completions::default() };
        let expected = json!({"pointer": "/script/*/calls/*/tool", "options": [{"label": "refund"}]});
        assert_eq!(serde_json::to_value(names).unwrap(), expected);
    }
}
