//! Keeps what is found in a document current: by the browser at once, by the server when the author pauses.

use std::time::Duration;

use domain::api::documents::{DocumentFinding, SaveDocument};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::pages::authoring::draft::Draft;
use crate::pages::authoring::local;
use crate::pages::authoring::references::References;
use crate::pages::authoring::validator;
use ui::api_client::{self, AbortGuard, AbortSignal};
use ui::components::explain;

/// The server proves scenarios: it is asked when nobody types.
const PAUSE: Duration = Duration::from_millis(600);

/// How far what is shown can be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckState {
    /// By the browser; the server has not answered yet.
    Here,
    /// By all there is.
    Whole,
    /// The server could not say, and why.
    Failed(String),
}

#[derive(Clone, Copy)]
pub struct Checks(pub RwSignal<CheckState>);

pub fn keep_checked(draft: Draft, references: References) {
    let checked = RwSignal::new(if draft.restored.get_untracked() { CheckState::Here } else { CheckState::Whole });
    provide_context(Checks(checked));
    let asked = StoredValue::new(0_u32);
    // Dropping it aborts the check: an outdated text must not use up the author's share of checks.
    let guard = StoredValue::new_local(None::<AbortGuard>);
    Effect::new(move |_| {
        let (files, playbook, model) = (draft.files.get(), references.playbook.get(), references.model.get());
        asked.update_value(|asked| *asked += 1);
        guard.set_value(None);
        let mine = asked.get_value();
        let current = move || asked.try_get_value() == Some(mine);
        spawn_local(async move {
            let here = validator::check(draft.kind(), files, playbook, model).await;
            // Something else was typed meanwhile, or the page has gone.
            if !current() {
                return;
            }
            match here {
                Ok(here) => drop(draft.found.try_update(|found| *found = merged(here, std::mem::take(found)))),
                Err(error) => drop(checked.try_set(CheckState::Failed(explain(error)))),
            }
        });
        if !draft.may_write.get() {
            return;
        }
        checked.set(CheckState::Here);
        set_timeout(
            move || {
                if current() {
                    let own = AbortGuard::new();
                    ask(draft, checked, own.signal(), current);
                    guard.set_value(Some(own));
                }
            },
            PAUSE,
        );
    });
}

fn ask(draft: Draft, checked: RwSignal<CheckState>, signal: AbortSignal, current: impl Fn() -> bool + 'static) {
    let place = draft.place();
    let wanted = SaveDocument { files: draft.files.get_untracked(), ..SaveDocument::default() };
    spawn_local(async move {
        let answer = api_client::documents::check(&signal, &place, &wanted).await;
        // Something else was typed meanwhile, or the page has gone.
        if !current() {
            return;
        }
        match answer {
            Ok(found) => {
                draft.found.try_set(found);
                checked.try_set(CheckState::Whole);
            }
            Err(error) => drop(checked.try_set(CheckState::Failed(explain(error)))),
        }
    });
}

/// What only the server finds stays until it looks again.
fn merged(here: Vec<DocumentFinding>, before: Vec<DocumentFinding>) -> Vec<DocumentFinding> {
    let mut all = here;
    all.extend(before.into_iter().filter(|found| !local::knows(found.rule)));
    all.sort();
    all.dedup();
    all
}
