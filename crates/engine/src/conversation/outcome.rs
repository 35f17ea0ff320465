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
        match self.to_blame(verification) {
            Blame::Agent if self.unanswered().is_some() => {
                failed(Blame::Agent, own_fault(verification).map_or(reason, |check| &check.detail))
            }
            Blame::ToolSimulator => {
                let tool = self.unanswered().map(|call| call.tool.as_str()).unwrap_or_default();
                failed(Blame::ToolSimulator, &format!("`{tool}` was not answered; then {reason}"))
            }
            Blame::Playbook => {
                let rule = verifier::undecided(verification).next().unwrap_or(reason);
                failed(Blame::Playbook, &format!("the policy rule {rule}"))
            }
            blame => failed(blame, reason),
        }
    }

    /// Who is to blame for a conversation with this verification that failed: a rule that is broken itself, a tool that nobody
    /// could answer, or the agent. What the agent did wrong whatever they say is its own fault.
    pub(super) fn to_blame(&self, verification: &Verification) -> Blame {
        if own_fault(verification).is_some() {
            Blame::Agent
        } else if verifier::undecided(verification).next().is_some() {
            Blame::Playbook
        } else if self.unanswered().is_some() {
            Blame::ToolSimulator
        } else {
            Blame::Agent
        }
    }

    /// A call that nobody could answer.
    fn unanswered(&self) -> Option<&Call> {
        self.state.transcript.calls.iter().find(|call| call.answer == Answer::Fallback)
    }
}

/// What the agent did wrong whatever a tool answers: a call that no tool takes, one that is forbidden, and words from nowhere.
/// Otherwise an agent in training would learn to call a broken tool before it misbehaves. All else, such as a change that is
/// missing, may be missing because an answer was.
fn own_fault(verification: &Verification) -> Option<&Check> {
    verification
        .failures()
        .find(|check| matches!(check.rule, Rule::ValidCalls | Rule::ForbiddenAction | Rule::Grounded))
}
