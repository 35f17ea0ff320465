//! What an ask looks like on the wire. Everything is borrowed: a long conversation is sent with each of its calls.

use std::sync::Arc;

use domain::chat::{ChatRequest, ReplySchema};
use domain::message::{Message, ToolCall};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::format::Format;

#[derive(Serialize)]
pub struct Body<'a> {
    model: &'a str,
    #[serde(serialize_with = "messages")]
    messages: &'a [Message],
    #[serde(skip_serializing_if = "<[Arc<Value>]>::is_empty")]
    tools: &'a [Arc<Value>],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    temperature: f32,
    /// OpenAI deprecates it, but local servers repeat a reply by it.
    seed: i64,
    max_completion_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    /// vLLM and SGLang know it. llama-server gives the ids together with the log-probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    return_token_ids: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    /// llama-server takes 20 if it is absent, and none if it is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u32>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: JsonSchema<'a> },
    JsonObject,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    schema: &'a Value,
    strict: bool,
}

/// A message without its reasoning: endpoints refuse the field, and models are not trained to read it again.
#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: &'a str,
        #[serde(skip_serializing_if = "<[ToolCall]>::is_empty")]
        tool_calls: &'a [ToolCall],
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

impl<'a> Body<'a> {
    /// `tokens`: with token ids and log-probabilities. Such a reply is asked for whole: in streams SGLang and llama-server refuse the
    /// question, llama-server leaves the last token out, and vLLM those that its parsers of tool calls hold back.
    pub fn new(model: &'a str, ask: &'a ChatRequest, format: Format, tokens: bool) -> Self {
        Self {
            model,
            messages: &ask.messages,
            tools: &ask.tools,
            response_format: ask.schema.as_ref().and_then(|schema| response_format(schema, format)),
            temperature: ask.temperature,
            seed: ask.seed,
            max_completion_tokens: ask.max_tokens,
            stream: !tokens,
            stream_options: (!tokens).then_some(StreamOptions { include_usage: true }),
            return_token_ids: tokens.then_some(true),
            logprobs: tokens.then_some(true),
            top_logprobs: tokens.then_some(1),
        }
    }
}

impl Body<'_> {
    /// Whether it asks for the tokens of the reply.
    pub const fn asks_for_tokens(&self) -> bool {
        self.return_token_ids.is_some()
    }
}

fn messages<S: Serializer>(messages: &&[Message], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(messages.iter().map(sent))
}

fn sent(message: &Message) -> WireMessage<'_> {
    match message {
        Message::System { content } => WireMessage::System { content },
        Message::User { content } => WireMessage::User { content },
        Message::Assistant { content, tool_calls, .. } => WireMessage::Assistant { content, tool_calls },
        Message::Tool { tool_call_id, content } => WireMessage::Tool { tool_call_id, content },
    }
}

fn response_format(schema: &ReplySchema, format: Format) -> Option<ResponseFormat<'_>> {
    match format {
        Format::Schema => Some(ResponseFormat::JsonSchema {
            // Strict would refuse schemas with optional or free fields, as ours have; the engine checks anyway.
            json_schema: JsonSchema { name: &schema.name, schema: &schema.schema, strict: false },
        }),
        Format::Object => Some(ResponseFormat::JsonObject),
        Format::Plain => None,
    }
}
