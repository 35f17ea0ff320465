//! The files with which a new document begins.

use std::collections::BTreeMap;

use domain::api::documents::SaveDocument;
use domain::api::trials::{ImportInterface, ImportNote, ImportedDraft};
use domain::persona::PersonaModel;
use domain::project::{DocumentId, Kind, PERSONA_MODEL};

use crate::pages::authoring::validator;
use ui::api_client::documents::{DocumentRef, one, save};
use ui::api_client::{self, AbortSignal, Answer, ApiError};

type Texts = BTreeMap<String, String>;

pub enum Origin {
    Copy(String),
    /// Tools of an interface that is there already.
    Interface(ImportInterface),
    /// An example; a scenario is one of a playbook.
    Nothing {
        playbook: String,
    },
}

/// The small shop that `groundstate playbook new` writes, too.
const PLAYBOOK: [(&str, &str); 6] = [
    ("playbook.yaml", include_str!("../../../../../server/scaffold/playbook/playbook.yaml")),
    ("prompt.md.j2", include_str!("../../../../../server/scaffold/playbook/prompt.md.j2")),
    ("policy.md", include_str!("../../../../../server/scaffold/playbook/policy.md")),
    ("tools.star", include_str!("../../../../../server/scaffold/playbook/tools.star")),
    ("world.schema.yaml", include_str!("../../../../../server/scaffold/playbook/world.schema.yaml")),
    ("base_world.yaml", include_str!("../../../../../server/scaffold/playbook/base_world.yaml")),
];
/// The workflow that `groundstate workflow new` writes, too.
const WORKFLOW: [(&str, &str); 3] = [
    ("workflow.yaml", include_str!("../../../../../server/scaffold/workflow/workflow.yaml")),
    ("question.md.j2", include_str!("../../../../../server/scaffold/workflow/question.md.j2")),
    ("functions.star", include_str!("../../../../../server/scaffold/workflow/functions.star")),
];
/// The judge that ships with Groundstate.
const JUDGE: [(&str, &str); 2] = [
    ("judge.yaml", include_str!("../../../../../judges/default/judge.yaml")),
    ("prompt.md.j2", include_str!("../../../../../judges/default/prompt.md.j2")),
];
/// The persona model that ships with Groundstate.
const MODEL: &str = include_str!("../../../../../personas/model.yaml");
const SCENARIO: &str = include_str!("../starts/scenario.yaml");

/// What an interface has, and the draft that was made of it has not, or in another form.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    pub skipped: Vec<ImportNote>,
    pub changed: Vec<ImportNote>,
}

impl Notes {
    pub fn is_empty(&self) -> bool {
        self.skipped.is_empty() && self.changed.is_empty()
    }
}

/// Saves what a new document begins with. It is kept as a draft at once, so that the page that follows is the same as for
/// every other document. An interface brings a first scenario, too.
pub async fn create(signal: &AbortSignal, place: &DocumentRef, origin: Origin) -> Answer<Notes> {
    if place.id.kind == Kind::Persona && place.id.name != PERSONA_MODEL {
        add_model(signal, &place.project).await?;
    }
    let (files, notes) = match origin {
        Origin::Interface(wanted) => {
            let ImportedDraft { files, skipped, changed, .. } =
                api_client::trials::import(signal, place, &wanted).await?;
            (files, Notes { skipped, changed })
        }
        Origin::Copy(from) => (copy(place, &from).await?, Notes::default()),
        Origin::Nothing { playbook } => (example(place, &playbook).await?, Notes::default()),
    };
    let (own, others): (Texts, Texts) =
        files.into_iter().partition(|(path, _)| DocumentId::of(path).as_ref() == Ok(&place.id));
    save_draft(signal, place, own).await?;
    for (path, text) in others {
        if let Ok(id) = DocumentId::of(&path) {
            save_draft(signal, &DocumentRef { project: place.project.clone(), id }, Texts::from([(path, text)]))
                .await?;
        }
    }
    Ok(notes)
}

async fn save_draft(signal: &AbortSignal, place: &DocumentRef, files: Texts) -> Answer<()> {
    let message = "created".to_owned();
    let wanted = SaveDocument { files, message, base_version: Some(0), ..SaveDocument::default() };
    save(signal, place, &wanted).await.map(drop)
}

/// Without a persona model no profile can be read: a project that has none gets the one that ships with Groundstate.
pub async fn add_model(signal: &AbortSignal, project: &str) -> Answer<()> {
    let place = DocumentRef::new(project.to_owned(), Kind::Persona, PERSONA_MODEL.to_owned());
    match one(&place).await {
        Err(error) if error.is_missing() => {}
        there => return there.map(drop),
    }
    let files = Texts::from([(place.id.path(None), MODEL.to_owned())]);
    let message = "ships with Groundstate".to_owned();
    let wanted = SaveDocument { files, message, base_version: Some(0), promote: true, ..SaveDocument::default() };
    save(signal, &place, &wanted).await.map(drop)
}

async fn copy(place: &DocumentRef, from: &str) -> Answer<Texts> {
    let (kind, to) = (place.id.kind, place.id.name.as_str());
    let original = one(&DocumentRef::new(place.project.clone(), kind, from.to_owned())).await?;
    Ok(original.files.iter().map(|(path, text)| copied(kind, (path.as_str(), text.as_str()), from, to)).collect())
}

async fn example(place: &DocumentRef, playbook: &str) -> Answer<Texts> {
    let name = place.id.name.as_str();
    match place.id.kind {
        Kind::Scenario => {
            let text = SCENARIO.replace("SCENARIO_NAME", name).replace("PLAYBOOK_NAME", playbook);
            Ok(Texts::from([(place.id.path(Some(playbook).filter(|name| !name.is_empty())), text)]))
        }
        Kind::Playbook => Ok(folder("playbooks", name, &PLAYBOOK, |text| {
            text.replace("PLAYBOOK_NAME", name).replace("JUDGE_NAME", "default")
        })),
        Kind::Judge => {
            Ok(folder("judges", name, &JUDGE, |text| text.replacen("name: default", &format!("name: {name}"), 1)))
        }
        Kind::Workflow => Ok(folder("workflows", name, &WORKFLOW, |text| text.replace("WORKFLOW_NAME", name))),
        Kind::Persona if name == PERSONA_MODEL => Ok(Texts::from([(place.id.path(None), MODEL.to_owned())])),
        Kind::Persona => {
            let model = one(&DocumentRef::new(place.project.clone(), Kind::Persona, PERSONA_MODEL.to_owned())).await?;
            let text = model.files.values().next().map_or("", String::as_str);
            let model = validator::persona_model(text.to_owned()).await?.map_err(unreadable)?;
            Ok(Texts::from([(place.id.path(None), profile(name, &model))]))
        }
    }
}

fn unreadable(problems: Vec<domain::Problem>) -> ApiError {
    let reason = problems.first().map(ToString::to_string).unwrap_or_default();
    ApiError::Unreadable { status: 200, reason }
}

fn folder(kind: &str, name: &str, files: &[(&str, &str)], fill: impl Fn(&str) -> String) -> Texts {
    files.iter().map(|(file, text)| (format!("{kind}/{name}/{file}"), fill(text))).collect()
}

/// A file of a copy: it calls itself by the new name, and stands where the new document stands.
fn copied(kind: Kind, (path, text): (&str, &str), from: &str, to: &str) -> (String, String) {
    let path = match kind {
        Kind::Playbook | Kind::Judge | Kind::Workflow => {
            path.replacen(&format!("{}/{from}/", kind.folder()), &format!("{}/{to}/", kind.folder()), 1)
        }
        Kind::Scenario | Kind::Persona => match path.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{to}.yaml"),
            None => path.to_owned(),
        },
    };
    let field = match kind {
        Kind::Scenario => "id",
        Kind::Workflow => "workflow",
        Kind::Playbook | Kind::Judge | Kind::Persona => "name",
    };
    let line = |line: &str| renamed(line, field, from, to).unwrap_or_else(|| line.to_owned());
    let mut text: String = text.split_inclusive('\n').map(line).collect();
    if text.is_empty() {
        text.push('\n');
    }
    (path, text)
}

/// The line that names a document, with another name in it: quotes, comments and spaces stay.
fn renamed(line: &str, field: &str, from: &str, to: &str) -> Option<String> {
    let value = line.strip_prefix(field)?.strip_prefix(':')?;
    let bare = value.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    (bare == from).then(|| format!("{field}:{}", value.replacen(from, to, 1)))
}

/// A person of the middle in all dimensions of the model.
fn profile(name: &str, model: &PersonaModel) -> String {
    use std::fmt::Write;
    let mut text = format!("name: {name}\ndescription: Who this is, in a sentence.\n\ndemographics:\n");
    for (attribute, options) in &model.demographics {
        let weights: Vec<String> = options.keys().map(|option| format!("\"{option}\": 1.0")).collect();
        let _ = writeln!(text, "  {attribute}: {{{}}}", weights.join(", "));
    }
    text.push_str("\n# Base values in [0, 1]; each persona is drawn around them.\ntraits:\n");
    for name in model.traits.keys() {
        let _ = writeln!(text, "  {name}: 0.5");
    }
    text.push_str("\n# The range from which each persona starts, before the intent shifts it.\nemotions:\n");
    for name in model.emotions.keys() {
        let _ = writeln!(text, "  {name}: [0.3, 0.5]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_goes_by_its_new_name() {
        let text = "# id: old\nid: old\nplaybook: old\n";
        let (path, text) = copied(Kind::Scenario, ("scenarios/bank/old.yaml", text), "old", "new");
        assert_eq!((path.as_str(), text.as_str()), ("scenarios/bank/new.yaml", "# id: old\nid: new\nplaybook: old\n"));
        let text = "id: \"old\"   # old, as a note\r\nid_prefix: old\n";
        let (_, text) = copied(Kind::Scenario, ("scenarios/bank/old.yaml", text), "old", "new");
        assert_eq!(text, "id: \"new\"   # old, as a note\r\nid_prefix: old\n");
        let (_, text) = copied(Kind::Scenario, ("scenarios/bank/old.yaml", "id: older # old\n"), "old", "new");
        assert_eq!(text, "id: older # old\n");
        let (path, text) = copied(Kind::Judge, ("judges/old/judge.yaml", "name: old"), "old", "new");
        assert_eq!((path.as_str(), text.as_str()), ("judges/new/judge.yaml", "name: new"));
    }
}
