//! What the browser finds in a document while somebody types, by the rules that the server keeps, too.

use domain::api::documents::{DocumentFinding, SchemaKind};
use domain::document::{self, LocatedValue};
use domain::finding::{Finding, Rule};
use domain::judge::Judge;
use domain::persona::{PersonaModel, Profile};
use domain::playbook::Playbook;
use domain::project::Kind;
use domain::scenario::Scenario;
use domain::workflow::Workflow;
use domain::{Problem, validate};

use super::draft_storage::Texts;

/// What other documents say, as far as it is here.
#[derive(Default)]
pub struct OtherDocuments<'a> {
    /// Of a scenario.
    pub playbook: Option<&'a Playbook>,
    /// Of a persona profile.
    pub model: Option<&'a PersonaModel>,
}

/// The schema of a document's file, if it is a YAML file that has one.
pub fn schema_of(kind: Kind, path: &str) -> Option<SchemaKind> {
    match kind {
        Kind::Scenario => Some(SchemaKind::Scenario),
        Kind::Persona if path == "personas/model.yaml" => Some(SchemaKind::PersonaModel),
        Kind::Persona => Some(SchemaKind::Persona),
        Kind::Playbook => (path.split('/').skip(2).eq(["playbook.yaml"])).then_some(SchemaKind::Playbook),
        Kind::Workflow => (path.split('/').skip(2).eq(["workflow.yaml"])).then_some(SchemaKind::Workflow),
        Kind::Judge => (path.split('/').skip(2).eq(["judge.yaml"])).then_some(SchemaKind::Judge),
    }
}

/// Sorted by file; what only the server can know is missing.
pub fn check(kind: Kind, files: &Texts, others: &OtherDocuments<'_>) -> Vec<DocumentFinding> {
    let yaml = files.iter().filter(|(path, _)| path.strip_suffix(".yaml").is_some());
    yaml.flat_map(|(path, text)| of_file(schema_of(kind, path), path, text, others)).collect()
}

/// Whether [`check`] looks for what breaks this rule; what else the server has found stays until it looks again.
pub const fn knows(rule: Option<Rule>) -> bool {
    use Rule::{FaultRule, MisplacedCall, ScriptShape, UnknownArgument, UnknownIntent, UnknownTool};
    matches!(rule, None | Some(UnknownIntent | UnknownTool | UnknownArgument | MisplacedCall | ScriptShape | FaultRule))
}

fn of_file(shape: Option<SchemaKind>, path: &str, text: &str, others: &OtherDocuments<'_>) -> Vec<DocumentFinding> {
    let located = match document::value(path, text) {
        Ok(located) => located,
        Err(problems) => {
            return problems.into_iter().map(|found| DocumentFinding::new(found, None, String::new())).collect();
        }
    };
    let said = |found: Vec<(String, String)>| at_pointers(&located, found);
    let read = match shape {
        None => Ok(Vec::new()),
        Some(SchemaKind::Scenario) => document::parse::<Scenario>(path, text).map(|scenario| {
            let found = others.playbook.map(|playbook| validate::scenario(playbook, &scenario)).unwrap_or_default();
            found.into_iter().map(|finding| from_finding(&located, finding)).collect()
        }),
        Some(SchemaKind::Playbook) => document::parse::<Playbook>(path, text).map(|_| Vec::new()),
        Some(SchemaKind::Persona) => document::parse::<Profile>(path, text)
            .map(|profile| said(others.model.map(|model| model.problems_of(&profile)).unwrap_or_default())),
        Some(SchemaKind::PersonaModel) => {
            document::parse::<PersonaModel>(path, text).map(|model| said(model.problems()))
        }
        Some(SchemaKind::Workflow) => document::parse::<Workflow>(path, text).map(|_| Vec::new()),
        Some(SchemaKind::Judge) => document::parse::<Judge>(path, text).map(|judge| said(judge.problems())),
    };
    read.unwrap_or_else(|problems| problems.into_iter().map(|problem| from_problem(&located, problem)).collect())
}

fn from_finding(located: &LocatedValue, finding: Finding) -> DocumentFinding {
    let (rule, pointer) = (finding.rule, finding.at.clone());
    DocumentFinding::new(finding.within(located).problem, Some(rule), pointer)
}

fn at_pointers(located: &LocatedValue, found: Vec<(String, String)>) -> Vec<DocumentFinding> {
    let one =
        |(pointer, message): (String, String)| DocumentFinding::new(located.problem(&pointer, message), None, pointer);
    found.into_iter().map(one).collect()
}

fn from_problem(located: &LocatedValue, problem: Problem) -> DocumentFinding {
    let pointer = located.pointer(&problem.field).unwrap_or_default().clone();
    DocumentFinding::new(problem, None, pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_in(kind: Kind, path: &str, text: &str) -> Vec<String> {
        let files = Texts::from([(path.to_owned(), text.to_owned())]);
        let found = check(kind, &files, &OtherDocuments::default());
        found.iter().map(|found| format!("{}:{} {}", found.line, found.pointer, found.message)).collect()
    }

    #[test]
    fn a_syntax_error_has_its_line() {
        let found = problems_in(Kind::Scenario, "scenarios/a.yaml", "id: a\nplaybook: [b\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("is not valid YAML"), "{found:?}");
    }

    #[test]
    fn an_unknown_field_has_its_pointer() {
        let text = "name: a\ndescription: b\ntraits: {}\nemotions: {}\ndemographics: {}\ntrait: 1\n";
        let found = problems_in(Kind::Persona, "personas/profiles/a.yaml", text);
        assert!(found[0].starts_with("6:/trait unknown field (did you mean `traits`?)"), "{found:?}");
    }

    #[test]
    fn files_without_a_schema_are_only_read() {
        assert!(problems_in(Kind::Playbook, "playbooks/a/world.schema.yaml", "type: object\n").is_empty());
        assert!(problems_in(Kind::Playbook, "playbooks/a/tools.star", "def (").is_empty());
        assert_eq!(schema_of(Kind::Playbook, "playbooks/a/playbook.yaml"), Some(SchemaKind::Playbook));
    }
}
