//! What a list shows of a document. Drafts may be broken, so only what can be read is returned.

use domain::api::documents::DocumentMetadata;
use domain::document;
use domain::project::{DocumentId, Kind};
use domain::workflow::Workflow;
use serde_json::Value;

use crate::library::project::Texts;

/// Longest text in a list, in letters.
const LONGEST: usize = 500;
/// Most tags and profiles in a list.
const MOST: usize = 50;

pub fn document_metadata(id: &DocumentId, files: &Texts) -> DocumentMetadata {
    let main = match id.kind {
        Kind::Playbook | Kind::Judge | Kind::Workflow => files.get_key_value(&id.path(None)),
        Kind::Scenario | Kind::Persona => files.iter().next(),
    };
    let Some((path, source)) = main else { return DocumentMetadata::default() };
    let Ok(located) = document::value(path, source) else { return DocumentMetadata::default() };
    let text = |field: &str| located.value[field].as_str().map(cut).unwrap_or_default();
    let list = |field: &str| -> Vec<String> {
        let items = located.value[field].as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_str).map(cut).take(MOST).collect()
    };
    let mut about =
        DocumentMetadata { title: text("title"), description: text("description"), ..DocumentMetadata::default() };
    match id.kind {
        Kind::Scenario => {
            about.user_goal = text("user_goal");
            about.playbook = text("playbook");
            about.intent = text("intent");
            about.family = text("family");
            about.tags = list("tags");
            about.personas = list("personas");
        }
        Kind::Playbook => about.judge = text("judge"),
        Kind::Workflow => {
            let workflow = document::parse::<Workflow>(path, source);
            about.workflows =
                workflow.map_or_else(|_| Vec::new(), |workflow| workflow.calls().into_iter().map(cut).collect());
        }
        Kind::Persona | Kind::Judge => {}
    }
    about
}

fn cut(text: &str) -> String {
    text.trim().chars().take(LONGEST).collect()
}
