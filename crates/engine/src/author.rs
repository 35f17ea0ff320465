//! Documents that models draft: what a model is asked, and how its replies are read.
//!
//! Pure, like the rest of the engine: who asks, how often, and what becomes of a draft is decided elsewhere. Nothing in a
//! reply is trusted, and nothing in it is executed before it has been checked.

mod excerpt;
mod expressions;
mod reply;
pub mod scenario;
pub mod sub_agent;

use domain::message::Message;
use domain::role::Role;

use domain::chat::ChatRequest;

/// How a model is sampled.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    pub temperature: f32,
    pub max_tokens: u32,
    pub seed: i64,
}

/// An ask outside of any conversation.
pub fn ask(messages: Vec<Message>, sampling: Sampling) -> ChatRequest {
    ChatRequest {
        // An author plays no role. Endpoints write it to their log and do nothing else with it.
        role: Role::Judge.into(),
        messages,
        tools: Vec::new(),
        schema: None,
        temperature: sampling.temperature,
        max_tokens: sampling.max_tokens,
        seed: sampling.seed,
    }
}

/// The same question once more, with the last reply and what is wrong with it. Earlier replies are left out: each is
/// long, and the last one is what must be mended.
pub fn again(question: &[Message], reply: &str, reasons: &[String]) -> Vec<Message> {
    let mut messages = question.to_vec();
    if !reply.is_empty() && reply.len() <= reply::MAX_BYTES {
        let content = reply.to_owned();
        messages.push(Message::Assistant { content, reasoning_content: None, tool_calls: Vec::new() });
    }
    let list: String = reasons.iter().map(|reason| format!("- {reason}\n")).collect();
    let content = format!("That cannot be used:\n{list}Mend all of it and write the whole document again.");
    messages.push(Message::User { content });
    messages
}
