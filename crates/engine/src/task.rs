//! A conversation as a task: it waits for one answer at a time.

use domain::chat::ChatRequest;
use domain::event::Event;
use domain::message::ToolCall;
use domain::outcome::Blame;
use domain::task::{Next, Request, Resolution, Task};

use crate::conversation::{Conversation, Who};
use crate::conversation_state::Phase;
use crate::scripted;

impl Task for Conversation {
    type Event = Event;
    type To = Who;
    type Requests = [Request<Who>; 1];

    fn next(&self) -> Next<Self::Requests> {
        match &self.state().phase {
            Phase::Done => Next::Done,
            Phase::Start | Phase::Return { .. } | Phase::End { .. } | Phase::Verify => Next::Act,
            _ => self.asked().map_or(Next::Act, |who| Next::Wait([self.request(who)])),
        }
    }

    fn act(&mut self) -> Option<Event> {
        self.do_next_step()
    }

    fn prompt(&self, _request: &Request<Who>) -> Option<ChatRequest> {
        self.ask()
    }

    fn resolve(&mut self, _request: &Request<Who>, resolution: Resolution) -> Option<Event> {
        match resolution {
            Resolution::Reply(reply) => self.hear(reply),
            Resolution::Unusable { reply, reason } => self.refuse(reply, &reason),
            Resolution::Lost { reason } => self.lose(&reason),
            Resolution::Message(message) => self.hear(serde_json::from_value(message).unwrap_or_default()),
        }
    }

    fn give_up(&mut self, blame: Blame, reason: &str) -> Vec<Event> {
        let started = if self.state().phase == Phase::Start { self.do_next_step() } else { None };
        started.into_iter().chain(self.fail(blame, reason)).collect()
    }

    /// `scripted`.
    fn stand_in(&self, request: &Request<Who>) -> Resolution {
        match scripted::reply(request.to.role, self) {
            Ok(reply) => Resolution::Reply(reply),
            Err(reason) => Resolution::Lost { reason },
        }
    }

    fn prefetch(&self) -> Vec<(Request<Who>, ChatRequest)> {
        self.requests_ahead()
    }

    fn listens_to(&self, _request: &Request<Who>) -> bool {
        self.may_call_simulated_reads()
    }

    fn prefetch_after(&self, _request: &Request<Who>, calls: &[ToolCall]) -> Vec<(Request<Who>, ChatRequest)> {
        self.requests_after(calls)
    }

    fn sticky(&self) -> u64 {
        self.case().seed.sticky()
    }
}
