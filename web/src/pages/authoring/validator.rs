//! Documents read and checked by the rules that the server keeps. What that takes weighs more than the pages: it is a part of
//! its own, fetched when the first document is read.

#![expect(clippy::unnecessary_wraps, reason = "where they are called, they may fail: the part may not come")]

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::api::documents::DocumentFinding;
use domain::persona::PersonaModel;
use domain::playbook::Playbook;
use domain::project::Kind;
use domain::{Problem, document};

use super::local::{self, OtherDocuments};
use ui::api_client::Answer;
use ui::parts::wasm_split;

/// A document, or why its text is none.
pub type ReadResult<T> = Result<T, Vec<Problem>>;

/// # Errors
/// Of this and of all others here: the part did not come.
#[wasm_split(validator, fallible)]
pub fn playbook(path: String, text: String) -> Answer<ReadResult<Playbook>> {
    Ok(document::parse(&path, &text))
}

#[wasm_split(validator, fallible)]
pub fn persona_model(text: String) -> Answer<ReadResult<PersonaModel>> {
    Ok(document::parse("personas/model.yaml", &text))
}

/// What is found in the files of a document, as far as the browser can know. `playbook`: of a scenario; `model`: of a persona
/// profile.
#[wasm_split(validator, fallible)]
pub fn check(
    kind: Kind,
    files: BTreeMap<String, String>,
    playbook: Option<Arc<Playbook>>,
    model: Option<Arc<PersonaModel>>,
) -> Answer<Vec<DocumentFinding>> {
    let others = OtherDocuments { playbook: playbook.as_deref(), model: model.as_deref() };
    Ok(local::check(kind, &files, &others))
}
