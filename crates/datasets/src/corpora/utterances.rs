//! A conversation as a trainer would see it: what was said and called, and by whom.

use domain::message::{Message, ToolCall};
use domain::transcript::{Caller, Frame, Transcript};
use engine::world::Node;
use sha2::{Digest, Sha256};

/// The texts of a conversation, in order: conversations are compared by them. Texts of sub-agents are included. System prompts
/// are left out, because all conversations of a playbook share them; so are calls of the user's own tools, because neither
/// the agent nor a trainer sees them.
#[derive(Debug)]
pub struct Utterances(pub Vec<Utterance>);

#[derive(Debug)]
pub struct Utterance {
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

impl From<Transcript> for Utterances {
    fn from(transcript: Transcript) -> Self {
        let agents = transcript.into_agent_frames();
        let mut all: Vec<(u32, Utterance)> =
            agents.flat_map(utterances_of).filter(|(_, utterance)| !utterance.text.trim().is_empty()).collect();
        all.sort_by_key(|(seq, _)| *seq);
        Self(all.into_iter().map(|(_, utterance)| utterance).collect())
    }
}

/// The messages that an agent read and wrote, each with the number of its event.
fn utterances_of(frame: Frame) -> impl Iterator<Item = (u32, Utterance)> {
    let Frame { caller, messages, seqs, .. } = frame;
    let spoken = move |message| match message {
        Message::User { content } if caller == Caller::Agent => vec![Utterance { by: Speaker::User, text: content }],
        Message::Assistant { content, reasoning_content, tool_calls } => {
            let thought = Utterance { by: Speaker::Reasoning, text: reasoning_content.unwrap_or_default() };
            let calls = tool_calls.iter().map(|call| Utterance { by: Speaker::Call, text: called(call) });
            [thought, Utterance { by: Speaker::Agent, text: content }].into_iter().chain(calls).collect()
        }
        Message::Tool { content, .. } => vec![Utterance { by: Speaker::Tool, text: content }],
        // The task of a sub-agent is what it was called with.
        Message::User { .. } | Message::System { .. } => Vec::new(),
    };
    seqs.into_iter()
        .zip(messages)
        .flat_map(move |(seq, message)| spoken(message).into_iter().map(move |utterance| (seq, utterance)))
}

impl Utterances {
    /// Equal for conversations that say the same, whatever the white space, the ids of calls and the order of arguments.
    pub fn hash(&self, playbook: &str) -> [u8; 16] {
        let mut hasher = Sha256::new_with_prefix(playbook);
        for utterance in &self.0 {
            hasher.update([0, utterance.by.letter()]);
            for word in utterance.text.split_whitespace() {
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

#[cfg(test)]
mod tests {
    use domain::event::{Answer, Event, EventKind, Fork, Usage};

    use super::*;

    const NONE: Usage = Usage { prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0 };

    fn call(id: &str, tool: &str) -> Vec<ToolCall> {
        vec![ToolCall::new(id.into(), tool.into(), "{}".into())]
    }

    fn agent(content: &str, tool_calls: Vec<ToolCall>) -> EventKind {
        EventKind::AgentSpoke { content: content.into(), reasoning: None, tool_calls, usage: NONE, sampling: None }
    }

    fn answered(call_id: &str, tool: &str, content: &str) -> EventKind {
        EventKind::ToolAnswered {
            call_id: call_id.into(),
            tool: tool.into(),
            content: content.into(),
            answer: Answer::Succeeded,
            patch: Vec::new(),
            fault: None,
            note: None,
            usage: NONE,
        }
    }

    #[test]
    fn they_are_in_order_without_what_the_agent_never_saw() {
        let inner = vec![Fork { seq: 3, index: 0 }];
        let task = EventKind::Delegated { call_id: "call_2".into(), agent: "desk".into(), task: "Pay.".into() };
        let user = EventKind::UserSpoke { content: "It is dark.".into(), ended: false, walked_out: false, usage: NONE };
        let events = [
            (vec![], EventKind::UserActed { tool_calls: call("call_1", "lamp"), usage: NONE }),
            (vec![], answered("call_1", "lamp", "broken")),
            (vec![], user),
            (vec![], agent("", call("call_2", "desk"))),
            (inner.clone(), task),
            (inner.clone(), agent("", call("call_3", "pay"))),
            (inner.clone(), answered("call_3", "pay", "paid")),
            (inner, agent("I paid.", Vec::new())),
            (vec![], answered("call_2", "desk", "I paid.")),
            (vec![], agent("It is paid.", Vec::new())),
        ];
        let events = (0..).zip(events).map(|(seq, (ancestry, kind))| Event { seq, ancestry, kind });
        let Utterances(all) = events.collect::<Transcript>().into();
        let said: Vec<_> = all.iter().map(|utterance| (utterance.by, utterance.text.as_str())).collect();
        let expected = [
            (Speaker::User, "It is dark."),
            (Speaker::Call, "desk {}"),
            (Speaker::Call, "pay {}"),
            (Speaker::Tool, "paid"),
            (Speaker::Agent, "I paid."),
            (Speaker::Tool, "I paid."),
            (Speaker::Agent, "It is paid."),
        ];
        assert_eq!(said, expected);
    }
}
