//! A reply in the making.

use domain::chat::ChatReply;
use domain::event::Usage;
use domain::message::ToolCall;

use super::calls::Calls;
use super::manner::Manner;
use super::status;
use super::wire::{self, Chunk, Part};
use crate::error::Failure;

#[derive(Debug, Default)]
pub struct Draft {
    /// The model that has to answer, where that is known by its exact name.
    only: Option<String>,
    content: String,
    reasoning: String,
    refusal: String,
    calls: Calls,
    usage: Usage,
    /// The endpoint's last word on this reply, `stop` if it only closed the stream properly.
    finish_reason: Option<String>,
    manner: Manner,
}

impl Draft {
    pub fn by(only: Option<&str>) -> Self {
        Self { only: only.map(str::to_owned), ..Self::default() }
    }

    pub fn add(&mut self, chunk: Chunk) -> Result<(), Failure> {
        if let (Some(only), Some(found)) = (&self.only, chunk.model)
            && *only != found
            && !found.is_empty()
        {
            return Err(Failure::OtherModel { found });
        }
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(status::failure_within(&error));
        }
        // The last count stands: some servers send a growing one with every chunk.
        if let Some(usage) = chunk.usage {
            let cached = usage.prompt_tokens_details.and_then(|details| details.cached_tokens);
            self.usage = Usage {
                prompt_tokens: usage.prompt_tokens.unwrap_or_default(),
                cached_tokens: cached.unwrap_or_default(),
                completion_tokens: usage.completion_tokens.unwrap_or_default(),
            };
        }
        if let Some(choice) = chunk.choices.into_iter().flatten().next() {
            if let Some(delta) = choice.delta {
                self.add_part(delta);
            }
            if let Some(message) = choice.message {
                self.add_part(numbered(message));
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish_reason = Some(reason);
            }
        }
        Ok(())
    }

    fn add_part(&mut self, part: Part) {
        self.manner.note(&part);
        self.content.push_str(&part.content.unwrap_or_default());
        self.refusal.push_str(&part.refusal.unwrap_or_default());
        // Endpoints that know both names send the same text twice.
        let reasoning = part.reasoning_content.filter(|text| !text.is_empty());
        let reasoning = reasoning.or(part.reasoning).unwrap_or_default();
        self.reasoning.push_str(&reasoning);
        for call in part.tool_calls.into_iter().flatten() {
            self.calls.add(call);
        }
    }

    /// The first calls whose JSON is complete, if there are more than there were.
    pub fn complete_calls(&mut self) -> Option<Vec<ToolCall>> {
        self.calls.newly_complete()
    }

    /// The endpoint says that nothing more comes.
    pub fn close(&mut self) {
        self.finish_reason.get_or_insert_with(|| "stop".to_owned());
    }

    pub const fn is_finished(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// The reply, if the model came to its end. Half a reply must not become data.
    pub fn finish(self) -> Result<(ChatReply, Manner), Failure> {
        // `abort` and `error` are what vLLM and OpenRouter say when their own side broke off.
        let reason = self.finish_reason.filter(|reason| !matches!(&**reason, "abort" | "error"));
        let reason = reason.ok_or(Failure::CutStream)?;
        // A refusal takes the place of the content; the engine decides what it is worth.
        let said = [self.content, self.refusal];
        let reply = ChatReply {
            content: said.into_iter().find(|text| !text.is_empty()).unwrap_or_default(),
            reasoning: Some(self.reasoning).filter(|text| !text.is_empty()),
            tool_calls: self.calls.finish(),
            usage: self.usage,
        };
        match &*reason {
            "length" | "content_filter" => Err(Failure::Stopped { reason, reply: Box::new(reply) }),
            _ => Ok((reply, self.manner)),
        }
    }
}

/// The calls of a whole message have no index and are never parts of each other.
fn numbered(mut message: Part) -> Part {
    let calls: &mut [wire::CallPart] = message.tool_calls.as_deref_mut().unwrap_or_default();
    for (position, call) in calls.iter_mut().enumerate() {
        call.index = Some(position);
    }
    message
}
