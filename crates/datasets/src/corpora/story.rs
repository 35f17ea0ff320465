//! A conversation as a trainer would see it: who said what, and which tools were called.

use std::collections::{BTreeSet, HashSet};

use domain::event::{Event, EventKind};
use domain::message::ToolCall;
use engine::world::Node;
use sha2::{Digest, Sha256};

/// What is read out of a conversation's events.
#[derive(Debug, Default)]
pub struct Story {
    /// In the order in which it was said, what sub-agents said among it. System prompts are not: conversations of one
    /// playbook share them.
    pub said: Vec<Said>,
    /// Tools that the agent and its sub-agents called.
    pub tools: BTreeSet<String>,
    pub tool_calls: u32,
    /// Whether the verifier passed it, as it was played.
    pub verified: Option<bool>,
}

#[derive(Debug)]
pub struct Said {
    pub by: Speaker,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    User,
    Agent,
    /// What the agent thought before it spoke.
    Reasoning,
    /// A call, as name and arguments in one form.
    Call,
    Tool,
}

impl Speaker {
    /// Where something was found, for people.
    pub const fn place(self) -> &'static str {
        match self {
            Self::User => "what the user said",
            Self::Agent => "what the agent said",
            Self::Reasoning => "the agent's reasoning",
            Self::Call => "the arguments of a call",
            Self::Tool => "the answer of a tool",
        }
    }

    const fn letter(self) -> u8 {
        match self {
            Self::User => b'u',
            Self::Agent => b'a',
            Self::Reasoning => b'r',
            Self::Call => b'c',
            Self::Tool => b't',
        }
    }
}

impl Story {
    pub fn of(events: impl IntoIterator<Item = Event>) -> Self {
        let mut story = Self::default();
        // What the user does with its own tools is hidden from the agent, and from whoever is trained.
        let mut own: HashSet<String> = HashSet::new();
        for event in events {
            match event.kind {
                EventKind::UserSpoke { content, .. } => story.say(Speaker::User, content),
                EventKind::UserActed { tool_calls, .. } => own.extend(tool_calls.into_iter().map(|call| call.id)),
                EventKind::AgentSpoke { content, reasoning, tool_calls, .. } => {
                    story.say(Speaker::Reasoning, reasoning.unwrap_or_default());
                    story.say(Speaker::Agent, content);
                    tool_calls.iter().for_each(|call| story.say(Speaker::Call, called(call)));
                }
                EventKind::ToolAnswered { call_id, tool, content, .. } if !own.contains(&call_id) => {
                    story.say(Speaker::Tool, content);
                    story.tools.insert(tool);
                    story.tool_calls += 1;
                }
                EventKind::Verified { verification } => story.verified = Some(verification.passed()),
                _ => {}
            }
        }
        story
    }

    fn say(&mut self, by: Speaker, text: String) {
        if !text.trim().is_empty() {
            self.said.push(Said { by, text });
        }
    }

    /// Equal for conversations that say the same, whatever the white space, the ids of calls and the order of arguments.
    pub fn hash(&self, playbook: &str) -> [u8; 16] {
        let mut hasher = Sha256::new_with_prefix(playbook);
        for said in &self.said {
            hasher.update([0, said.by.letter()]);
            for word in said.text.split_whitespace() {
                hasher.update(word);
                hasher.update(b" ");
            }
        }
        let mut half = [0; 16];
        half.copy_from_slice(&hasher.finalize()[..16]);
        half
    }
}

fn called(call: &ToolCall) -> String {
    let Ok(arguments) = call.arguments() else { return format!("{} {}", call.name(), call.function.arguments) };
    let mut text = format!("{} ", call.name());
    Node::from(&arguments).write_canonical(&mut |part| text.push_str(part));
    text
}
