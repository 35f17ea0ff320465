//! A task: one unit of work of a run, as everything sees it that plays tasks. Its state is the fold of its events.
//!
//! A task does no input and output. It says what it needs ([`Task::next`]), takes what was answered ([`Task::resolve`]),
//! and gives the events that follow, which its journal keeps. [`advance`] is the loop that plays every kind of task: the
//! runtime calls it with executors that ask models and wait, a proof with answers that are there at once.

use std::fmt::Debug;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat::{ChatReply, ChatRequest};
use crate::encoder::EncoderRequest;
use crate::message::ToolCall;
use crate::outcome::Blame;
use crate::role::RoleId;

/// Names a request within its task. The same request has the same id whenever it is asked: before its turn, after a
/// crash, in another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// What a task waits for: a model's reply, an outside agent's message, a worker's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<Responder> {
    pub id: RequestId,
    /// Who answers, as usage and metrics name it.
    pub role: RoleId,
    /// Who answers, as the kind of task names it.
    pub to: Responder,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolution {
    /// A model answered.
    Reply(ChatReply),
    /// A model answered, and its reply cannot be used. It may be asked again.
    Unusable { reply: ChatReply, reason: String },
    /// There is no answer, after all attempts.
    Lost { reason: String },
    /// Somebody outside of this process answered: an outside agent, a worker.
    Message(Value),
}

/// What became of a request to somebody outside, as it is stored with the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutsideAnswer {
    Message(Value),
    /// Nobody answers any more, and why.
    Lost(String),
}

/// The content of a prefetched request.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestBody {
    /// A prompt for a model.
    Chat(ChatRequest),
    /// A query for an index.
    Message(Value),
}

impl PartialEq<ChatRequest> for RequestBody {
    fn eq(&self, other: &ChatRequest) -> bool {
        matches!(self, Self::Chat(chat) if chat == other)
    }
}

impl PartialEq<Value> for RequestBody {
    fn eq(&self, other: &Value) -> bool {
        matches!(self, Self::Message(message) if message == other)
    }
}

/// What a task wants to hear of a reply before it is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    None,
    Calls,
    /// Also of replies to requests that are made before their turn.
    Text,
}

/// What is heard of a reply before it is taken.
#[derive(Debug, Clone, Copy)]
pub enum Heard<'a> {
    /// The first calls of a reply that still comes.
    Calls(&'a [ToolCall]),
    /// The beginning of the text of a reply that still comes.
    Text(&'a str),
    /// The whole reply to a request that was made before its turn.
    Whole(&'a ChatReply),
    /// The result of a prefetched search.
    Message(&'a Value),
}

/// What a task needs next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next<Requests> {
    /// A step of the program's own: [`Task::act`].
    Act,
    /// Answers to these requests, in any order. There is at least one.
    Wait(Requests),
    /// Nothing: it has ended.
    Done,
}

pub trait Task {
    /// One step, as the journal keeps it.
    type Event;
    /// Who answers a request: a role of a conversation, a step of a workflow.
    type Responder: Clone + Debug + PartialEq;
    /// An array where a task waits for one answer at a time, a list where it waits for many.
    type Requests: AsRef<[Request<Self::Responder>]>;

    fn next(&self) -> Next<Self::Requests>;

    /// Does the next step that needs no answer.
    fn act(&mut self) -> Option<Self::Event>;

    /// What a model is asked. `None` if the request cannot be put into words: then [`act`](Self::act) says what follows.
    fn prompt(&self, request: &Request<Self::Responder>) -> Option<ChatRequest>;

    /// Takes the answer to a request that [`next`](Self::next) named.
    fn resolve(&mut self, request: &Request<Self::Responder>, resolution: Resolution) -> Option<Self::Event>;

    /// Ends the task in whatever state it is, because it is not played any more: the events that lead there. None if it has
    /// ended.
    fn give_up(&mut self, blame: Blame, reason: &str) -> Vec<Self::Event>;

    /// What the task's own stand-in for a model answers: `scripted`, or a function of a workflow. It is pure.
    fn stand_in(&self, request: &Request<Self::Responder>) -> Resolution;

    /// Requests that nothing in between can change, so that they may be asked before their turn.
    fn prefetch(&self) -> Vec<(Request<Self::Responder>, RequestBody)> {
        Vec::new()
    }

    /// What an embedding model or a reranker is asked, where that is no prompt.
    fn encoder_request(&self, _request: &Request<Self::Responder>) -> Option<EncoderRequest> {
        None
    }

    /// What an index, or somebody outside, is asked, where that is no prompt.
    fn message(&self, _request: &Request<Self::Responder>) -> Option<Value> {
        None
    }

    /// Whether [`prefetch_after`](Self::prefetch_after) may have something to say of the reply to this request. Nobody
    /// listens to the others.
    fn listens_to(&self, _request: &Request<Self::Responder>) -> Attention {
        Attention::None
    }

    /// Requests that follow from what is heard of the reply to `request` before its turn. What is heard changes nothing
    /// that is kept.
    fn prefetch_after(
        &mut self,
        _request: &Request<Self::Responder>,
        _heard: Heard<'_>,
    ) -> Vec<(Request<Self::Responder>, RequestBody)> {
        Vec::new()
    }

    /// Requests with the same number go to the same replica of a model where they can: it has read already how they begin.
    /// `None`: one replica is as good as another.
    fn sticky(&self, request: &Request<Self::Responder>) -> Option<u64>;
}

/// Where [`advance`] stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdvanceOutcome<Requests> {
    /// No answer is there yet.
    Waiting(Requests),
    Done,
    /// The journal asked for it.
    Interrupted,
}

/// Plays a task as far as it comes without waiting: its own steps, and requests that `at_once` answers. `journal` is given
/// each event that follows.
pub fn advance<T: Task>(
    task: &mut T,
    mut at_once: impl FnMut(&T, &Request<T::Responder>) -> Option<Resolution>,
    mut journal: impl FnMut(&T, T::Event) -> ControlFlow<()>,
) -> AdvanceOutcome<T::Requests> {
    loop {
        let event = match task.next() {
            Next::Done => return AdvanceOutcome::Done,
            Next::Act => task.act(),
            Next::Wait(requests) => {
                let mut answers = requests.as_ref().iter();
                match answers.find_map(|request| Some((request, at_once(task, request)?))) {
                    Some((request, resolution)) => task.resolve(request, resolution),
                    None => return AdvanceOutcome::Waiting(requests),
                }
            }
        };
        if let Some(event) = event
            && journal(task, event).is_break()
        {
            return AdvanceOutcome::Interrupted;
        }
    }
}

/// Plays a task to its end with its own stand-ins in place of all models.
pub fn rehearse<T: Task>(task: &mut T, mut journal: impl FnMut(&T, T::Event)) {
    advance(
        task,
        |task, request| Some(task.stand_in(request)),
        |task, event| {
            journal(task, event);
            ControlFlow::Continue(())
        },
    );
}
