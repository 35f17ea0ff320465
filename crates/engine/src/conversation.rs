//! One conversation as an explicit state machine.
//!
//! It is a [`Task`](domain::task::Task): `next` says what is needed, a model's answer, a step that the program does by
//! itself, or nothing more. The caller brings it and gets an event: one step, one event. State is the fold of the events:
//! a conversation continues from its events alone, wherever it stopped.

mod agent;
mod ask;
mod judge_view;
mod outcome;
mod prefetch;
mod request;
mod service;
mod sub_agent;
mod tool;
mod turn_check;
mod user;

use std::sync::Arc;

use domain::event::{Event, EventKind, Fork, Usage};
use domain::message::Message;
use domain::outcome::{Blame, Ending, Outcome};
use domain::role::Role;
use domain::service::ServiceAnswer;
use domain::transcript::{Caller, Frame, Refusal};
use serde_json::Value;

use crate::case::Case;
use crate::conversation_state::{Phase, ReplayError, State};
use domain::chat::{ChatReply, ChatRequest};
pub use user::END;

/// The party that is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    pub role: Role,
    /// For the agent's role: the sub-agent.
    pub sub_agent: Option<String>,
    /// With the role of the judge: which one of the panel, from 0.
    pub judge: usize,
    /// With the role of the tool simulator: the service that answers in its place.
    pub service: Option<String>,
}

/// A verdict that cannot be read may be repaired once. A judge that fails again is no judge to trust.
const JUDGE_ATTEMPTS: usize = 2;

#[derive(Clone)]
pub struct Conversation {
    case: Arc<Case>,
    state: State,
}

impl Conversation {
    pub fn new(case: Arc<Case>) -> Self {
        let state = State::new(&case.initial);
        Self { case, state }
    }

    /// Continues a conversation from its committed events.
    pub fn resume<'a>(case: Arc<Case>, events: impl IntoIterator<Item = &'a Event>) -> Result<Self, ReplayError> {
        let mut conversation = Self::new(case);
        conversation.follow(events)?;
        Ok(conversation)
    }

    /// Takes up committed events that somebody else has made of it.
    pub fn follow<'a>(&mut self, events: impl IntoIterator<Item = &'a Event>) -> Result<(), ReplayError> {
        events.into_iter().try_for_each(|event| self.state.apply(event.clone()))
    }

    /// A conversation that was played, up to its end and as if it had not been judged yet: it is verified and judged
    /// again, whoever judged it before. `None` if it never came to its end.
    ///
    /// # Errors
    /// The events are of another conversation, or damaged.
    pub fn unjudged(case: Arc<Case>, events: &[Event]) -> Result<Option<Self>, ReplayError> {
        let Some(end) = events.iter().position(|event| matches!(event.kind, EventKind::Ended { .. })) else {
            return Ok(None);
        };
        Self::resume(case, &events[..=end]).map(Some)
    }

    pub fn case(&self) -> &Arc<Case> {
        &self.case
    }

    pub const fn state(&self) -> &State {
        &self.state
    }

    /// How it ended; `None` while it is played.
    pub const fn outcome(&self) -> Option<&Outcome> {
        self.state.transcript.outcome.as_ref()
    }

    /// Who is asked now, if a model is.
    pub fn asked_party(&self) -> Option<Party> {
        if self.due().is_some() || (self.state.phase == Phase::Tool && !self.asks_for_pending_call()) {
            return None;
        }
        self.who()
    }

    /// Who is asked in this phase, if somebody is.
    fn who(&self) -> Option<Party> {
        let role = self.state.phase.asks()?;
        let sub_agent = self.state.acting().caller.sub_agent().filter(|_| role == Role::Agent).map(str::to_owned);
        let judge = if role == Role::Judge { self.state.transcript.verdicts.len() } else { 0 };
        let service = if role == Role::ToolSimulator { self.pending_service().map(str::to_owned) } else { None };
        Some(Party { role, sub_agent, judge, service })
    }

    /// What a model is asked now. `None` if none is, or if the documents' own template does not render for this
    /// conversation: then `act` says what follows.
    pub fn ask(&self) -> Option<ChatRequest> {
        match &self.state.phase {
            Phase::User => Some(self.ask_user()),
            Phase::Agent => Some(self.ask_agent()),
            Phase::Tool if self.pending_service().is_some() => None,
            Phase::Tool => self.ask_pending_tool()?.ok(),
            Phase::Write { response } => Some(self.ask_state_manager(response)),
            Phase::Judge => self.ask_judge(self.state.transcript.verdicts.len()).ok(),
            _ => None,
        }
    }

    /// Takes a model's answer to the last ask.
    pub fn hear(&mut self, reply: ChatReply) -> Option<Event> {
        let reply = reply.storable();
        let kind = match self.state.phase.clone() {
            Phase::User => self.hear_user(reply),
            Phase::Agent => self.hear_agent(reply),
            Phase::Tool if self.pending_service().is_some() => self.hear_service_stand_in(&reply)?,
            Phase::Tool => self.hear_tool_simulator(&reply)?,
            Phase::Write { response } => self.hear_state_manager(&reply, &response)?,
            Phase::Judge => self.hear_judge(&reply),
            _ => return None,
        };
        self.record(kind)
    }

    /// Takes the answer of a service.
    pub(crate) fn hear_answer_of_service(&mut self, answer: &ServiceAnswer) -> Option<Event> {
        let kind = self.hear_service(answer).filter(|_| self.state.phase == Phase::Tool)?;
        self.record(kind)
    }

    /// The model answered, and what it said by then cannot be heard: it is asked again with the reason.
    pub fn refuse(&mut self, said: ChatReply, reason: &str) -> Option<Event> {
        let role = self.state.phase.asks()?;
        let said = said.storable();
        let reply = words_of(&said).chars().take(UNHEARD).collect();
        self.record(EventKind::Refused { role, reply, reason: reason.replace('\0', "\u{fffd}"), usage: said.usage })
    }

    /// The model could not answer, after all retries.
    pub fn lose(&mut self, reason: &str) -> Option<Event> {
        self.fail(Blame::Infrastructure, reason)
    }

    /// Ends it here, with somebody to blame.
    pub(crate) fn fail(&mut self, blame: Blame, reason: &str) -> Option<Event> {
        if self.state.phase == Phase::Done {
            return None;
        }
        self.record(failed(blame, &reason.replace('\0', "\u{fffd}")))
    }

    /// Does the next step that needs no model.
    pub(crate) fn do_next_step(&mut self) -> Option<Event> {
        let kind = match (self.due(), &self.state.phase) {
            (Some(due), _) => due,
            (None, Phase::Start) => EventKind::Started {
                persona: Arc::clone(&self.case.persona),
                complexity: self.case.complexity,
                world_hash: self.state.initial_hash.clone(),
            },
            (None, Phase::Tool) => self.answer_by_program()?,
            (None, Phase::Return { content }) => self.return_from_sub_agent(content)?,
            (None, Phase::Verify) => self.verify(),
            (None, Phase::Judge) => failed(Blame::Judge, &self.ask_judge(self.state.transcript.verdicts.len()).err()?),
            _ => return None,
        };
        self.record(kind)
    }

    /// What follows from the state alone, whatever is asked for otherwise: an end that was reached, or a place at which
    /// too many replies were refused.
    fn due(&self) -> Option<EventKind> {
        let limits = self.case.limits();
        let ended = |ending| Some(EventKind::Ended { ending });
        let attempts = if self.state.phase == Phase::Judge { JUDGE_ATTEMPTS } else { limits.attempts as usize };
        if self.state.transcript.refused().len() >= attempts {
            return self.give_up();
        }
        match &self.state.phase {
            Phase::Judge if self.state.transcript.verdicts.len() >= self.case.judges => Some(self.finish()),
            Phase::End { ending } => ended(ending.clone()),
            Phase::User if self.state.transcript.user_turns >= limits.user_turns => ended(Ending::TurnLimit),
            Phase::Tool if self.state.acting().steps > limits.agent_steps => self.stop_calling(),
            _ => None,
        }
    }

    fn give_up(&self) -> Option<EventKind> {
        let Refusal { reason, .. } = self.state.transcript.refused().last()?;
        match &self.state.phase {
            Phase::User => Some(failed(Blame::SimulatedUser, reason)),
            Phase::Agent => Some(failed(Blame::Agent, reason)),
            Phase::Judge => Some(failed(Blame::Judge, reason)),
            Phase::Tool | Phase::Write { .. } => self.fall_back(),
            _ => None,
        }
    }

    fn record(&mut self, kind: EventKind) -> Option<Event> {
        let event = Event { seq: self.state.transcript.next_seq, ancestry: self.ancestry(&kind), kind };
        self.state.apply(event.clone()).ok()?;
        Some(event)
    }

    /// Whoever calls without end is stopped.
    fn stop_calling(&self) -> Option<EventKind> {
        match &self.state.acting().caller {
            Caller::Agent => Some(EventKind::Ended { ending: Ending::StepLimit }),
            Caller::User => Some(failed(Blame::SimulatedUser, "the user only ever calls its tools and says nothing")),
            Caller::SubAgent { name, .. } => self.give_up_on_sub_agent(name),
        }
    }

    /// Steps of a sub-agent belong to its branch, and answers to the fan-out of the turn that made the calls.
    fn ancestry(&self, kind: &EventKind) -> Vec<Fork> {
        let acting = self.state.acting();
        match kind {
            EventKind::ToolAnswered { call_id, .. } => match self.state.transcript.agents.as_slice() {
                [.., caller, last] if last.was_started_by(call_id) => caller.call_path(),
                _ => acting.call_path(),
            },
            EventKind::ToolSimulated { .. } => acting.call_path(),
            EventKind::Delegated { .. } => acting.path.iter().copied().chain([acting.fork()]).collect(),
            EventKind::AgentSpoke { .. }
            | EventKind::Refused { role: Role::Agent | Role::ToolSimulator | Role::StateManager, .. } => {
                acting.path.clone()
            }
            _ => Vec::new(),
        }
    }

    /// What an agent sees, as trainers see it: its system prompt and then all that was said to it and by it.
    pub fn messages(&self, frame: &Frame) -> Vec<Message> {
        let mut messages = vec![Message::System { content: self.system_prompt(frame) }];
        messages.extend(frame.messages.iter().cloned());
        messages
    }

    /// `OpenAI` descriptions of the tools that an agent may call.
    pub fn functions(&self, frame: &Frame) -> Vec<Arc<Value>> {
        self.agent(frame).map(|agent| self.case.playbook.functions(agent)).unwrap_or_default()
    }
}

fn refused(role: Role, reply: &ChatReply, reason: String) -> EventKind {
    EventKind::Refused { role, reply: words_of(reply), reason, usage: reply.usage }
}

/// What was said, or the calls of one who only called.
fn words_of(reply: &ChatReply) -> String {
    if reply.content.is_empty() && !reply.tool_calls.is_empty() {
        serde_json::to_string(&reply.tool_calls).unwrap_or_default()
    } else {
        reply.content.clone()
    }
}

fn failed(blame: Blame, reason: &str) -> EventKind {
    EventKind::Finished { outcome: Outcome::Failed { blame, reason: reason.to_owned() } }
}

/// Letters of a reply without an end that are kept, and shown to whoever said it.
const UNHEARD: usize = 2000;

const NO_USAGE: Usage = Usage { prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0 };

#[cfg(test)]
mod tests;
