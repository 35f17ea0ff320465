//! Documents of a project, and what becomes of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::{IntoParams, ToSchema};

use super::FieldError;
use crate::finding::{Grade, Rule};
use crate::persona::Persona;
use crate::problem::{Problem, and_more};
use crate::project::{DocumentId, Kind};

/// A document in a list: its newest version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DocumentSummary {
    pub kind: Kind,
    pub name: String,
    /// The newest version, from 1.
    pub version: i32,
    /// The newest promoted version, which runs and the archive use. Absent if there is none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promoted: Option<i32>,
    pub about: DocumentMetadata,
    /// How many findings the newest version has.
    pub findings: Counts,
    /// The message of its author.
    pub message: String,
    pub author: String,
    pub updated_at: DateTime<Utc>,
}

/// The title, description and references of a document, as far as they can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct DocumentMetadata {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Its first 500 letters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Of a scenario: its first 500 letters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user_goal: String,
    /// Of a scenario.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub playbook: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub intent: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub family: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Persona profiles for a scenario's user; all profiles if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<String>,
    /// Of a playbook.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub judge: String,
    /// Workflows that a workflow calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<String>,
}

/// Findings by grade.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    pub critical: i32,
    pub errors: i32,
    pub warnings: i32,
    pub infos: i32,
}

impl Counts {
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a DocumentFinding>) -> Self {
        let mut counts = Self::default();
        for found in findings {
            *match found.grade {
                Grade::Critical => &mut counts.critical,
                Grade::Error => &mut counts.errors,
                Grade::Warning => &mut counts.warnings,
                Grade::Info => &mut counts.infos,
            } += 1;
        }
        counts
    }

    /// Whether what was found lets a version be promoted.
    pub const fn are_sound(self) -> bool {
        self.critical == 0 && self.errors == 0
    }
}

/// A finding in a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct DocumentFinding {
    pub grade: Grade,
    /// Absent if the document cannot be read or does not fit the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    pub file: String,
    /// 1-based; 0 when it has no place in the text.
    pub line: usize,
    /// Dotted path of the field, such as `tools[2].simulate`; empty for the whole document.
    pub field: String,
    /// The same as a JSON pointer (RFC 6901), such as `/tools/2/simulate`.
    #[serde(default)]
    pub pointer: String,
    pub message: String,
}

impl DocumentFinding {
    /// A finding of a rule, or what keeps a document from being read.
    pub fn new(problem: Problem, rule: Option<Rule>, pointer: String) -> Self {
        let Problem { file, line, field, message } = problem;
        Self { grade: rule.map_or(Grade::Critical, Rule::grade), rule, file, line, field, pointer, message }
    }
}

/// Findings of one change or validation that are listed: far more than anybody mends before looking again.
pub const MOST_FOUND: usize = 1_000;

/// The worst of what was found, in order, and at the end how many more there are.
pub fn listed(mut found: Vec<DocumentFinding>) -> Vec<DocumentFinding> {
    let rest = found.len().saturating_sub(MOST_FOUND);
    if rest == 0 {
        return found;
    }
    // The sort is stable: findings of the same grade keep their order.
    found.sort_by_key(|one| Reverse(one.grade));
    found.truncate(MOST_FOUND);
    found.sort();
    let more = Problem::new("", 0, "", and_more(rest));
    found.push(DocumentFinding { grade: Grade::Info, ..DocumentFinding::new(more, None, String::new()) });
    found
}

impl From<DocumentFinding> for FieldError {
    fn from(found: DocumentFinding) -> Self {
        Self {
            pointer: found.pointer,
            detail: found.message,
            parameter: None,
            file: Some(found.file).filter(|file| !file.is_empty()),
            line: Some(found.line).filter(|line| *line > 0),
        }
    }
}

/// One version of a document, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Document {
    pub kind: Kind,
    pub name: String,
    pub about: DocumentMetadata,
    pub saved: DocumentVersion,
    /// Path within the project -> text. Empty: this version deleted the document.
    pub files: BTreeMap<String, String>,
    pub found: Vec<DocumentFinding>,
}

/// A version of a document, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DocumentVersion {
    /// From 1.
    pub version: i32,
    pub promoted: bool,
    /// Whether this version deleted the document.
    pub deleted: bool,
    /// SHA-256 of its files, in hex.
    pub hash: String,
    pub findings: Counts,
    pub message: String,
    pub author: String,
    pub created_at: DateTime<Utc>,
}

/// A document to save.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SaveDocument {
    /// Path within the project -> text: all files of the document.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// The text of a document that is one file, instead of `files`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What was changed and why, for the history.
    pub message: String,
    /// The version that this one was made from; it is refused if there is a newer one. 0: there is none yet. Same as
    /// `If-Match`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_version: Option<i32>,
    /// Whether it is used from now on. If so, a document with critical findings or errors is refused; otherwise it is
    /// stored as a draft.
    pub promote: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Restoration {
    /// The version whose files are restored.
    pub version: i32,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Whether it is used from now on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub promote: bool,
    /// The newest version that you have seen. Same as `If-Match`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_version: Option<i32>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Promotion {
    /// The version to promote; refused if there is a newer one; default: the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
}

/// What a change to documents did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Changes {
    pub documents: Vec<DocumentChange>,
    /// Documents that are already like this.
    pub unchanged: usize,
    /// Findings in the changed documents.
    pub found: Vec<DocumentFinding>,
    /// Whether nothing was done and this only reports what would be done.
    pub dry_run: bool,
    /// Files of an archive that belong to no document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DocumentChange {
    pub kind: Kind,
    pub name: String,
    pub change: Change,
    /// The version that it has now.
    pub version: i32,
    pub promoted: bool,
    pub files: BTreeMap<String, Change>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Change {
    Added,
    Changed,
    Deleted,
    /// An unchanged draft is used from now on.
    Promoted,
}

/// What differs between two versions of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DocumentDiff {
    /// The versions that are compared. 0: before the first version.
    pub from: i32,
    pub to: i32,
    /// Only files that differ.
    pub files: Vec<FileDiff>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FileDiff {
    pub path: String,
    pub change: Change,
    /// As `diff -u` writes it, with three lines of context.
    pub unified: String,
    /// For YAML that can be read in both versions: the fields that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<FieldChange>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FieldChange {
    /// JSON pointer (RFC 6901).
    pub pointer: String,
    pub change: Change,
    /// The new value; absent if it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// The documents that need a document, and the runs that were made with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UsedBy {
    /// Documents that refer to it. It can be deleted when there are none.
    pub documents: Vec<DocumentId>,
    /// The newest runs that were made with it. They keep their own copy.
    pub runs: Vec<RunUse>,
    /// How many runs there are.
    pub run_count: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunUse {
    pub id: String,
    pub created_at: DateTime<Utc>,
}

/// A YAML file of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[schema(as = Shape)]
pub enum SchemaKind {
    /// `playbooks/NAME/playbook.yaml`
    Playbook,
    Scenario,
    /// `personas/profiles/NAME.yaml`
    Persona,
    /// `personas/model.yaml`
    PersonaModel,
    /// `judges/NAME/judge.yaml`
    Judge,
    /// `workflows/NAME/workflow.yaml`
    Workflow,
}

/// Options of a validation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewValidation {
    /// Two descriptions are reported if they are at least this similar (gestalt ratio), 0 to 1; default: 0.85.
    #[schema(minimum = 0, maximum = 1)]
    pub similar_description: Option<f64>,
    /// The same for goals; default: 0.90.
    #[schema(minimum = 0, maximum = 1)]
    pub similar_goal: Option<f64>,
}

/// A validation of a project and its findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ValidationSummary {
    pub id: String,
    /// SHA-256 of the documents, in hex.
    pub library: String,
    pub findings: Counts,
    /// Whether there is no critical finding and no error.
    pub sound: bool,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ValidationDetail {
    pub summary: ValidationSummary,
    /// Thresholds, and models that were asked.
    pub options: Value,
    pub found: Vec<DocumentFinding>,
    /// The answers of the models, scenario by scenario.
    pub reviews: Value,
}

/// An example of a persona drawn from a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PersonaSample {
    pub persona: Persona,
    /// The guidance for the simulated user.
    pub guidance: Vec<String>,
}

/// Selects documents of a kind, and a page of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DocumentListParams {
    /// Length of the page, 1 to 200; default: 50.
    #[param(minimum = 1, maximum = 200)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u16>,
    /// `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Scenarios of this playbook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub playbook: Option<String>,
    /// Scenarios of this intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Scenarios with this tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Part of the name, title or description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Only documents whose newest version is used; false: only those with a draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promoted: Option<bool>,
}

/// Which versions are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DiffParams {
    /// Default: the one before `to`. 0: nothing at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<i32>,
    /// Default: the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<i32>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DeletionParams {
    /// The reason, for the history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rule: Rule, line: usize) -> DocumentFinding {
        DocumentFinding::new(Problem::new("scenarios/a.yaml", line, "", "is wrong"), Some(rule), String::new())
    }

    #[test]
    fn the_worst_is_listed_and_the_rest_is_counted() {
        let many = |n| (0..n).map(|line| found(Rule::SimilarGoal, line));
        let few: Vec<DocumentFinding> = many(MOST_FOUND).collect();
        assert_eq!(listed(few.clone()), few, "all of it");
        let worst = found(Rule::InvalidWorld, 7);
        let listed = listed(many(MOST_FOUND + 500).chain([worst.clone()]).collect());
        assert_eq!(listed.len(), MOST_FOUND + 1);
        assert!(listed.contains(&worst));
        let [.., last] = &listed[..] else { panic!("nothing is listed") };
        assert_eq!((last.grade, last.message.as_str()), (Grade::Info, "and 501 more problems, not listed"));
    }
}
