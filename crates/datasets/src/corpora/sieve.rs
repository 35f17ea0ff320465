//! Applies a filter one condition after the other, so that the funnel can say what dropped each conversation.

use domain::corpus::FilterStage;
use domain::filter::{Bounds, Condition, Dimension, Filter, Row, ScoreHistogram, Test, Value};

/// Passes what the filter passes. A conversation that fails is counted for the first condition that it fails, and for no other.
pub struct Sieve {
    /// Conditions that can be checked before the events of a conversation are read.
    before_events: Vec<ConditionCount>,
    of_events: Vec<ConditionCount>,
    /// Shares whose least scores are not known yet. They need all conversations that pass everything else.
    shares: Vec<Share>,
    of_the_best: Vec<ConditionCount>,
}

struct ConditionCount {
    condition: Condition,
    dropped: u64,
}

struct Share {
    name: String,
    criterion: Option<u32>,
    best: ScoreHistogram,
}

/// Whether its value is known only after the events of a conversation are read.
const fn needs_events(dimension: Dimension) -> bool {
    matches!(dimension, Dimension::Verified | Dimension::ToolCalls | Dimension::Tool)
}

impl Sieve {
    /// `number` returns the number that a name has in rows.
    pub fn new(filter: &Filter, mut number: impl FnMut(&str) -> u32) -> Self {
        let conditions = filter.conditions(|name| Some(number(name)));
        let (of_events, before_events) = conditions
            .into_iter()
            .map(ConditionCount::new)
            .partition(|counted| needs_events(counted.condition.dimension));
        let shares = filter.top.iter().map(|top| Share {
            name: format!("top.{}", top.criterion.as_deref().unwrap_or("overall")),
            criterion: top.criterion.as_deref().map(&mut number),
            best: ScoreHistogram::of(top),
        });
        Self { before_events, of_events, shares: shares.collect(), of_the_best: Vec::new() }
    }

    /// Whether a conversation may pass, as far as is known without its events.
    pub fn passes_before_events(&mut self, row: &impl Row) -> bool {
        passes(&mut self.before_events, row)
    }

    /// Counts conversations of other runs than the filter names. They are not read, and fail the first condition.
    pub fn unread(&mut self, conversations: u64) {
        if let Some(runs) = self.before_events.first_mut() {
            runs.dropped += conversations;
        }
    }

    /// Whether a conversation that may pass does so once its events are read.
    pub fn passes_with_events(&mut self, row: &impl Row) -> bool {
        let passes = passes(&mut self.of_events, row);
        if passes {
            for share in &mut self.shares {
                if let Value::Number(score) = row.value(Dimension::Score, share.criterion) {
                    share.best.count(score.try_into().unwrap_or(u8::MAX));
                }
            }
        }
        passes
    }

    /// Decides which are the best, once all conversations have passed or failed. Returns the least score of each share, in order.
    pub fn decide(&mut self) -> Vec<u8> {
        let mut scores = Vec::new();
        for Share { name, criterion, best } in self.shares.drain(..) {
            let least = best.least();
            let test = Test::Within(Bounds::at_least(least));
            self.of_the_best.push(ConditionCount::new(Condition {
                name,
                dimension: Dimension::Score,
                criterion,
                test,
            }));
            scores.push(least);
        }
        scores
    }

    /// Whether a conversation that passed everything else is among the best.
    pub fn is_among_the_best(&mut self, row: &impl Row) -> bool {
        passes(&mut self.of_the_best, row)
    }

    /// How many were left after each condition, of so many.
    pub fn stages(self, looked_at: u64) -> Vec<FilterStage> {
        let mut left = looked_at;
        let all = self.before_events.into_iter().chain(self.of_events).chain(self.of_the_best);
        let stage = |ConditionCount { condition, dropped }: ConditionCount| {
            left -= dropped;
            FilterStage { condition: condition.name, dropped, left }
        };
        all.map(stage).collect()
    }
}

impl ConditionCount {
    const fn new(condition: Condition) -> Self {
        Self { condition, dropped: 0 }
    }
}

fn passes(conditions: &mut [ConditionCount], row: &impl Row) -> bool {
    match conditions.iter_mut().find(|one| !one.condition.holds(row)) {
        Some(failed) => {
            failed.dropped += 1;
            false
        }
        None => true,
    }
}
