//! After the last word: verification, verdict, outcome.

use domain::event::{Answer, EventKind};
use domain::outcome::{Blame, Ending, Outcome};
use domain::role::Role;
use domain::verdict::Rule;

use super::{Conversation, failed, refused};
use crate::verifier;
use domain::chat::ChatReply;

impl Conversation {
    pub(super) fn verify(&self) -> EventKind {
        EventKind::Verified { verification: verifier::verify(&self.case, &self.state) }
    }

    pub(super) fn hear_judge(&self, reply: &ChatReply) -> EventKind {
        match reply.json().and_then(|value| self.case.judge.read(&value)) {
            Ok(verdict) => EventKind::Judged { verdict, usage: reply.usage },
            Err(reason) => refused(Role::Judge, reply, reason),
        }
    }

    /// Accepted means: what a program can check holds, the judge saw the goal achieved, and the overall is good enough.
    /// What fails here is the agent's, unless it had to work with a tool that nobody could answer for.
    pub(super) fn finish(&self) -> EventKind {
        let transcript = &self.state.transcript;
        let (Some(verification), Some(verdict)) = (&transcript.verification, transcript.verdict()) else {
            return failed(Blame::Judge, "there is no verdict");
        };
        if let Some(check) = verification.failures().next() {
            // Everything is done, and the user still talks.
            if check.rule == Rule::Ending && transcript.ending() == Some(&Ending::TurnLimit) {
                return failed(Blame::SimulatedUser, &check.detail);
            }
            if transcript.ending() == Some(&Ending::WalkedOut) {
                return self.fell_short(&format!("the user lost patience and left: {}", check.detail));
            }
            return match check.rule {
                Rule::ValidCalls => failed(Blame::Agent, &check.detail),
                _ => self.fell_short(&check.detail),
            };
        }
        let accept_from = self.case.judge.spec.accept_from;
        if !verdict.goal_achieved {
            return self.fell_short("the judge says that the goal was not achieved");
        }
        if verdict.overall < accept_from {
            return self.fell_short(&format!("overall {} is below {accept_from}", verdict.overall));
        }
        EventKind::Finished { outcome: Outcome::Accepted }
    }

    fn fell_short(&self, reason: &str) -> EventKind {
        match self.state.transcript.calls.iter().find(|call| call.answer == Answer::Fallback) {
            Some(call) => failed(Blame::ToolSimulator, &format!("`{}` was not answered; then {reason}", call.tool)),
            None => failed(Blame::Agent, reason),
        }
    }
}
