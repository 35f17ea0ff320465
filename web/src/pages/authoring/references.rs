//! Documents that the one on the page depends on: they say which names it may use, and what is wrong with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::api::documents::{DocumentListParams, SchemaKind};
use domain::document;
use domain::persona::PersonaModel;
use domain::playbook::Playbook;
use domain::project::{Kind, PERSONA_MODEL};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Map, Value};

use super::draft::Draft;
use super::draft_storage::Texts;
use crate::pages::authoring::validator;
use ui::api_client::documents::{DocumentRef, all, one};
use ui::api_client::{self, Answer, ApiError};

/// Why the persona model is not there.
#[derive(Clone)]
pub enum NoModel {
    Unanswered(ApiError),
    /// Its text is no persona model.
    Wrong,
}

#[derive(Clone, Copy)]
pub struct References {
    /// Of a scenario, and of a playbook's own page.
    pub playbook: RwSignal<Option<Arc<Playbook>>>,
    /// The playbook's records that all scenarios share.
    pub base: RwSignal<Option<Arc<Map<String, Value>>>>,
    /// Why a scenario's playbook could not be read. That it names none is found in its text.
    pub no_playbook: RwSignal<Option<ApiError>>,
    pub model: RwSignal<Option<Arc<PersonaModel>>>,
    pub no_model: RwSignal<Option<NoModel>>,
    /// Names of other documents, by kind.
    pub names: RwSignal<BTreeMap<Kind, Vec<String>>>,
    /// Why the editor helps less than it could.
    pub no_help: RwSignal<Option<ApiError>>,
    again: RwSignal<u32>,
}

impl References {
    pub fn here() -> Self {
        expect_context()
    }

    pub fn of(draft: Draft) -> Self {
        let references = Self {
            playbook: RwSignal::new(None),
            base: RwSignal::new(None),
            no_playbook: RwSignal::new(None),
            model: RwSignal::new(None),
            no_model: RwSignal::new(None),
            names: RwSignal::new(BTreeMap::new()),
            no_help: RwSignal::new(None),
            again: RwSignal::new(0),
        };
        match draft.kind() {
            Kind::Scenario => {
                references.follow_playbook(draft);
                references.list(draft, Kind::Playbook);
                references.list(draft, Kind::Persona);
            }
            Kind::Persona => references.load_model(draft),
            Kind::Playbook => {
                references.read_own(draft);
                references.list(draft, Kind::Judge);
            }
            Kind::Workflow => references.list(draft, Kind::Workflow),
            Kind::Judge => {}
        }
        references
    }

    /// Asks for what could not be read.
    pub fn ask_again(self) {
        self.no_help.set(None);
        self.again.update(|again| *again += 1);
    }

    /// The playbook that a scenario names, also while it is being renamed.
    fn follow_playbook(self, draft: Draft) {
        let main = draft.main();
        let named = Memo::new(move |before: Option<&String>| {
            let (path, text) = main.get();
            let name =
                document::value(&path, &text).ok().and_then(|read| read.value["playbook"].as_str().map(str::to_owned));
            // While a line is half typed nothing can be read; the playbook is still the same.
            name.or_else(|| before.cloned()).unwrap_or_default()
        });
        Effect::new(move |_| {
            let name = named.get();
            self.again.track();
            if name.is_empty() {
                return;
            }
            self.no_playbook.set(None);
            let place = DocumentRef::new(draft.place().project, Kind::Playbook, name);
            spawn_local(async move {
                let answer = match one(&place).await {
                    Ok(document) => read_playbook(&place.id.name, &document.files).await,
                    Err(error) => Err(error),
                };
                self.no_playbook.try_set(answer.as_ref().err().filter(|error| !error.is_missing()).cloned());
                self.take(answer.unwrap_or_default());
            });
        });
    }

    /// The playbook that is being written.
    fn read_own(self, draft: Draft) {
        Effect::new(move |_| {
            let (name, files) = (draft.name(), draft.files.get());
            spawn_local(async move {
                // That the validator did not come is said where problems are.
                let Ok(read) = read_playbook(&name, &files).await else { return };
                // It may have changed meanwhile.
                if draft.files.try_read_untracked().is_some_and(|now| *now == files) {
                    self.take(read);
                }
            });
        });
    }

    fn take(self, (playbook, base): PlaybookAndBase) {
        // The reader may have left the page meanwhile.
        self.playbook.try_set(playbook.map(Arc::new));
        self.base.try_set(base.map(Arc::new));
    }

    fn load_model(self, draft: Draft) {
        if draft.name() == PERSONA_MODEL {
            return;
        }
        let place = StoredValue::new(DocumentRef::new(draft.place().project, Kind::Persona, PERSONA_MODEL.to_owned()));
        Effect::new(move |_| {
            self.again.track();
            self.no_model.set(None);
            let place = place.get_value();
            spawn_local(async move {
                let found = read_model(&place).await;
                self.no_model.try_set(found.as_ref().err().cloned());
                self.model.try_set(found.ok().map(Arc::new));
            });
        });
    }

    fn list(self, draft: Draft, kind: Kind) {
        Effect::new(move |_| {
            self.again.track();
            let project = draft.place().project;
            spawn_local(async move {
                let Some(found) = self.helped(all(&project, kind, DocumentListParams::default()).await) else { return };
                let names = found.into_iter().map(|document| document.name).filter(|name| name != PERSONA_MODEL);
                self.names.try_update(|all| drop(all.insert(kind, names.collect())));
            });
        });
    }

    /// The JSON Schema of a file that has one.
    pub fn schema(self, kind: Option<SchemaKind>) -> Signal<Option<Value>> {
        let schema = RwSignal::new(None);
        Effect::new(move |_| {
            self.again.track();
            let Some(kind) = kind else { return };
            spawn_local(async move {
                // What is known stays, if it cannot be asked for again.
                if let Some(found) = self.helped(api_client::documents::schema(kind).await) {
                    schema.try_set(Some(found));
                }
            });
        });
        schema.into()
    }

    fn helped<T>(self, answer: Answer<T>) -> Option<T> {
        answer.map_err(|error| self.no_help.try_set(Some(error))).ok()
    }
}

/// A playbook, and the records that its scenarios share.
type PlaybookAndBase = (Option<Playbook>, Option<Map<String, Value>>);

async fn read_playbook(name: &str, files: &Texts) -> Answer<PlaybookAndBase> {
    let path = format!("playbooks/{name}/playbook.yaml");
    let Some(text) = files.get(&path) else { return Ok((None, None)) };
    let playbook = validator::playbook(path, text.clone()).await?.ok();
    let base = playbook.as_ref().and_then(|playbook| {
        let path = format!("playbooks/{name}/{}", playbook.world.base.as_ref()?);
        document::value(&path, files.get(&path)?).ok()?.value.as_object().cloned()
    });
    Ok((playbook, base))
}

async fn read_model(place: &DocumentRef) -> Result<PersonaModel, NoModel> {
    let document = one(place).await.map_err(NoModel::Unanswered)?;
    let text = document.files.values().next().map_or("", String::as_str);
    let read = validator::persona_model(text.to_owned()).await.map_err(NoModel::Unanswered)?;
    read.map_err(|_| NoModel::Wrong)
}
