//! The made-up task. Each answer is a number that follows from the prompt alone, so that a task has the same row whoever
//! answers and in whatever order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use anyhow::ensure;
use domain::chat::{ChatReply, ChatRequest};
use domain::message::Message;
use domain::outcome::Blame;
use domain::role::RoleId;
use domain::task::{Next, Request, RequestId, Resolution, Task};
use serde::{Deserialize, Serialize};
use store::journal::TaskFailure;

/// With so many questions, a task waits for nothing and does not end, which is a fault of its program.
pub const STUCK: u64 = u64::MAX;

/// One thing that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A question to a model, from 0. All questions are asked at once.
    Question(u64),
    /// A second question to a model about the answer to the first, asked as soon as that answer is there.
    Check(u64),
    /// An outside agent. It and the job are asked when all checks are answered.
    Agent,
    Job,
    /// The model again, when the agent and the job are done.
    Summary,
}

impl Step {
    /// Who answers it.
    pub const fn role(self) -> &'static str {
        match self {
            Self::Question(_) => "extractor",
            Self::Check(_) => "checker",
            Self::Agent => "agent",
            Self::Job => "job",
            Self::Summary => "writer",
        }
    }

    /// The highest ids are used as well: the database has signed numbers.
    const fn id(self) -> RequestId {
        RequestId(match self {
            Self::Question(index) => 2 * index,
            Self::Check(index) => 2 * index + 1,
            Self::Agent => u64::MAX,
            Self::Job => u64::MAX - 1,
            Self::Summary => u64::MAX - 2,
        })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Question(index) => write!(f, "question {index}"),
            Self::Check(index) => write!(f, "check {index}"),
            Self::Agent => f.write_str("agent"),
            Self::Job => f.write_str("job"),
            Self::Summary => f.write_str("summary"),
        }
    }
}

/// The beginning of the prompt of a step of a task.
pub fn heading(step: Step, position: i32) -> String {
    format!("{step} of task {position},")
}

/// The right answer to a prompt (FNV-1a).
pub fn number(prompt: &str) -> u64 {
    let hash = prompt.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.into()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub seq: u32,
    pub kind: EventKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    Started,
    Answered {
        step: Step,
        number: u64,
    },
    /// There is no answer, or none that can be used.
    Spoiled {
        blame: String,
        reason: String,
    },
    Finished {
        row: Option<Row>,
    },
}

/// All answers, in the order of the steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row(pub Vec<u64>);

#[derive(Debug, Clone)]
pub struct FanOutTask {
    seed: i64,
    position: i32,
    questions: u64,
    /// How many events there were.
    events: u32,
    answers: BTreeMap<Step, u64>,
    failure: Option<TaskFailure>,
    row: Option<Row>,
    finished: bool,
}

impl FanOutTask {
    pub fn resume(seed: i64, position: i32, questions: u64, past: &[Event]) -> anyhow::Result<Self> {
        let answers = BTreeMap::new();
        let mut task =
            Self { seed, position, questions, events: 0, answers, failure: None, row: None, finished: false };
        for event in past {
            ensure!(event.seq == task.events, "event {} comes after {} others", event.seq, task.events);
            task.apply(event.kind.clone());
        }
        Ok(task)
    }

    pub fn failure(&self) -> Option<&TaskFailure> {
        self.failure.as_ref()
    }

    pub fn row(&self) -> Option<&Row> {
        self.row.as_ref()
    }

    /// The last event before a failure; the last two say that it failed.
    pub fn keep_through(&self) -> Option<i32> {
        self.failure.as_ref()?;
        i32::try_from(self.events).ok()?.checked_sub(3)
    }

    fn apply(&mut self, kind: EventKind) {
        match kind {
            EventKind::Started => {}
            EventKind::Answered { step, number } => drop(self.answers.insert(step, number)),
            EventKind::Spoiled { blame, reason } => {
                self.failure = Some(TaskFailure { blame: Cow::Owned(blame), reason });
            }
            EventKind::Finished { row } => (self.row, self.finished) = (row, true),
        }
        self.events += 1;
    }

    fn record(&mut self, kind: EventKind) -> Event {
        let event = Event { seq: self.events, kind };
        self.apply(event.kind.clone());
        event
    }

    /// The steps that can be asked for now, or are being asked for.
    fn open(&self) -> Vec<Step> {
        let missing = |step: &Step| !self.answers.contains_key(step);
        let next = |index| [Step::Question(index), Step::Check(index)].into_iter().find(missing);
        let mut open: Vec<Step> = (0..self.questions).filter_map(next).collect();
        if open.is_empty() {
            open.extend([Step::Agent, Step::Job].into_iter().filter(missing));
        }
        if open.is_empty() {
            open.extend([Step::Summary].into_iter().filter(missing));
        }
        open
    }

    fn prompt_of(&self, step: Step) -> String {
        let given = |wanted: fn(&Step) -> bool| {
            self.answers.iter().filter(|(step, _)| wanted(step)).map(|(_, number)| *number).collect::<Vec<_>>()
        };
        let given = match step {
            Step::Question(_) => Vec::new(),
            Step::Check(index) => self.answers.get(&Step::Question(index)).copied().into_iter().collect(),
            Step::Agent | Step::Job => given(|step| matches!(step, Step::Check(_))),
            Step::Summary => given(|step| matches!(step, Step::Agent | Step::Job)),
        };
        format!("{} seed {}, given {given:?}", heading(step, self.position), self.seed)
    }
}

impl Task for FanOutTask {
    type Event = Event;
    type Responder = Step;
    type Requests = Vec<Request<Step>>;

    fn next(&self) -> Next<Vec<Request<Step>>> {
        if self.finished {
            return Next::Done;
        }
        if self.events == 0 || self.failure.is_some() {
            return Next::Act;
        }
        if self.questions == STUCK {
            return Next::Wait(Vec::new());
        }
        let open = self.open();
        if open.is_empty() {
            return Next::Act;
        }
        let request = |to: Step| Request { id: to.id(), role: RoleId::named(to.role()), to };
        Next::Wait(open.into_iter().map(request).collect())
    }

    fn act(&mut self) -> Option<Event> {
        if self.events == 0 {
            return Some(self.record(EventKind::Started));
        }
        let row = self.failure.is_none().then(|| Row(self.answers.values().copied().collect()));
        Some(self.record(EventKind::Finished { row }))
    }

    fn prompt(&self, request: &Request<Step>) -> Option<ChatRequest> {
        Some(ChatRequest {
            role: request.role,
            messages: vec![Message::User { content: self.prompt_of(request.to) }],
            tools: Vec::new(),
            schema: None,
            temperature: 0.0,
            max_tokens: 64,
            seed: self.seed,
        })
    }

    fn resolve(&mut self, request: &Request<Step>, resolution: Resolution) -> Option<Event> {
        let role = request.to.role();
        let number = match resolution {
            Resolution::Reply(reply) => {
                reply.content.trim().parse().map_err(|_| (role, format!("{:?} is no number", reply.content)))
            }
            Resolution::Message(message) => message.as_u64().ok_or_else(|| (role, format!("{message} is no number"))),
            Resolution::Unusable { reason, .. } => Err((role, reason)),
            Resolution::Lost { reason } => Err(("infrastructure", reason)),
        };
        Some(self.record(match number {
            Ok(number) => EventKind::Answered { step: request.to, number },
            Err((blame, reason)) => EventKind::Spoiled { blame: blame.to_owned(), reason },
        }))
    }

    fn give_up(&mut self, blame: Blame, reason: &str) -> Vec<Event> {
        let started = if self.events == 0 { Some(self.record(EventKind::Started)) } else { None };
        let spoiled = EventKind::Spoiled { blame: blame.to_string(), reason: reason.to_owned() };
        let ends = [self.record(spoiled), self.record(EventKind::Finished { row: None })];
        started.into_iter().chain(ends).collect()
    }

    fn stand_in(&self, request: &Request<Step>) -> Resolution {
        let content = number(&self.prompt_of(request.to)).to_string();
        Resolution::Reply(ChatReply { content, ..ChatReply::default() })
    }

    fn sticky(&self, _: &Request<Step>) -> Option<u64> {
        Some(u64::from(self.position.unsigned_abs()))
    }
}
