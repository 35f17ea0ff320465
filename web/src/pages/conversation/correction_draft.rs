//! A correction that is being written.

use domain::api::{CorrectedCall, NewCorrection};
use domain::message::ToolCall;
use leptos::prelude::*;
use ui::json_text;

/// A turn as somebody is writing it, and as it read before.
#[derive(Clone)]
pub struct CorrectionDraft {
    pub content: RwSignal<String>,
    pub reasoning: RwSignal<String>,
    pub calls: Vec<(String, RwSignal<String>)>,
    pub note: RwSignal<String>,
    before: (String, String, Vec<String>),
}

impl CorrectionDraft {
    pub fn of(content: String, reasoning: String, calls: Vec<ToolCall>) -> Self {
        let laid_out: Vec<_> =
            calls.into_iter().map(|call| (call.function.name, json_text::layout(&call.function.arguments))).collect();
        let before = laid_out.iter().map(|(_, arguments)| arguments.clone()).collect();
        Self {
            content: RwSignal::new(content.clone()),
            reasoning: RwSignal::new(reasoning.clone()),
            calls: laid_out.into_iter().map(|(name, text)| (name, RwSignal::new(text))).collect(),
            note: RwSignal::default(),
            before: (content, reasoning, before),
        }
    }

    /// Whether somebody has written anything.
    pub fn is_changed(&self) -> bool {
        let texts = self.calls.iter().map(|(_, text)| text.get_untracked());
        self.content.get_untracked() != self.before.0
            || self.reasoning.get_untracked() != self.before.1
            || !texts.eq(self.before.2.iter().cloned())
            || !self.note.get_untracked().is_empty()
    }

    /// What is to be sent: only the parts that were changed.
    pub fn body(&self, spoke: u32) -> Result<NewCorrection, String> {
        let (content, reasoning) = (self.content.get_untracked(), self.reasoning.get_untracked());
        let texts: Vec<String> = self.calls.iter().map(|(_, text)| text.get_untracked()).collect();
        let calls = || {
            let calls = self.calls.iter().zip(&texts).map(|((name, _), text)| {
                let text = if text.trim().is_empty() { "{}" } else { text };
                let arguments = serde_json::from_str(text)
                    .map_err(|error| format!("The arguments of {name} are not a JSON object: {error}."))?;
                Ok(CorrectedCall { name: name.clone(), arguments })
            });
            calls.collect::<Result<Vec<_>, String>>()
        };
        Ok(NewCorrection {
            seq: spoke,
            content: (content != self.before.0).then_some(content),
            reasoning: (reasoning != self.before.1).then_some(reasoning),
            tool_calls: (texts != self.before.2).then(calls).transpose()?,
            withdraw: false,
            note: self.note.get_untracked(),
        })
    }
}
