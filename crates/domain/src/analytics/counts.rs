//! Conversations, counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::correlation::{Correlations, PairCounts};
use super::distribution::{Distribution, Moments};
use super::interval::{Rate, wilson};

/// The most groups that are told of one kind.
const MOST_GROUPS: usize = 200;

/// Counts of a set of conversations. Sets are added by adding counts.
///
/// Scores, lengths and groups are of conversations that count as data: accepted, or failed by the agent. What somebody
/// else spoiled stands in the outcomes alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// `accepted`, who is to blame, or `unfinished`.
    pub outcomes: BTreeMap<String, u64>,
    /// `overall`, and the criteria.
    pub scores: BTreeMap<String, [u64; 11]>,
    /// By two of them, the lesser name first.
    pub pairs: BTreeMap<(String, String), PairCounts>,
    /// `turns` and `tool_calls`.
    pub lengths: BTreeMap<String, BTreeMap<u32, u64>>,
    /// `goal_achieved` and `verified`: true of how many, and known of how many.
    pub flags: BTreeMap<String, (u64, u64)>,
    /// Kind of group (`persona`, `complexity`, ...) -> group.
    pub groups: BTreeMap<String, BTreeMap<String, Outcomes>>,
}

/// How conversations of one group ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcomes {
    pub accepted: u64,
    pub failed: u64,
    /// Sum of the overall scores, and how many have one.
    pub overall: u64,
    pub judged: u64,
}

/// What is told of a set of conversations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Analytics {
    /// All conversations that have begun.
    pub conversations: u64,
    /// What ended how: `accepted`, who is to blame, or `unfinished`.
    pub outcomes: Vec<OutcomeCount>,
    /// Accepted, of those that count as data: accepted, or failed by the agent. All below is of those alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Rate>,
    /// `goal_achieved` and `verified`.
    pub rates: BTreeMap<String, Rate>,
    /// `overall`, and the criteria.
    pub scores: BTreeMap<String, Distribution>,
    /// `turns` and `tool_calls`.
    pub lengths: BTreeMap<String, Distribution>,
    pub correlations: Correlations,
    /// By `persona`, `complexity`, `scenario`, `turns` and `tool`.
    pub groups: BTreeMap<String, LargestGroups>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OutcomeCount {
    pub outcome: String,
    pub count: u64,
    /// Of all that have begun.
    pub share: f64,
}

/// Groups of one kind, the largest first, at most 200 of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LargestGroups {
    pub groups: Vec<Group>,
    /// How many there are in all.
    pub distinct: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Group {
    pub value: String,
    pub accepted: Rate,
    /// Mean overall score; absent if none was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall: Option<f64>,
}

impl Counts {
    /// Adds another set.
    pub fn add(&mut self, other: Self) {
        for (outcome, count) in other.outcomes {
            *self.outcomes.entry(outcome).or_default() += count;
        }
        for (score, counts) in other.scores {
            let own = self.scores.entry(score).or_default();
            own.iter_mut().zip(counts).for_each(|(own, count)| *own += count);
        }
        for (pair, counts) in other.pairs {
            let own = self.pairs.entry(pair).or_default();
            own.iter_mut().flatten().zip(counts.iter().flatten()).for_each(|(own, count)| *own += count);
        }
        for (length, counts) in other.lengths {
            let own = self.lengths.entry(length).or_default();
            for (value, count) in counts {
                *own.entry(value).or_default() += count;
            }
        }
        for (flag, (yes, of)) in other.flags {
            let own = self.flags.entry(flag).or_default();
            *own = (own.0 + yes, own.1 + of);
        }
        for (kind, groups) in other.groups {
            let own = self.groups.entry(kind).or_default();
            for (value, outcomes) in groups {
                own.entry(value).or_default().add(outcomes);
            }
        }
    }

    /// What two scores say together; of one with itself, its own counts.
    pub fn pair(&self, one: &str, other: &str) -> PairCounts {
        let of = |a: &str, b: &str| self.pairs.get(&(a.to_owned(), b.to_owned())).copied();
        match one.cmp(other) {
            std::cmp::Ordering::Less => of(one, other).unwrap_or_default(),
            std::cmp::Ordering::Greater => transposed(&of(other, one).unwrap_or_default()),
            std::cmp::Ordering::Equal => {
                let own = self.scores.get(one).copied().unwrap_or_default();
                std::array::from_fn(|a| std::array::from_fn(|b| if a == b { own[a] } else { 0 }))
            }
        }
    }

    /// Accepted, of those that count as data.
    pub fn accepted(&self) -> Option<Rate> {
        let of = |outcome: &str| self.outcomes.get(outcome).copied().unwrap_or_default();
        wilson(of("accepted"), of("accepted") + of("agent"))
    }

    /// `goal_achieved` and `verified`.
    pub fn rates(&self) -> BTreeMap<String, Rate> {
        self.flags.iter().filter_map(|(flag, (yes, of))| Some((flag.clone(), wilson(*yes, *of)?))).collect()
    }

    /// What means are compared by: of scores, and of `turns` and `tool_calls`.
    pub fn moments(&self) -> BTreeMap<String, Moments> {
        let scores = self.scores.iter().map(|(name, counts)| (name, Moments::of(numbered(counts))));
        let lengths = self
            .lengths
            .iter()
            .map(|(name, counts)| (name, Moments::of(counts.iter().map(|(value, count)| (*value, *count)))));
        scores.chain(lengths).filter_map(|(name, moments)| Some((name.clone(), moments?))).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn report(&self) -> Analytics {
        let conversations: u64 = self.outcomes.values().sum();
        let share = |count: u64| count as f64 / conversations.max(1) as f64;
        let outcome = |(outcome, count): (&String, &u64)| OutcomeCount {
            outcome: outcome.clone(),
            count: *count,
            share: share(*count),
        };
        let scores =
            self.scores.iter().filter_map(|(name, counts)| Some((name.clone(), Distribution::of(numbered(counts))?)));
        let lengths = self.lengths.iter().filter_map(|(name, counts)| {
            Some((name.clone(), Distribution::of(counts.iter().map(|(value, count)| (*value, *count)))?))
        });
        Analytics {
            conversations,
            outcomes: self.outcomes.iter().map(outcome).collect(),
            accepted: self.accepted(),
            rates: self.rates(),
            scores: scores.collect(),
            lengths: lengths.collect(),
            correlations: Correlations::of(self.scores.keys().cloned().collect(), |one, other| self.pair(one, other)),
            groups: self.groups.iter().map(|(kind, groups)| (kind.clone(), grouped(groups))).collect(),
        }
    }
}

fn numbered(counts: &[u64; 11]) -> impl Iterator<Item = (u32, u64)> + Clone {
    (0..).zip(counts.iter().copied())
}

fn transposed(counts: &PairCounts) -> PairCounts {
    std::array::from_fn(|a| std::array::from_fn(|b| counts[b][a]))
}

fn grouped(groups: &BTreeMap<String, Outcomes>) -> LargestGroups {
    let mut told: Vec<Group> = groups.iter().filter_map(|(value, outcomes)| outcomes.group(value)).collect();
    let distinct = told.len() as u64;
    // Numbers, as of turns, in their own order; names with the most conversations first.
    let number = |group: &Group| group.value.parse::<u32>().ok();
    if told.iter().all(|group| number(group).is_some()) {
        told.sort_by_key(number);
    } else {
        told.sort_by(|a, b| b.accepted.of.cmp(&a.accepted.of).then_with(|| a.value.cmp(&b.value)));
    }
    told.truncate(MOST_GROUPS);
    LargestGroups { groups: told, distinct }
}

impl Outcomes {
    pub fn add(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.failed += other.failed;
        self.overall += other.overall;
        self.judged += other.judged;
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    fn group(self, value: &str) -> Option<Group> {
        let accepted = wilson(self.accepted, self.accepted + self.failed)?;
        let overall = (self.judged > 0).then(|| self.overall as f64 / self.judged as f64);
        Some(Group { value: value.to_owned(), accepted, overall })
    }
}
