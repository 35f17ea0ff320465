//! What endpoints send, read leniently: servers differ in what they leave out, and none keeps to the schema.

use serde::Deserialize;
use serde_json::Value;

/// A chunk of a stream, or a whole completion.
#[derive(Debug, Deserialize)]
pub struct Chunk {
    /// Who says that it answers.
    pub model: Option<String>,
    pub choices: Option<Vec<Choice>>,
    pub usage: Option<Usage>,
    /// Sent with status 200, once a stream has begun.
    pub error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub struct Choice {
    pub delta: Option<Part>,
    /// In place of `delta` when the endpoint does not stream.
    pub message: Option<Part>,
    pub finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Part {
    pub content: Option<String>,
    pub reasoning_content: Option<String>,
    pub reasoning: Option<String>,
    pub refusal: Option<String>,
    pub tool_calls: Option<Vec<CallPart>>,
}

#[derive(Debug, Deserialize)]
pub struct CallPart {
    pub index: Option<usize>,
    pub id: Option<String>,
    #[serde(default)]
    pub function: FunctionPart,
}

impl CallPart {
    /// What it adds to a reply.
    pub fn bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let arguments = self.function.arguments.as_ref().map_or(0, |arguments| match arguments {
            Value::String(text) => text.len(),
            Value::Null => 0,
            other => other.to_string().len(),
        });
        length(&self.id) + length(&self.function.name) + arguments
    }
}

#[derive(Debug, Default, Deserialize)]
pub struct FunctionPart {
    pub name: Option<String>,
    /// JSON text; some servers send the object itself.
    pub arguments: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub struct Usage {
    pub prompt_tokens: Option<u64>,
    pub prompt_tokens_details: Option<PromptTokens>,
    pub completion_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub struct PromptTokens {
    pub cached_tokens: Option<u64>,
}

/// The endpoint's own words about an error, from any of the shapes in use, else the text itself.
pub fn error_message(body: &str) -> String {
    let Ok(json) = serde_json::from_str::<Value>(body) else {
        return body.to_owned();
    };
    ["/error/message", "/message", "/detail", "/error"]
        .into_iter()
        .find_map(|path| json.pointer(path).filter(|message| !message.is_null()))
        .map_or_else(|| body.to_owned(), text)
}

/// The JSON as text: a string as it is.
pub fn text(json: &Value) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}
