//! The fields of every document, as pages of docs/reference, made from the types that read them.

mod schema;

use domain::document;
use domain::judge::Judge;
use domain::persona::{PersonaModel, Profile};
use domain::playbook::Playbook;
use domain::scenario::Scenario;
use domain::workflow::Workflow;
use llm::Registry;

pub use schema::cell;

/// The pages, by file name.
pub fn pages() -> Vec<(&'static str, String)> {
    let documents = [
        ("playbook.md", "`playbook.yaml`", document::schema::<Playbook>()),
        ("scenario.md", "A scenario", document::schema::<Scenario>()),
        ("persona.md", "A persona profile", document::schema::<Profile>()),
        ("persona-model.md", "`personas/model.yaml`", document::schema::<PersonaModel>()),
        ("judge.md", "`judge.yaml`", document::schema::<Judge>()),
        ("workflow.md", "`workflow.yaml`", document::schema::<Workflow>()),
        ("models.md", "`models.yaml`", Registry::schema()),
    ];
    documents.into_iter().map(|(name, title, schema)| (name, schema::page(title, &schema))).collect()
}
