//! What people noted at the turns of a conversation, and how they corrected it.

use domain::api::{Annotation, CorrectedConversation, CorrectedMessage};
use leptos::prelude::*;
use leptos::task::spawn_local;

use ui::api_client::{self, Answer, ApiError};
use ui::components::{Toasts, explain};

#[derive(Clone, Copy)]
pub struct Notes {
    conversation: StoredValue<String>,
    toasts: Toasts,
    pub annotations: RwSignal<Vec<Annotation>>,
    /// Whether they were read; nothing while they are on their way.
    pub annotated: RwSignal<Option<Answer<()>>>,
    pub corrected: RwSignal<Option<CorrectedConversation>>,
    /// Why the corrections could not be read when they were last asked for.
    pub unread: RwSignal<Option<ApiError>>,
}

impl Notes {
    pub fn load(conversation: String) -> Self {
        let notes = Self {
            conversation: StoredValue::new(conversation),
            toasts: Toasts::here(),
            annotations: RwSignal::default(),
            annotated: RwSignal::new(None),
            corrected: RwSignal::default(),
            unread: RwSignal::new(None),
        };
        notes.read_annotations();
        notes.read_again();
        notes
    }

    pub fn read_annotations(self) {
        self.annotated.set(None);
        spawn_local(async move {
            // The reader may have left the page meanwhile.
            let Some(conversation) = self.conversation.try_get_value() else { return };
            let answer = api_client::annotations::of(&conversation).await.map(|found| {
                self.annotations.try_set(found);
            });
            self.tell(answer.as_ref().err());
            self.annotated.try_set(Some(answer));
        });
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
        let Some(conversation) = self.conversation.try_get_value() else { return };
        let answer = api_client::corrections::of(&conversation).await;
        self.tell(answer.as_ref().err());
        self.unread.try_set(answer.as_ref().err().cloned());
        if let Ok(found) = answer {
            self.corrected.try_set(Some(found));
        }
    }

    /// They stand below turns, too, where a missing one would not be seen.
    fn tell(self, error: Option<&ApiError>) {
        if let Some(error) = error {
            self.toasts.bad(explain(error.clone()));
        }
    }
}
