//! A conversation as a task: it waits for one answer at a time.

use domain::chat::{AgentTurn, ChatReply, ChatRequest};
use domain::event::Event;
use domain::outcome::Blame;
use domain::role::Role;
use domain::task::{Attention, Heard, Next, Request, RequestBody, Resolution, Task};
use serde_json::{Value, json};

use crate::conversation::{Conversation, Party};
use crate::conversation_state::Phase;
use crate::scripted;

impl Task for Conversation {
    type Event = Event;
    type Responder = Party;
    type Requests = [Request<Party>; 1];

    fn next(&self) -> Next<Self::Requests> {
        match &self.state().phase {
            Phase::Done => Next::Done,
            Phase::Start | Phase::Return { .. } | Phase::End { .. } | Phase::Verify => Next::Act,
            _ => self.asked_party().map_or(Next::Act, |who| Next::Wait([self.request(who)])),
        }
    }

    fn act(&mut self) -> Option<Event> {
        self.do_next_step()
    }

    fn prompt(&self, _request: &Request<Party>) -> Option<ChatRequest> {
        self.ask()
    }

    fn resolve(&mut self, request: &Request<Party>, resolution: Resolution) -> Option<Event> {
        match resolution {
            Resolution::Reply(reply) => self.hear(reply),
            Resolution::Unusable { reply, reason } => self.refuse(reply, &reason),
            Resolution::Lost { reason } => self.lose(&reason),
            Resolution::Message(message) if request.to.service.is_some() => match serde_json::from_value(message) {
                Ok(answer) => self.hear_answer_of_service(&answer),
                Err(error) => self.lose(&format!("this is no answer of a service: {error}")),
            },
            Resolution::Message(message) => match serde_json::from_value(message) {
                Ok(AgentTurn::Reply(reply)) => self.hear(reply),
                Ok(AgentTurn::Unusable { reply, reason }) => self.refuse(reply, &reason),
                Ok(AgentTurn::End) => self
                    .end_by_agent()
                    .or_else(|| self.refuse(ChatReply::default(), "only the agent ends the conversation")),
                Err(error) => self.refuse(ChatReply::default(), &format!("this is no turn of an agent: {error}")),
            },
        }
    }

    fn give_up(&mut self, blame: Blame, reason: &str) -> Vec<Event> {
        let started = if self.state().phase == Phase::Start { self.do_next_step() } else { None };
        started.into_iter().chain(self.fail(blame, reason)).collect()
    }

    /// `scripted`.
    fn stand_in(&self, request: &Request<Party>) -> Resolution {
        match scripted::reply(request.to.role, self) {
            Ok(reply) => Resolution::Reply(reply),
            Err(reason) => Resolution::Lost { reason },
        }
    }

    /// A service is asked by a call. An agent outside is told where its turn stands: everything else is in the events.
    fn message(&self, request: &Request<Party>) -> Option<Value> {
        if request.to.service.is_some() {
            return serde_json::to_value(self.service_call()?).ok();
        }
        let turn = self.state().transcript.next_seq;
        (request.to.role == Role::Agent).then(|| json!({"turn": turn, "reward_if_ended": self.reward_if_ended()}))
    }

    fn prefetch(&self) -> Vec<(Request<Party>, RequestBody)> {
        bodies(self.requests_ahead())
    }

    fn listens_to(&self, _request: &Request<Party>) -> Attention {
        if self.may_call_simulated_reads() { Attention::Calls } else { Attention::None }
    }

    fn prefetch_after(&mut self, _request: &Request<Party>, heard: Heard<'_>) -> Vec<(Request<Party>, RequestBody)> {
        match heard {
            Heard::Calls(calls) => bodies(self.requests_after(calls)),
            // It is a whole reply that the next turn depends on.
            Heard::Text(_) | Heard::Whole(_) | Heard::Message(_) => Vec::new(),
        }
    }

    fn sticky(&self, _: &Request<Party>) -> Option<u64> {
        Some(self.case().seed.sticky())
    }
}

fn bodies(asked: Vec<(Request<Party>, ChatRequest)>) -> Vec<(Request<Party>, RequestBody)> {
    asked.into_iter().map(|(request, chat)| (request, RequestBody::Chat(chat))).collect()
}
