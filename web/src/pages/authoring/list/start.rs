//! The files with which a new document begins.

use std::collections::BTreeMap;

use domain::api::trials::ImportInterface;
use domain::persona::PersonaModel;
use domain::project::{Kind, PERSONA_MODEL};

use crate::api_client::documents::{Place, one};
use crate::api_client::{self, Answer, ApiError};
use crate::pages::authoring::validator;

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
/// The judge that ships with Groundstate.
const JUDGE: [(&str, &str); 2] = [
    ("judge.yaml", include_str!("../../../../../judges/default/judge.yaml")),
    ("prompt.md.j2", include_str!("../../../../../judges/default/prompt.md.j2")),
];
const SCENARIO: &str = include_str!("../starts/scenario.yaml");

/// The document's own files; an interface brings those of a first scenario, too.
pub async fn files(place: &Place, origin: Origin) -> Answer<Texts> {
    let name = place.id.name.as_str();
    match (origin, place.id.kind) {
        (Origin::Interface(wanted), _) => api_client::trials::import(place, &wanted).await.map(|draft| draft.files),
        (Origin::Copy(from), kind) => {
            let original = one(&Place::new(place.project.clone(), kind, from.clone())).await?;
            Ok(original
                .files
                .iter()
                .map(|(path, text)| copied(kind, (path.as_str(), text.as_str()), &from, name))
                .collect())
        }
        (Origin::Nothing { playbook }, Kind::Scenario) => {
            let text = SCENARIO.replace("SCENARIO_NAME", name).replace("PLAYBOOK_NAME", &playbook);
            let path = place.id.path(Some(playbook.as_str()).filter(|name| !name.is_empty()));
            Ok(Texts::from([(path, text)]))
        }
        (Origin::Nothing { .. }, Kind::Playbook) => Ok(folder("playbooks", name, &PLAYBOOK, |text| {
            text.replace("PLAYBOOK_NAME", name).replace("JUDGE_NAME", "default")
        })),
        (Origin::Nothing { .. }, Kind::Judge) => {
            Ok(folder("judges", name, &JUDGE, |text| text.replacen("name: default", &format!("name: {name}"), 1)))
        }
        (Origin::Nothing { .. }, Kind::Persona) => {
            let model = one(&Place::new(place.project.clone(), Kind::Persona, PERSONA_MODEL.to_owned())).await?;
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
        Kind::Playbook | Kind::Judge => {
            path.replacen(&format!("{}/{from}/", kind.folder()), &format!("{}/{to}/", kind.folder()), 1)
        }
        Kind::Scenario | Kind::Persona => match path.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{to}.yaml"),
            None => path.to_owned(),
        },
    };
    let field = if kind == Kind::Scenario { "id" } else { "name" };
    let own = format!("{field}: {from}");
    let renamed = |line: &str| if line.trim_end() == own { format!("{field}: {to}") } else { line.to_owned() };
    let mut text: String = text
        .split_inclusive('\n')
        .map(|line| {
            let bare = line.trim_end_matches(['\n', '\r']);
            line.replacen(bare, &renamed(bare), 1)
        })
        .collect();
    if text.is_empty() {
        text.push('\n');
    }
    (path, text)
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
        let (path, text) = copied(Kind::Judge, ("judges/old/judge.yaml", "name: old"), "old", "new");
        assert_eq!((path.as_str(), text.as_str()), ("judges/new/judge.yaml", "name: new"));
    }
}
