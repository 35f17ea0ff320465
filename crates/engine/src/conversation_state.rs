//! Where a conversation stands: the fold of its events.

use domain::event::{Answer, Event, EventKind};
use domain::outcome::Ending;
use domain::role::Role;
use domain::transcript::{Caller, Frame, Transcript};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::InitialWorld;
use crate::world::World;

/// What happens next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    Start,
    User,
    /// The agent under test speaks, or the sub-agent it waits for.
    Agent,
    /// The first pending call of whoever acts is answered.
    Tool,
    /// The sub-agent has said its last word, which answers the call that started it.
    Return {
        content: String,
    },
    /// The first pending call has its response; the change it makes is not known yet.
    Write {
        response: Value,
    },
    /// An end was reached.
    End {
        ending: Ending,
    },
    Verify,
    /// A judge is asked, until each one of the panel has given its verdict.
    Judge,
    Done,
}

impl Phase {
    /// Whose answer is waited for. Whether a tool's is, depends on the tool.
    pub const fn asks(&self) -> Option<Role> {
        match self {
            Self::User => Some(Role::SimulatedUser),
            Self::Agent => Some(Role::Agent),
            Self::Tool => Some(Role::ToolSimulator),
            Self::Write { .. } => Some(Role::StateManager),
            Self::Judge => Some(Role::Judge),
            Self::Start | Self::Return { .. } | Self::End { .. } | Self::Verify | Self::Done => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What was said and done.
    pub transcript: Transcript,
    /// The last event that is neither a refusal nor the end: what is judged again begins with the events up to it.
    pub last_step: u32,
    pub phase: Phase,
    pub world: World,
    /// The version before the last change: what a stale read sees.
    pub world_before: World,
    /// Hash of the world that the conversation started from.
    pub initial_hash: String,
}

/// An event that does not belong here: the events are of another conversation, or damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} does not follow: {reason}")]
pub struct ReplayError {
    pub seq: u32,
    pub reason: String,
}

impl State {
    pub fn new(initial: &InitialWorld) -> Self {
        Self {
            transcript: Transcript::default(),
            last_step: 0,
            phase: Phase::Start,
            initial_hash: initial.hash.clone(),
            world: initial.world.clone(),
            world_before: initial.world.clone(),
        }
    }

    /// Hash of the world as it is now. Not cheap: it reads the whole world.
    pub fn world_hash(&self) -> String {
        if self.world.version() == 0 { self.initial_hash.clone() } else { self.world.hash() }
    }

    /// The agent under test.
    pub fn agent(&self) -> &Frame {
        self.transcript.agent()
    }

    /// Whoever acts: the user while its calls are answered, else the innermost agent.
    pub fn acting(&self) -> &Frame {
        self.transcript.acting()
    }

    /// # Errors
    /// An event that cannot follow; the state is then as it was.
    pub fn apply(&mut self, event: Event) -> Result<(), ReplayError> {
        let wrong = |reason: String| ReplayError { seq: event.seq, reason };
        let next = self.transcript.next_seq;
        if event.seq != next {
            return Err(wrong(format!("expected event {next}")));
        }
        let world = self.world_after(&event.kind).map_err(wrong)?;
        if let Some(phase) = self.phase_after(&event.kind) {
            self.phase = phase;
        }
        if let Some(world) = world {
            self.world_before = std::mem::replace(&mut self.world, world);
        }
        if !matches!(event.kind, EventKind::Refused { .. } | EventKind::Finished { .. }) {
            self.last_step = event.seq;
        }
        self.transcript.apply(event);
        Ok(())
    }

    /// The world that an event makes; `None`: it stays as it is.
    ///
    /// # Errors
    /// Why the event cannot follow.
    fn world_after(&self, event: &EventKind) -> Result<Option<World>, String> {
        match event {
            EventKind::Started { world_hash, .. } if *world_hash != self.initial_hash => {
                Err("it starts from another world".to_owned())
            }
            EventKind::Delegated { call_id, .. } if !waits(self.acting(), call_id) => Err(NOT_WAITING.to_owned()),
            EventKind::ToolAnswered { call_id, .. } if self.caller_of(call_id).is_none() => Err(NOT_WAITING.to_owned()),
            EventKind::ToolAnswered { patch, .. } if !patch.is_empty() => {
                self.world.apply(patch).map(Some).map_err(|e| e.to_string())
            }
            _ => Ok(None),
        }
    }

    /// Whose call is answered next if it is this one: what a sub-agent did answers the call that started it.
    fn caller_of(&self, call: &str) -> Option<&Frame> {
        let caller = match self.transcript.agents.as_slice() {
            [.., caller, last] if last.was_started_by(call) => caller,
            _ => self.acting(),
        };
        Some(caller).filter(|frame| waits(frame, call))
    }

    /// What happens after an event; `None`: what was to happen before.
    fn phase_after(&self, event: &EventKind) -> Option<Phase> {
        Some(match event {
            EventKind::Started { .. } => Phase::User,
            EventKind::UserSpoke { ended: false, .. } | EventKind::Delegated { .. } => Phase::Agent,
            EventKind::UserSpoke { walked_out: true, .. } => Phase::End { ending: Ending::WalkedOut },
            EventKind::UserSpoke { .. } => Phase::End { ending: Ending::UserEnded },
            EventKind::UserActed { .. } => Phase::Tool,
            EventKind::AgentSpoke { tool_calls, .. } if !tool_calls.is_empty() => Phase::Tool,
            EventKind::AgentSpoke { .. } if self.transcript.agents.len() == 1 => Phase::User,
            EventKind::AgentSpoke { content, .. } => Phase::Return { content: content.clone() },
            EventKind::ToolSimulated { response, .. } => Phase::Write { response: response.clone() },
            EventKind::ToolAnswered { answer: Answer::Terminal, tool, .. } => {
                Phase::End { ending: Ending::Terminal { tool: tool.clone() } }
            }
            EventKind::ToolAnswered { call_id, .. } => match self.caller_of(call_id)? {
                caller if caller.pending.len() > 1 => Phase::Tool,
                Frame { caller: Caller::User, .. } => Phase::User,
                _ => Phase::Agent,
            },
            EventKind::Refused { .. } => return None,
            EventKind::Ended { .. } => Phase::Verify,
            EventKind::Verified { .. } | EventKind::Judged { .. } => Phase::Judge,
            EventKind::Finished { .. } => Phase::Done,
        })
    }
}

const NOT_WAITING: &str = "no such call is waiting";

/// Whether a call is the one that is answered next.
fn waits(frame: &Frame, call: &str) -> bool {
    frame.pending.front().is_some_and(|pending| pending.id == call)
}
