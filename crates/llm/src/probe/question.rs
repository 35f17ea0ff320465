//! What is asked. Every model that is worth using can answer it; what differs is how the answers come.

use std::sync::Arc;

use domain::api::probe::ProbeKind;
use domain::chat::{ChatRequest, ReplySchema};
use domain::message::{Message, ToolCall};
use domain::role::Role;
use serde_json::{Value, json};

/// Models that reason need room for it.
const MAX_TOKENS: u32 = 1024;
/// Too few for the reply that is asked for.
pub const FEW_TOKENS: u32 = 16;
/// A longer context is not filled: it would take minutes, and cost where it is not refused.
const LONGEST: u64 = 262_144;

pub const CITIES: [&str; 2] = ["Lisbon", "Oslo"];
/// What the tool said of the weather.
pub const DEGREES: &str = "23";
pub const UNICODE: &str = "Żółw, 東京, Ελλάδα 🙂";
pub const BRACES: &str = r#"if {"a": "}"} then \ or ["#;
pub const SECRET: &str = "PERIWINKLE";

/// Whether the kind is a question of its own; the others follow from the replies to those.
pub const fn is_asked(kind: ProbeKind) -> bool {
    !matches!(kind, ProbeKind::Streaming | ProbeKind::Reasoning)
}

/// The ask, or why there is none.
pub fn of(kind: ProbeKind, context_length: Option<u64>) -> Result<ChatRequest, &'static str> {
    let [city, other] = CITIES;
    Ok(match kind {
        ProbeKind::ToolCall => calling(&format!("What is the weather in {city}? Call get_weather."), weather()),
        ProbeKind::ParallelToolCalls => {
            let both = format!("What is the weather in {city} and in {other}?");
            calling(&format!("{both} Call get_weather for both cities now, in this one reply."), weather())
        }
        ProbeKind::NestedArguments => calling(
            "Order 2 of the article A-1 and 3 of the article B-7, as a gift, for Ana Sousa, who lives in Lisbon. Call \
             place_order.",
            place_order(),
        ),
        ProbeKind::UnicodeArguments => calling(&exactly(UNICODE), send_note()),
        ProbeKind::BracesInArguments => calling(&exactly(BRACES), send_note()),
        ProbeKind::ToolResult => after_a_result(),
        ProbeKind::JsonSchema => {
            let schema = Some(ReplySchema { name: "city".to_owned(), schema: city_schema() });
            ChatRequest { schema, ..asking(vec![user(&format!("Answer with JSON that names the city: {city}"))]) }
        }
        ProbeKind::StopReason => {
            let question = user("Count from 1 to 300 in digits, separated by commas.");
            ChatRequest { max_tokens: FEW_TOKENS, ..asking(vec![question]) }
        }
        ProbeKind::ContextOverflow => too_long(context_length)?,
        ProbeKind::Seed => {
            let question = user("Invent a name for a shop, and say in one sentence what it sells.");
            ChatRequest { temperature: 1.0, max_tokens: 512, ..asking(vec![question]) }
        }
        ProbeKind::TokenIds => asking(vec![user("Name three colours of the rainbow.")]),
        ProbeKind::Reply | ProbeKind::Streaming | ProbeKind::Reasoning => {
            asking(vec![system("You answer in few words."), user("Count from 1 to 12 in digits, separated by commas.")])
        }
    })
}

fn asking(messages: Vec<Message>) -> ChatRequest {
    let (tools, schema) = (Vec::new(), None);
    ChatRequest { role: Role::Agent.into(), messages, tools, schema, temperature: 0.0, max_tokens: MAX_TOKENS, seed: 1 }
}

fn calling(question: &str, tool: Value) -> ChatRequest {
    ChatRequest { tools: vec![Arc::new(tool)], ..asking(vec![user(question)]) }
}

fn exactly(text: &str) -> String {
    format!("Call send_note with exactly the text between the two arrows, without the arrows: →{text}←")
}

/// A conversation in which a tool was called before.
fn after_a_result() -> ChatRequest {
    let city = CITIES[0];
    let call = ToolCall::new("call_1".into(), "get_weather".into(), json!({ "city": city }).to_string());
    let called = Message::Assistant { content: String::new(), reasoning_content: None, tool_calls: vec![call] };
    let degrees: u32 = DEGREES.parse().unwrap_or_default();
    let result = json!({"city": city, "temperature_celsius": degrees}).to_string();
    let result = Message::Tool { tool_call_id: "call_1".into(), content: result };
    let question = user(&format!("How many degrees is it in {city}? Call get_weather, then answer with the number."));
    let messages = vec![system("You help people with the weather."), question, called, result];
    ChatRequest { tools: vec![Arc::new(weather())], ..asking(messages) }
}

fn too_long(context_length: Option<u64>) -> Result<ChatRequest, &'static str> {
    let unknown = "the endpoint does not say how long its context is; give it with `--context-length` to test it";
    let length = context_length.ok_or(unknown)?;
    if length > LONGEST {
        return Err("its context is so long that filling it would take minutes");
    }
    let words = usize::try_from(length + length / 4).unwrap_or(usize::MAX);
    // No tokenizer makes one token of two words.
    let filler = "hello ".repeat(words);
    let question = format!("The code word is {SECRET}. {filler} What is the code word?");
    Ok(ChatRequest { max_tokens: FEW_TOKENS, ..asking(vec![user(&question)]) })
}

fn user(text: &str) -> Message {
    Message::User { content: text.to_owned() }
}

fn system(text: &str) -> Message {
    Message::System { content: text.to_owned() }
}

fn tool(name: &str, description: &str, parameters: &Value) -> Value {
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

fn city_schema() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        "additionalProperties": false})
}

fn weather() -> Value {
    tool("get_weather", "Returns today's weather of a city.", &city_schema())
}

fn send_note() -> Value {
    let parameters = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    tool("send_note", "Sends a note, letter for letter.", &parameters)
}

fn place_order() -> Value {
    let customer = json!({"type": "object", "required": ["name", "city"],
        "properties": {"name": {"type": "string"}, "city": {"type": "string"}}});
    let item = json!({"type": "object", "required": ["article", "quantity"],
        "properties": {"article": {"type": "string"}, "quantity": {"type": "integer"}}});
    let parameters = json!({"type": "object", "required": ["customer", "items", "gift"], "properties": {
        "customer": customer, "items": {"type": "array", "items": item}, "gift": {"type": "boolean"}}});
    tool("place_order", "Orders articles for a customer.", &parameters)
}
