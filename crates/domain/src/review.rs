//! What models say of a scenario that the programs found sound: six questions, voted on.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::finding::{Finding, Rule};

/// What a reviewer is asked. A yes is good, always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Question {
    Achievable,
    Consistent,
    PlausibleOutcome,
    ValidEdgeCase,
    UserKnowledge,
    PersonaFit,
}

impl Question {
    /// As the reviewer reads it.
    pub const fn asks(self) -> &'static str {
        match self {
            Self::Achievable => {
                "Can an agent that keeps to the policy reach the expected outcome with these tools and records? A refusal \
                 can be the expected outcome."
            }
            Self::Consistent => {
                "Do all amounts, dates, names and ids agree with each other: in the description, the goal, the facts, the \
                 records, the expected outcome and the script?"
            }
            Self::PlausibleOutcome => {
                "Would the backend of such a business be in the expected final state after this case, with nothing \
                 missing and nothing too much?"
            }
            Self::ValidEdgeCase => {
                "If the case is unusual (a fault, a trick, a limit, a false belief), could it happen in this business, \
                 and does the policy say what is right? An ordinary case passes."
            }
            Self::UserKnowledge => {
                "Does the user know and say only what such a customer can know, and nothing of the backend's insides?"
            }
            Self::PersonaFit => {
                "Could a person of each listed kind plausibly have this intent and act as the script does?"
            }
        }
    }

    /// What is broken if too few say yes, and where in the scenario.
    const fn breaks(self) -> (Rule, &'static str) {
        match self {
            Self::Achievable => (Rule::UnachievableGoal, "/user_goal"),
            Self::Consistent => (Rule::InconsistentFacts, "/system_facts"),
            Self::PlausibleOutcome => (Rule::ImplausibleOutcome, "/expected_outcome"),
            Self::ValidEdgeCase => (Rule::InvalidEdgeCase, "/description"),
            Self::UserKnowledge => (Rule::KnowingUser, "/user_facts"),
            Self::PersonaFit => (Rule::UnfittingPersona, "/personas"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub question: Question,
    pub passed: bool,
    /// One line; may be empty only if the answer is yes.
    pub reason: String,
}

/// One model's answers to all questions, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    pub model: String,
    pub answers: Vec<Answer>,
}

/// A model that was asked and whose vote does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abstention {
    pub model: String,
    pub reason: String,
}

/// The votes of all models on one scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// The scenario's id.
    pub scenario: String,
    pub votes: Vec<Vote>,
    pub abstentions: Vec<Abstention>,
}

impl Review {
    /// Questions to which the share of yes among the votes is below `pass_ratio`, and models that did not vote.
    pub fn findings(&self, pass_ratio: f64) -> Vec<Finding> {
        let failed = Question::VARIANTS.iter().filter_map(|question| self.failed(*question, pass_ratio));
        let missing = self.abstentions.iter().map(|abstention| {
            let message = format!("{} did not vote: {}", name(&abstention.model), abstention.reason);
            Finding::new(Rule::MissingVote, "/id", message)
        });
        failed.chain(missing).collect()
    }

    fn failed(&self, question: Question, pass_ratio: f64) -> Option<Finding> {
        let said: Vec<(&str, &Answer)> = self
            .votes
            .iter()
            .filter_map(|vote| Some((name(&vote.model), vote.answers.iter().find(|a| a.question == question)?)))
            .collect();
        let against: Vec<_> = said.iter().filter(|(_, answer)| !answer.passed).collect();
        if said.is_empty() || share(said.len() - against.len(), said.len()) >= pass_ratio {
            return None;
        }
        let reasons: Vec<String> =
            against.iter().map(|(model, answer)| format!("{model}: {}", answer.reason)).collect();
        let says = if against.len() == 1 { "says" } else { "say" };
        let message = format!("{} of {} models {says} no; {}", against.len(), said.len(), reasons.join("; "));
        let (rule, at) = question.breaks();
        Some(Finding::new(rule, at, message))
    }
}

/// A model as messages name it: without its endpoint.
fn name(model: &str) -> &str {
    model.split_once('@').map_or(model, |(name, _)| name)
}

#[expect(clippy::cast_precision_loss, reason = "there are few models")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    /// One vote for each text: `y` or `n` for each question in order.
    fn review(votes: &[&str]) -> Review {
        let vote = |(i, letters): (usize, &&str)| {
            let answers = Question::VARIANTS.iter().zip(letters.chars()).map(|(question, letter)| Answer {
                question: *question,
                passed: letter == 'y',
                reason: format!("because of {question}"),
            });
            Vote { model: format!("model{i}@http://x/v1"), answers: answers.collect() }
        };
        Review { scenario: "s".into(), votes: votes.iter().enumerate().map(vote).collect(), abstentions: Vec::new() }
    }

    fn found(review: &Review, pass_ratio: f64) -> String {
        let line = |f: &Finding| format!("{} {} {}: {}", f.rule.grade(), f.rule, f.at, f.message);
        review.findings(pass_ratio).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_question_passes_with_its_share_of_yes() {
        let review = review(&["yyyyyy", "yyyyyy", "nyyyyn"]);
        assert_snapshot!(found(&review, 0.66), @"");
        assert_snapshot!(found(&review, 2.0 / 3.0), @"");
        assert_snapshot!(found(&review, 0.67), @"
        error unachievable-goal /user_goal: 1 of 3 models says no; model2: because of achievable
        warning unfitting-persona /personas: 1 of 3 models says no; model2: because of persona_fit
        ");
    }

    #[test]
    fn each_question_has_its_rule() {
        assert_snapshot!(found(&review(&["nnnnnn"]), 0.66), @"
        error unachievable-goal /user_goal: 1 of 1 models says no; model0: because of achievable
        error inconsistent-facts /system_facts: 1 of 1 models says no; model0: because of consistent
        error implausible-outcome /expected_outcome: 1 of 1 models says no; model0: because of plausible_outcome
        warning invalid-edge-case /description: 1 of 1 models says no; model0: because of valid_edge_case
        error knowing-user /user_facts: 1 of 1 models says no; model0: because of user_knowledge
        warning unfitting-persona /personas: 1 of 1 models says no; model0: because of persona_fit
        ");
        assert_snapshot!(found(&review(&["nnnnnn"]), 0.0), @"");
    }

    #[test]
    fn who_does_not_vote_does_not_count() {
        let mut review = review(&["yyyyyy"]);
        review.abstentions.push(Abstention { model: "ada@http://x/v1".into(), reason: "not JSON".into() });
        assert_snapshot!(found(&review, 1.0), @"info missing-vote /id: ada did not vote: not JSON");
        review.votes.clear();
        assert_snapshot!(found(&review, 1.0), @"info missing-vote /id: ada did not vote: not JSON");
    }
}
