//! Rewards: what a conversation is worth to a trainer that learns from groups of samples.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::Answer;
use crate::outcome::{Blame, Ending};
use crate::role::Role;
use crate::transcript::{Caller, Refusal, Transcript};
use crate::verdict::{Check, Rule};

/// 1 if everything that the verifier checks holds, else 0. What judges say does not count: a score that a model gives can be
/// argued with, a check cannot.
///
/// `None`, and never 0, if somebody else than the agent spoiled the conversation: an agent must not be taught by the faults of
/// others. `blame`: whose failure it is; `None` if it was accepted.
pub fn reward(blame: Option<Blame>, passed: bool) -> Option<u8> {
    match blame {
        None | Some(Blame::Agent) => Some(passed.into()),
        Some(_) => None,
    }
}

/// By rule, the share of its checks that hold, from 0 to 1.
pub fn components(checks: &[Check]) -> BTreeMap<Rule, f64> {
    let mut counts: BTreeMap<Rule, (u32, u32)> = BTreeMap::new();
    for check in checks {
        let (passed, all) = counts.entry(check.rule).or_default();
        *passed += u32::from(check.passed);
        *all += 1;
    }
    counts.into_iter().map(|(rule, (passed, all))| (rule, f64::from(passed) / f64::from(all))).collect()
}

/// Faults of the agent on the way, for trainers that compute a reward of their own. Some of them fail a check of the verifier, and so
/// make the reward 0 by themselves. The others do not change it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Penalties {
    /// Calls that no tool accepts: unknown tools, or arguments that are not JSON or break the tool's schema. A single one makes the reward
    /// 0, whatever the agent does afterwards: the check `valid_calls` fails. So does one of a sub-agent, which is not counted here.
    pub malformed_calls: u32,
    /// Calls that a tool refused, without those that failed because of a planned fault. They do not change the reward.
    pub failed_calls: u32,
    /// Messages of the agent that were refused, such as empty ones. They do not change the reward, but too many in a row end the
    /// conversation with a reward of 0.
    pub refused_messages: u32,
    /// Whether a limit of turns or steps ended the conversation. The check `ending` fails then: the reward is 0, or null if everything else
    /// holds and the user only talked on until its turns were used up.
    pub truncated: bool,
}

impl Penalties {
    /// Of the agent itself, and not of sub-agents.
    pub fn of(transcript: &Transcript) -> Self {
        let own = || transcript.calls.iter().filter(|call| call.caller == Caller::Agent);
        let refused = |refusal: &&Refusal| refusal.role == Role::Agent && refusal.path.is_empty();
        Self {
            malformed_calls: count(own().filter(|call| call.answer.malformed())),
            failed_calls: count(own().filter(|call| call.answer == Answer::Failed && call.fault.is_none())),
            refused_messages: count(transcript.refusals.iter().filter(refused)),
            truncated: matches!(transcript.ending(), Some(Ending::TurnLimit | Ending::StepLimit)),
        }
    }
}

fn count(of: impl Iterator) -> u32 {
    u32::try_from(of.count()).unwrap_or(u32::MAX)
}

/// How often a scenario was solved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SolveRate {
    /// Conversations that have a reward.
    pub scored: usize,
    /// Those with a reward of 1.
    pub solved: usize,
}

impl SolveRate {
    /// Adds conversations with the same reward.
    pub fn add(&mut self, reward: Option<u8>, conversations: usize) {
        let Some(reward) = reward else { return };
        self.scored += conversations;
        self.solved += conversations * usize::from(reward);
    }

    /// From 0 to 1; `None` if no conversation has a reward.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn share(self) -> Option<f64> {
        (self.scored > 0).then(|| self.solved as f64 / self.scored as f64)
    }
}

/// The rewards of a group in figures. Samples without a reward are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GroupRewards {
    pub scored: usize,
    /// `None` if no sample has a reward.
    pub mean: Option<f64>,
    /// Standard deviation with n - 1, as trainers compute it; 0 for a single sample.
    pub deviation: Option<f64>,
}

impl GroupRewards {
    #[expect(clippy::cast_precision_loss, reason = "a group has few samples")]
    pub fn of(rewards: impl Iterator<Item = Option<u8>>) -> Self {
        let scored: Vec<f64> = rewards.flatten().map(f64::from).collect();
        if scored.is_empty() {
            return Self::default();
        }
        let mean = scored.iter().sum::<f64>() / scored.len() as f64;
        let squares: f64 = scored.iter().map(|reward| (reward - mean).powi(2)).sum();
        let deviation = (squares / (scored.len() - 1).max(1) as f64).sqrt();
        Self { scored: scored.len(), mean: Some(mean), deviation: Some(deviation) }
    }

    /// Whether nothing can be learned from comparing its samples: all have the same reward, or none has one.
    pub fn is_dead(&self) -> bool {
        self.deviation.is_none_or(|deviation| deviation == 0.0)
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    #[test]
    fn only_what_the_agent_did_is_rewarded() {
        assert_eq!(reward(None, true), Some(1));
        assert_eq!(reward(Some(Blame::Agent), false), Some(0));
        assert_eq!(reward(Some(Blame::Agent), true), Some(1), "a judge did not like it, and every check holds");
        for blame in Blame::VARIANTS.iter().filter(|blame| **blame != Blame::Agent) {
            assert_eq!((reward(Some(*blame), false), reward(Some(*blame), true)), (None, None), "{blame}");
        }
    }

    #[test]
    fn components_are_shares_by_rule() {
        let check = |rule, passed| Check { rule, passed, detail: String::new() };
        let checks = [check(Rule::FactTold, true), check(Rule::FactTold, false), check(Rule::Ending, true)];
        assert_eq!(components(&checks), BTreeMap::from([(Rule::FactTold, 0.5), (Rule::Ending, 1.0)]));
        assert!(components(&[]).is_empty());
    }

    #[test]
    fn a_group_counts_only_samples_with_a_reward() {
        let of = |rewards: &[Option<u8>]| GroupRewards::of(rewards.iter().copied());
        let group = of(&[Some(1), None, Some(0), Some(1), Some(0)]);
        assert_eq!((group.scored, group.mean, group.is_dead()), (4, Some(0.5), false));
        // As numpy's std with ddof = 1.
        assert!((group.deviation.unwrap() - 0.577_350_269_189_625_8).abs() < 1e-15);
        assert!(of(&[Some(1), Some(1), None]).is_dead());
        assert!(of(&[Some(1)]).is_dead());
        assert_eq!(of(&[None, None]), GroupRewards::default());
        assert!(of(&[None]).is_dead());
    }
}
