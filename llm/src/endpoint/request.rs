//! What an ask looks like on the wire.

use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage,
    ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, ChatCompletionStreamOptions, CreateChatCompletionRequest, FunctionCall,
    ResponseFormat, ResponseFormatJsonSchema,
};
use domain::message::{Message, ToolCall};
use engine::{Ask, ReplySchema};
use serde::Serialize;
use serde_json::Value;

use super::format::Format;

#[derive(Serialize)]
pub struct Body<'a> {
    #[serde(flatten)]
    request: CreateChatCompletionRequest,
    /// Beside the request: its own type for tools would drop what it does not know.
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    tools: &'a [Value],
}

impl<'a> Body<'a> {
    pub fn new(model: &str, ask: &'a Ask, format: Format) -> Self {
        #[expect(deprecated, reason = "OpenAI deprecates `seed`, but local servers repeat a reply by it")]
        let request = CreateChatCompletionRequest {
            model: model.to_owned(),
            messages: ask.messages.iter().map(message).collect(),
            temperature: Some(ask.temperature),
            seed: Some(ask.seed),
            max_completion_tokens: Some(ask.max_tokens),
            response_format: ask.schema.as_ref().and_then(|schema| response_format(schema, format)),
            stream: Some(true),
            stream_options: Some(ChatCompletionStreamOptions { include_usage: Some(true), include_obfuscation: None }),
            ..Default::default()
        };
        Self { request, tools: &ask.tools }
    }
}

/// Reasoning is not sent back: endpoints refuse the field, and models are not trained to read it again.
fn message(message: &Message) -> ChatCompletionRequestMessage {
    match message {
        Message::System { content } => ChatCompletionRequestSystemMessage::from(content.as_str()).into(),
        Message::User { content } => ChatCompletionRequestUserMessage::from(content.as_str()).into(),
        Message::Assistant { content, tool_calls, .. } => ChatCompletionRequestAssistantMessage {
            content: Some(content.as_str().into()),
            tool_calls: (!tool_calls.is_empty()).then(|| tool_calls.iter().map(tool_call).collect()),
            ..Default::default()
        }
        .into(),
        Message::Tool { tool_call_id, content } => {
            ChatCompletionRequestToolMessage { content: content.as_str().into(), tool_call_id: tool_call_id.clone() }
                .into()
        }
    }
}

fn tool_call(call: &ToolCall) -> ChatCompletionMessageToolCalls {
    ChatCompletionMessageToolCall {
        id: call.id.clone(),
        function: FunctionCall { name: call.function.name.clone(), arguments: call.function.arguments.clone() },
    }
    .into()
}

fn response_format(schema: &ReplySchema, format: Format) -> Option<ResponseFormat> {
    match format {
        Format::Schema => Some(ResponseFormat::JsonSchema {
            json_schema: ResponseFormatJsonSchema {
                name: schema.name.clone(),
                schema: schema.schema.clone(),
                description: None,
                // Strict would refuse schemas with optional or free fields, as ours have; the engine checks anyway.
                strict: Some(false),
            },
        }),
        Format::Object => Some(ResponseFormat::JsonObject),
        Format::Plain => None,
    }
}
