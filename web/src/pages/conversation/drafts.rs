//! What is being written at a turn and not sent. It outlives its form, which may be closed, and opened again.

use leptos::prelude::*;
use leptos::reactive::owner::WeakOwner;

use super::correction_draft::CorrectionDraft;
use ui::components::Change;

/// As long as the turn is on the page.
#[derive(Clone, Copy)]
pub struct Drafts {
    pub annotation: RwSignal<String>,
    pub labels: RwSignal<String>,
    /// Of a branch: who is the agent, and what is said instead.
    pub model: RwSignal<String>,
    pub content: RwSignal<String>,
    /// Whether an annotation or a correction is on its way.
    pub sending: RwSignal<bool>,
    pub branching: Change,
    correction: StoredValue<Option<CorrectionDraft>>,
    /// The turn's, not a form's: what it owns stays.
    turn: StoredValue<Option<WeakOwner>>,
}

impl Drafts {
    pub fn new() -> Self {
        Self {
            annotation: RwSignal::default(),
            labels: RwSignal::default(),
            model: RwSignal::default(),
            content: RwSignal::default(),
            sending: RwSignal::new(false),
            branching: Change::new().seen_elsewhere("Check the branches to see whether it was made before that."),
            correction: StoredValue::new(None),
            turn: StoredValue::new(Owner::current().as_ref().map(Owner::downgrade)),
        }
    }

    /// Whether a form waits for an answer. It stays open until then: what comes of it is said there.
    pub fn is_sent(self) -> bool {
        self.sending.get_untracked() || self.branching.waits().get_untracked()
    }

    /// The correction that was begun, or else one that is made.
    pub fn correction(self, make: impl FnOnce() -> CorrectionDraft) -> CorrectionDraft {
        if let Some(begun) = self.correction.get_value().filter(CorrectionDraft::is_changed) {
            return begun;
        }
        let turn = self.turn.get_value().as_ref().and_then(WeakOwner::upgrade);
        let made = match turn {
            Some(turn) => turn.with(make),
            None => make(),
        };
        self.correction.set_value(Some(made.clone()));
        made
    }

    pub fn forget_annotation(self) {
        self.annotation.try_set(String::new());
        self.labels.try_set(String::new());
    }

    pub fn forget_branch(self) {
        self.model.try_set(String::new());
        self.content.try_set(String::new());
    }

    pub fn forget_correction(self) {
        self.correction.try_set_value(None);
    }
}
