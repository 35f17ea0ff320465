//! The filter, one condition after the other, so that its funnel can say what dropped each conversation.

use domain::corpus::{Condition, Conditions, FilterStage};
use domain::filter::{Facts, Tops};

/// Lets pass what the filter does. What does not pass is counted for the first condition that it fails, and for no other.
pub struct Sieve {
    known: Vec<Counted>,
    told: Vec<Counted>,
    /// Whose least scores are not decided: that takes all that pass everything else.
    tops: Vec<(String, Tops)>,
    best: Vec<Counted>,
}

struct Counted {
    condition: String,
    holds: Test,
    dropped: u64,
}

type Test = Box<dyn Fn(&Facts<'_>) -> bool + Send + Sync>;

impl Sieve {
    /// `number` gives names the numbers that they have in the facts.
    pub fn new(conditions: Conditions, mut number: impl FnMut(&str) -> u32) -> Self {
        let mut counted = |Condition { name, filter }: Condition| {
            let matcher = filter.compile(|name| Some(number(name)));
            Counted::new(name, Box::new(move |facts| matcher.matches(facts)))
        };
        let known = conditions.known.into_iter().map(&mut counted).collect();
        let told = conditions.told.into_iter().map(&mut counted).collect();
        let tops = conditions.best.into_iter().map(|one| (one.name, one.filter.tops(|name| Some(number(name)))));
        Self { known, told, tops: tops.collect(), best: Vec::new() }
    }

    /// Whether a conversation may pass by what is known without its events.
    pub fn passes_known(&mut self, facts: &Facts<'_>) -> bool {
        passes(&mut self.known, facts)
    }

    /// Conversations of runs that are not asked for: they are not read, and fail the first condition.
    pub fn unread(&mut self, conversations: u64) {
        if let Some(runs) = self.known.first_mut() {
            runs.dropped += conversations;
        }
    }

    /// Whether one that passed until here passes with what its events tell.
    pub fn passes_told(&mut self, facts: &Facts<'_>) -> bool {
        let passes = passes(&mut self.told, facts);
        if passes {
            self.tops.iter_mut().for_each(|(_, top)| top.count(facts));
        }
        passes
    }

    /// Decides which are the best, when all have passed or not. Returns the least score of each share, in their order.
    pub fn decide(&mut self) -> Vec<u8> {
        let mut scores = Vec::new();
        for (condition, top) in self.tops.drain(..) {
            let cutoffs = top.cutoffs();
            scores.extend(cutoffs.scores());
            self.best.push(Counted::new(condition, Box::new(move |facts| cutoffs.reached(facts))));
        }
        scores
    }

    /// Whether one that passed everything else is among the best.
    pub fn passes_best(&mut self, facts: &Facts<'_>) -> bool {
        passes(&mut self.best, facts)
    }

    /// How many were left after each condition, of so many.
    pub fn stages(self, looked_at: u64) -> Vec<FilterStage> {
        let mut left = looked_at;
        let all = self.known.into_iter().chain(self.told).chain(self.best);
        let stage = |Counted { condition, dropped, .. }: Counted| {
            left -= dropped;
            FilterStage { condition, dropped, left }
        };
        all.map(stage).collect()
    }
}

impl Counted {
    fn new(condition: String, holds: Test) -> Self {
        Self { condition, holds, dropped: 0 }
    }
}

fn passes(conditions: &mut [Counted], facts: &Facts<'_>) -> bool {
    match conditions.iter_mut().find(|one| !(one.holds)(facts)) {
        Some(failed) => {
            failed.dropped += 1;
            false
        }
        None => true,
    }
}
