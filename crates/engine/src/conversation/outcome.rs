//! After the last word: verification, verdict, outcome.

use domain::event::{Answer, EventKind};
use domain::outcome::{Blame, Ending, Outcome};
use domain::role::Role;
use domain::transcript::Call;
use domain::verdict::{Check, Rule, Verification};

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
                return self.fell_short(verification, &format!("the user lost patience and left: {}", check.detail));
            }
            return self.fell_short(verification, &check.detail);
        }
        let accept_from = self.case.judge.spec.accept_from;
        if !verdict.goal_achieved {
            return self.fell_short(verification, "the judge says that the goal was not achieved");
        }
        if verdict.overall < accept_from {
            return self.fell_short(verification, &format!("overall {} is below {accept_from}", verdict.overall));
        }
        EventKind::Finished { outcome: Outcome::Accepted }
    }

    fn fell_short(&self, verification: &Verification, reason: &str) -> EventKind {
        let (blame, reason) = self.blamed(verification, reason);
        failed(blame, &reason)
    }

    /// Who is to blame for a conversation that failed for this reason, and the reason to give. A broken rule or an unanswered call
    /// takes the blame off the agent, unless the agent also did something that neither excuses.
    pub(super) fn blamed(&self, verification: &Verification, reason: &str) -> (Blame, String) {
        let (undecided, unanswered) = (verifier::undecided(verification).next(), self.unanswered());
        match (own_fault(verification), undecided, unanswered) {
            (_, None, None) => (Blame::Agent, reason.to_owned()),
            (Some(check), _, _) => (Blame::Agent, check.detail.clone()),
            (None, Some(rule), _) => (Blame::Playbook, format!("the policy rule {rule}")),
            (None, None, Some(call)) => {
                (Blame::ToolSimulator, format!("`{}` was not answered; then {reason}", call.tool))
            }
        }
    }

    /// A call that nobody could answer.
    fn unanswered(&self) -> Option<&Call> {
        self.state.transcript.calls.iter().find(|call| call.answer == Answer::Fallback)
    }
}

/// A fault of the agent that no broken tool or rule excuses: a malformed call, a forbidden call, or ungrounded words. If those were
/// excused, an agent in training would learn to call a broken tool before it misbehaves. Anything else, such as a missing
/// change, may be missing because the tool did not answer.
fn own_fault(verification: &Verification) -> Option<&Check> {
    verification
        .failures()
        .find(|check| matches!(check.rule, Rule::ValidCalls | Rule::ForbiddenAction | Rule::Grounded))
}
