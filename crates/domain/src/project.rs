//! The documents of a project, and which file belongs to which.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// What a document is. Files and URLs are named by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Kind {
    Playbook,
    Scenario,
    Persona,
    Judge,
    Workflow,
}

impl Kind {
    /// The folder that holds all of them, which is also their name in URLs.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Playbook => "playbooks",
            Self::Scenario => "scenarios",
            Self::Persona => "personas",
            Self::Judge => "judges",
            Self::Workflow => "workflows",
        }
    }

    /// Whether it is one file, and no folder of files.
    pub const fn is_one_file(self) -> bool {
        matches!(self, Self::Scenario | Self::Persona)
    }
}

/// A document of a project: what has versions of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub struct DocumentId {
    pub kind: Kind,
    pub name: String,
}

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)
    }
}

/// The persona document that is no profile: dimensions, guidance, correlations.
pub const PERSONA_MODEL: &str = "model";

const LONGEST_NAME: usize = 80;
const LONGEST_PATH: usize = 300;

impl DocumentId {
    /// # Errors
    /// What a name is made of.
    pub fn new(kind: Kind, name: &str) -> Result<Self, String> {
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let fits = name.starts_with(letter) && name.chars().all(|c| letter(c) || c == '-');
        if fits && name.len() <= LONGEST_NAME {
            return Ok(Self { kind, name: name.to_owned() });
        }
        let shown: String = name.chars().take(LONGEST_NAME).filter(|c| !c.is_control()).collect();
        Err(format!(
            "`{shown}` is not a name for a {kind}: expected lower-case letters, digits, `_` and `-`, at most {LONGEST_NAME}"
        ))
    }

    /// The file in which a document names itself, where a new one is put. A scenario stands with others of its playbook, if
    /// that is known.
    pub fn path(&self, playbook: Option<&str>) -> String {
        let Self { kind, name } = self;
        match (kind, playbook) {
            (Kind::Persona, _) if name == PERSONA_MODEL => "personas/model.yaml".to_owned(),
            (Kind::Persona, _) => format!("personas/profiles/{name}.yaml"),
            (Kind::Scenario, Some(playbook)) => format!("scenarios/{playbook}/{name}.yaml"),
            (Kind::Scenario, None) => format!("scenarios/{name}.yaml"),
            (Kind::Playbook, _) => format!("playbooks/{name}/playbook.yaml"),
            (Kind::Judge, _) => format!("judges/{name}/judge.yaml"),
            (Kind::Workflow, _) => format!("workflows/{name}/workflow.yaml"),
        }
    }

    /// The document that a file belongs to, by its path relative to the project.
    ///
    /// # Errors
    /// The path leads elsewhere.
    pub fn of(path: &str) -> Result<Self, PathError> {
        let parts = parts(path).map_err(PathError::Refused)?;
        let refused = |message: &str| Err(PathError::Refused(message.to_owned()));
        let named = |kind, name: &str| Self::new(kind, name).map_err(PathError::Refused);
        let stem = |file: &'_ str| file.strip_suffix(".yaml").map(str::to_owned);
        match parts.as_slice() {
            ["playbooks", name, _, ..] => named(Kind::Playbook, name),
            ["judges", name, _, ..] => named(Kind::Judge, name),
            ["workflows", name, _, ..] => named(Kind::Workflow, name),
            ["scenarios", .., file] => match stem(file) {
                Some(name) => named(Kind::Scenario, &name),
                None => refused("is not a scenario: expected a file `NAME.yaml`"),
            },
            ["personas", "model.yaml"] => named(Kind::Persona, PERSONA_MODEL),
            ["personas", "profiles", "model.yaml"] => refused("is the name of personas/model.yaml; choose another one"),
            ["personas", "profiles", file] => match stem(file) {
                Some(name) => named(Kind::Persona, &name),
                None => refused("is not a persona profile: expected a file `NAME.yaml`"),
            },
            ["personas", "profiles", ..] => refused("persona profiles are not kept in subfolders"),
            _ => Err(PathError::Elsewhere),
        }
    }
}

/// Why a path belongs to no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathError {
    /// It stands beside the documents, as `README.md` does.
    Elsewhere,
    /// No file may have it.
    Refused(String),
}

/// The parts of a relative path that means the same on every machine.
fn parts(path: &str) -> Result<Vec<&str>, String> {
    if path.len() > LONGEST_PATH {
        return Err(format!("is a path of {} letters; at most {LONGEST_PATH}", path.len()));
    }
    if path.starts_with('/') {
        return Err("is an absolute path; expected one within the project".to_owned());
    }
    if path.contains('\\') {
        return Err("has a backslash; folders are separated by `/`".to_owned());
    }
    let parts: Vec<&str> = path.split('/').collect();
    match parts.iter().find_map(|part| wrong(part)) {
        Some(message) => Err(message),
        None => Ok(parts),
    }
}

fn wrong(part: &str) -> Option<String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | ' ');
    match part {
        "" => Some("has an empty part".to_owned()),
        "." | ".." => Some(format!("has the part `{part}`; a path leads straight to its file")),
        _ if part.starts_with('.') => Some("is hidden: a part begins with `.`".to_owned()),
        _ if !part.chars().all(letter) => {
            Some("has other letters than a-z, A-Z, 0-9, `_`, `-`, `.`, `+` and space".to_owned())
        }
        _ if part.starts_with(' ') || part.ends_with([' ', '.']) => {
            Some("has a part that begins or ends with a space, or ends with `.`".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe_paths(paths: &[&str]) -> String {
        let one = |path: &&str| match DocumentId::of(path) {
            Err(PathError::Refused(why)) if path.len() > LONGEST_PATH => format!("{why}\n"),
            Ok(id) => format!("{path:?}: {id}\n"),
            Err(PathError::Elsewhere) => format!("{path:?}: elsewhere\n"),
            Err(PathError::Refused(why)) => format!("{path:?}: {why}\n"),
        };
        paths.iter().map(one).collect()
    }

    #[test]
    fn files_belong_to_documents() {
        insta::assert_snapshot!(describe_paths(&[
            "playbooks/bank/playbook.yaml",
            "playbooks/bank/templates/Open Ticket.md.j2",
            "scenarios/bank/lost_card.yaml",
            "scenarios/lost_card.yaml",
            "scenarios/bank/cards/lost.yaml",
            "personas/model.yaml",
            "personas/profiles/busy.yaml",
            "judges/default/judge.yaml",
            "README.md",
            "playbooks/README.md",
            "personas/notes.txt",
            "models.yaml",
        ]), @r#"
        "playbooks/bank/playbook.yaml": playbook `bank`
        "playbooks/bank/templates/Open Ticket.md.j2": playbook `bank`
        "scenarios/bank/lost_card.yaml": scenario `lost_card`
        "scenarios/lost_card.yaml": scenario `lost_card`
        "scenarios/bank/cards/lost.yaml": scenario `lost`
        "personas/model.yaml": persona `model`
        "personas/profiles/busy.yaml": persona `busy`
        "judges/default/judge.yaml": judge `default`
        "README.md": elsewhere
        "playbooks/README.md": elsewhere
        "personas/notes.txt": elsewhere
        "models.yaml": elsewhere
        "#);
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        let long = format!("playbooks/bank/{}", "x".repeat(300));
        insta::assert_snapshot!(describe_paths(&[
            "/etc/passwd",
            "../playbooks/bank/playbook.yaml",
            "playbooks/bank/../../x",
            "playbooks/bank/./x",
            "playbooks//x",
            "playbooks\\bank\\playbook.yaml",
            "C:/playbooks/x",
            "playbooks/bank/.git",
            "playbooks/bank/a\u{0}b",
            "playbooks/bank/a\u{202e}b",
            "playbooks/bank/x ",
            "playbooks/Bank/playbook.yaml",
            "scenarios/bank/notes.md",
            "scenarios/bank/Lost Card.yaml",
            "personas/profiles/model.yaml",
            "personas/profiles/a/b.yaml",
            "",
            &long,
        ]), @r#"
        "/etc/passwd": is an absolute path; expected one within the project
        "../playbooks/bank/playbook.yaml": has the part `..`; a path leads straight to its file
        "playbooks/bank/../../x": has the part `..`; a path leads straight to its file
        "playbooks/bank/./x": has the part `.`; a path leads straight to its file
        "playbooks//x": has an empty part
        "playbooks\\bank\\playbook.yaml": has a backslash; folders are separated by `/`
        "C:/playbooks/x": has other letters than a-z, A-Z, 0-9, `_`, `-`, `.`, `+` and space
        "playbooks/bank/.git": is hidden: a part begins with `.`
        "playbooks/bank/a\0b": has other letters than a-z, A-Z, 0-9, `_`, `-`, `.`, `+` and space
        "playbooks/bank/a\u{202e}b": has other letters than a-z, A-Z, 0-9, `_`, `-`, `.`, `+` and space
        "playbooks/bank/x ": has a part that begins or ends with a space, or ends with `.`
        "playbooks/Bank/playbook.yaml": `Bank` is not a name for a playbook: expected lower-case letters, digits, `_` and `-`, at most 80
        "scenarios/bank/notes.md": is not a scenario: expected a file `NAME.yaml`
        "scenarios/bank/Lost Card.yaml": `Lost Card` is not a name for a scenario: expected lower-case letters, digits, `_` and `-`, at most 80
        "personas/profiles/model.yaml": is the name of personas/model.yaml; choose another one
        "personas/profiles/a/b.yaml": persona profiles are not kept in subfolders
        "": has an empty part
        is a path of 315 letters; at most 300
        "#);
    }

    #[test]
    fn a_document_stands_where_it_belongs() {
        let scenario_of_bank = (Kind::Scenario, Some("bank"));
        for (kind, playbook) in Kind::VARIANTS.iter().map(|kind| (*kind, None)).chain([scenario_of_bank]) {
            for name in ["model", "lost_card"] {
                let id = DocumentId::new(kind, name).expect("a name");
                assert_eq!(DocumentId::of(&id.path(playbook)), Ok(id));
            }
        }
    }
}
