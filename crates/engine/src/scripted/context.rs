//! What lines of the script see, and how they are rendered with it.

use std::cell::OnceCell;

use domain::event::Answer;
use minijinja::Value;
use serde_json::Value as Json;

use crate::conversation::Conversation;
use crate::templates;

/// Longest line or argument, in bytes. What a call is given may stand in its answer, and in the next call twice.
const LONGEST_LINE: usize = 64 << 10;

/// `calls.<tool>`, the last answer of each tool, and `facts`. Made when a line first looks: most do not.
pub struct Context<'a> {
    conversation: &'a Conversation,
    made: OnceCell<Value>,
}

impl<'a> Context<'a> {
    pub const fn of(conversation: &'a Conversation) -> Self {
        Self { conversation, made: OnceCell::new() }
    }

    /// # Errors
    /// The line does not render, or becomes too long.
    pub fn line(&self, template: &str) -> Result<String, String> {
        let text = if template.contains('{') || template.ends_with(['\n', '\r']) {
            self.conversation.case().shared().lines(&self.conversation.case().scenario).render(template, self.made())?
        } else {
            template.to_owned()
        };
        if text.len() > LONGEST_LINE {
            return Err(format!("a line of the script is {} bytes long; at most {LONGEST_LINE}", text.len()));
        }
        Ok(text)
    }

    fn made(&self) -> &Value {
        self.made.get_or_init(|| {
            let answered =
                self.conversation.state().transcript.calls.iter().filter(|call| call.answer == Answer::Succeeded);
            let calls = answered.map(|call| {
                let answer = serde_json::from_str(&call.content).map(|answer: Json| templates::value(&answer));
                (call.tool.as_str(), answer.unwrap_or_else(|_| Value::from(call.content.as_str())))
            });
            let knowledge = self.conversation.case().scenario.user_knowledge();
            let facts = knowledge.map(|(name, value)| (name.as_str(), templates::value(value)));
            Value::from_pairs([("calls", Value::from_pairs(calls)), ("facts", Value::from_pairs(facts))])
        })
    }
}
