//! What people noted at the turns of a conversation, and how they corrected it.

use domain::api::{Annotation, CorrectedConversation, CorrectedMessage};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client;
use crate::components::{Toasts, explain};

#[derive(Clone, Copy)]
pub struct Notes {
    conversation: StoredValue<String>,
    toasts: Toasts,
    pub annotations: RwSignal<Vec<Annotation>>,
    pub corrected: RwSignal<Option<CorrectedConversation>>,
}

impl Notes {
    pub fn load(conversation: String) -> Self {
        let notes = Self {
            conversation: StoredValue::new(conversation),
            toasts: Toasts::here(),
            annotations: RwSignal::default(),
            corrected: RwSignal::default(),
        };
        let id = notes.conversation();
        spawn_local(async move {
            match api_client::annotations::of(&id).await {
                Ok(found) => drop(notes.annotations.try_set(found)),
                Err(error) => notes.toasts.bad(explain(error)),
            }
            notes.corrections().await;
        });
        notes
    }

    pub fn conversation(self) -> String {
        self.conversation.get_value()
    }

    /// After a correction: how the turns read now.
    pub fn read_again(self) {
        spawn_local(self.corrections());
    }

    /// An agent's turn as it reads now.
    pub fn message(self, spoke: u32) -> Option<CorrectedMessage> {
        let corrected = self.corrected.read();
        let mut messages = corrected.as_ref()?.agents.iter().flat_map(|agent| &agent.messages);
        messages.find(|message| message.seq == spoke).cloned()
    }

    async fn corrections(self) {
        // The reader may have left the page meanwhile.
        let Some(conversation) = self.conversation.try_get_value() else { return };
        match api_client::corrections::of(&conversation).await {
            Ok(found) => drop(self.corrected.try_set(Some(found))),
            Err(error) => self.toasts.bad(explain(error)),
        }
    }
}
