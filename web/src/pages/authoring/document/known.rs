//! Documents that the one on the page depends on: they say which names it may use, and what is wrong with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::document;
use domain::persona::PersonaModel;
use domain::playbook::Playbook;
use domain::project::{Kind, PERSONA_MODEL};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Map, Value};

use super::draft::{Draft, Texts};
use crate::api_client::documents::{Place, all, one};

#[derive(Clone, Copy)]
pub struct Known {
    /// Of a scenario, and of a playbook's own page.
    pub playbook: RwSignal<Option<Arc<Playbook>>>,
    /// The playbook's records that all scenarios share.
    pub base: RwSignal<Option<Arc<Map<String, Value>>>>,
    pub model: RwSignal<Option<Arc<PersonaModel>>>,
    /// Names of other documents, by kind.
    pub names: RwSignal<BTreeMap<Kind, Vec<String>>>,
}

impl Known {
    pub fn here() -> Self {
        expect_context()
    }

    pub fn of(draft: Draft) -> Self {
        let known = Self {
            playbook: RwSignal::new(None),
            base: RwSignal::new(None),
            model: RwSignal::new(None),
            names: RwSignal::new(BTreeMap::new()),
        };
        match draft.kind() {
            Kind::Scenario => {
                known.follow_playbook(draft);
                known.list(draft, Kind::Playbook);
                known.list(draft, Kind::Persona);
            }
            Kind::Persona => known.load_model(draft),
            Kind::Playbook => {
                known.read_own(draft);
                known.list(draft, Kind::Judge);
            }
            Kind::Judge => {}
        }
        known
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
            if name.is_empty() {
                return;
            }
            let place = Place::new(draft.place().project, Kind::Playbook, name);
            spawn_local(async move {
                let found = one(&place).await.map(|document| document.files).unwrap_or_default();
                self.take(&place.id.name, &found);
            });
        });
    }

    /// The playbook that is being written.
    fn read_own(self, draft: Draft) {
        Effect::new(move |_| self.take(&draft.name(), &draft.files.read()));
    }

    fn take(self, name: &str, files: &Texts) {
        let path = format!("playbooks/{name}/playbook.yaml");
        let playbook = files.get(&path).and_then(|text| document::parse::<Playbook>(&path, text).ok());
        let base = playbook.as_ref().and_then(|playbook| {
            let path = format!("playbooks/{name}/{}", playbook.world.base.as_ref()?);
            document::value(&path, files.get(&path)?).ok()?.value.as_object().cloned()
        });
        // The reader may have left the page meanwhile.
        self.playbook.try_set(playbook.map(Arc::new));
        self.base.try_set(base.map(Arc::new));
    }

    fn load_model(self, draft: Draft) {
        if draft.name() == PERSONA_MODEL {
            return;
        }
        let place = Place::new(draft.place().project, Kind::Persona, PERSONA_MODEL.to_owned());
        spawn_local(async move {
            let Ok(document) = one(&place).await else { return };
            let text = document.files.values().next().map_or("", String::as_str);
            let model = document::parse::<PersonaModel>("personas/model.yaml", text).ok();
            self.model.try_set(model.map(Arc::new));
        });
    }

    fn list(self, draft: Draft, kind: Kind) {
        let project = draft.place().project;
        spawn_local(async move {
            let Ok(found) = all(&project, kind, &[]).await else { return };
            let names = found.into_iter().map(|document| document.name).filter(|name| name != PERSONA_MODEL).collect();
            self.names.try_update(|known| drop(known.insert(kind, names)));
        });
    }
}
