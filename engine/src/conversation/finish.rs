//! After the last word: verification, verdict, outcome.

use domain::event::EventKind;
use domain::outcome::{Blame, Outcome};
use domain::role::Role;

use super::tool::json_reply;
use super::{Conversation, failed, refused};
use crate::chat::ChatReply;
use crate::verifier;

impl Conversation {
    pub(super) fn verify(&self) -> EventKind {
        EventKind::Verified { verification: verifier::verify(&self.case, &self.state) }
    }

    pub(super) fn hear_judge(&self, reply: &ChatReply) -> EventKind {
        match json_reply(&reply.content).and_then(|value| self.case.judge.read(&value)) {
            Ok(verdict) => EventKind::Judged { verdict, usage: reply.usage },
            Err(reason) => refused(Role::Judge, reply, reason),
        }
    }

    /// Accepted means: what a program can check holds, the judge saw the goal achieved, and the overall is good enough.
    /// All that is left to fail here is the agent's.
    pub(super) fn finish(&self) -> EventKind {
        let (Some(verification), Some(verdict)) = (&self.state.verification, &self.state.verdict) else {
            return failed(Blame::Judge, "there is no verdict");
        };
        if let Some(check) = verification.failures().next() {
            return failed(Blame::Agent, &check.detail);
        }
        let accept_from = self.case.judge.spec.accept_from;
        if !verdict.goal_achieved {
            return failed(Blame::Agent, "the judge says that the goal was not achieved");
        }
        if verdict.overall < accept_from {
            return failed(Blame::Agent, &format!("overall {} is below {accept_from}", verdict.overall));
        }
        EventKind::Finished { outcome: Outcome::Accepted }
    }
}
