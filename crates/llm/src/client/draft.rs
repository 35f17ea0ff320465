//! A reply in the making.

use domain::chat::ChatReply;
use domain::event::Usage;
use domain::message::ToolCall;

use super::calls::Calls;
use super::manner::Manner;
use super::sampled::SampledDraft;
use super::status;
use super::wire::{self, Chunk, Part};
use crate::error::Failure;
use crate::limits::{MOST_CALLS, MOST_REPLY_BYTES};

/// So many bytes of text are told in any case.
const UNTOLD: usize = 64;

#[derive(Debug, Default)]
pub struct Draft {
    /// The model that has to answer, where that is known by its exact name.
    only: Option<String>,
    content: String,
    /// So much of it was told.
    told: usize,
    reasoning: String,
    refusal: String,
    calls: Calls,
    usage: Usage,
    /// The endpoint's last word on this reply, `stop` if it only closed the stream properly.
    finish_reason: Option<String>,
    manner: Manner,
    /// The tokens of the reply, if they were asked for.
    sampled: Option<SampledDraft>,
}

impl Draft {
    /// `tokens`: whether the tokens of the reply were asked for.
    pub fn by(only: Option<&str>, tokens: bool) -> Self {
        let sampled = tokens.then(SampledDraft::default);
        Self { only: only.map(str::to_owned), sampled, ..Self::default() }
    }

    pub const fn asks_for_tokens(&self) -> bool {
        self.sampled.is_some()
    }

    /// Reads the tokens in the JSON of a chunk, if they were asked for.
    pub fn read_tokens(&mut self, json: &[u8]) {
        if let Some(sampled) = &mut self.sampled {
            sampled.read(json);
        }
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
                self.add_part(delta)?;
            }
            if let Some(message) = choice.message {
                self.add_part(numbered(message))?;
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish_reason = Some(reason);
            }
        }
        Ok(())
    }

    fn add_part(&mut self, part: Part) -> Result<(), Failure> {
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
        let said = self.content.len() + self.refusal.len() + self.reasoning.len() + self.calls.bytes();
        if said > MOST_REPLY_BYTES || self.calls.count() > MOST_CALLS {
            return Err(std::mem::take(self).too_long());
        }
        Ok(())
    }

    /// More came than any reply has. What was said so far is kept: it was paid for.
    pub fn too_long(self) -> Failure {
        Failure::too_long(self.into_reply().0)
    }

    /// The first calls whose JSON is complete, if there are more than there were.
    pub fn complete_calls(&mut self) -> Option<Vec<ToolCall>> {
        self.calls.newly_complete()
    }

    /// The text so far, if there is more of it that may end an item: to tell of each token would cost the square of its
    /// length.
    pub fn more_text(&mut self) -> Option<&str> {
        let new = &self.content.as_bytes()[self.told..];
        let ends = new.iter().any(|byte| matches!(byte, b'\n' | b',' | b']' | b'}' | b'.'));
        if new.len() < UNTOLD && !ends {
            return None;
        }
        self.told = self.content.len();
        Some(&self.content)
    }

    /// The endpoint says that nothing more comes.
    pub fn close(&mut self) {
        self.finish_reason.get_or_insert_with(|| "stop".to_owned());
    }

    pub const fn is_finished(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// The reply, if the model came to its end. Half a reply must not become data.
    pub fn finish(mut self) -> Result<(ChatReply, Manner), Failure> {
        // `abort` and `error` are what vLLM and OpenRouter say when their own side broke off.
        let reason = self.finish_reason.take().filter(|reason| !matches!(&**reason, "abort" | "error"));
        let reason = reason.ok_or(Failure::CutStream)?;
        let sampled = self.sampled.take();
        let (mut reply, manner) = self.into_reply();
        reply.sampling = sampled.map(|sampled| sampled.finish(reply.usage));
        match &*reason {
            "length" | "content_filter" => Err(Failure::Stopped { reason, reply: Box::new(reply) }),
            _ => Ok((reply, manner)),
        }
    }

    fn into_reply(self) -> (ChatReply, Manner) {
        // A refusal takes the place of the content; the engine decides what it is worth.
        let said = [self.content, self.refusal];
        let reply = ChatReply {
            content: said.into_iter().find(|text| !text.is_empty()).unwrap_or_default(),
            reasoning: Some(self.reasoning).filter(|text| !text.is_empty()),
            tool_calls: self.calls.finish(),
            usage: self.usage,
            sampling: None,
        };
        (reply, self.manner)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chunk(delta: serde_json::Value) -> Chunk {
        serde_json::from_value(json!({"choices": [{"delta": delta}]})).expect("a chunk")
    }

    /// Adds the same part again and again. What is said in the end, and how much of it was kept.
    fn repeat_delta(delta: &serde_json::Value) -> (String, usize) {
        let mut draft = Draft::default();
        for _ in 0..3_000_000 {
            match draft.add(chunk(delta.clone())) {
                Ok(()) => {}
                Err(Failure::Stopped { reason, reply }) => {
                    let calls: usize = reply.tool_calls.iter().map(|call| call.function.arguments.len()).sum();
                    let kept = reply.content.len() + reply.reasoning.as_ref().map_or(0, String::len) + calls;
                    return (Failure::Stopped { reason, reply }.to_string(), kept);
                }
                Err(other) => return (other.to_string(), 0),
            }
        }
        ("nothing".to_owned(), 0)
    }

    #[test]
    fn a_reply_without_end_is_cut_and_the_model_blamed() {
        let text = "1 + ".repeat(1_000);
        for delta in [
            json!({"content": text}),
            json!({"reasoning": text}),
            json!({"refusal": text}),
            json!({"tool_calls": [{"index": 0, "function": {"name": "a", "arguments": text}}]}),
        ] {
            let (said, kept) = repeat_delta(&delta);
            assert!(said.starts_with("said more than any reply needs (1048576 bytes or 200 calls)"), "{said}");
            assert!((MOST_REPLY_BYTES..MOST_REPLY_BYTES + 5_000).contains(&kept), "{kept}");
        }
        let mut n = 0;
        let mut draft = Draft::default();
        let failure = loop {
            n += 1;
            let call = json!({"tool_calls": [{"index": n, "function": {"name": "a", "arguments": "{}"}}]});
            match draft.add(chunk(call)) {
                Ok(()) => assert!(n <= MOST_CALLS),
                Err(failure) => break failure,
            }
        };
        assert!(!failure.is_transient() && n == MOST_CALLS + 1, "{failure} after {n}");
    }
}
