//! What a run may spend. At a cap it is paused, so that it can go on when the cap is raised.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use domain::budget::Budget;
use domain::event::Usage;
use parking_lot::RwLock;

use store::runs::{Run, RunSpending};

/// What a run has spent, as far as this process knows: its own calls at once, those of others a moment later.
#[derive(Debug, Default)]
pub struct Spending {
    terms: RwLock<Terms>,
    own: Amount,
    others: Amount,
}

#[derive(Debug, Default)]
struct Terms {
    budget: Budget,
    /// How long it had been played, and when that was.
    played: Option<(Duration, Instant)>,
}

#[derive(Debug, Default)]
struct Amount {
    tokens: AtomicI64,
    cost: AtomicI64,
}

impl Spending {
    pub fn new(run: &Run) -> Self {
        let spending = Self::default();
        spending.agree(run.budget.clone(), run.played_seconds);
        spending
    }

    /// The caps may change while the run is played. How long that is says the database's clock: those of players disagree.
    pub fn agree(&self, budget: Budget, played_seconds: Option<f64>) {
        let played = played_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok());
        let played = played.map(|played| (played, Instant::now()));
        *self.terms.write() = Terms { budget, played };
    }

    /// One call of this process.
    pub fn add(&self, usage: Usage, cost: i64) {
        let tokens = i64::try_from(usage.prompt_tokens.saturating_add(usage.completion_tokens)).unwrap_or(i64::MAX);
        self.own.tokens.fetch_add(tokens, Ordering::Relaxed);
        self.own.cost.fetch_add(cost, Ordering::Relaxed);
    }

    /// What this process had spent when it took the run up again.
    pub fn had_spent(&self, spent: &RunSpending) {
        self.own.tokens.fetch_add(spent.tokens, Ordering::Relaxed);
        self.own.cost.fetch_add(spent.cost, Ordering::Relaxed);
    }

    /// What everybody else has spent.
    pub fn others_spent(&self, spent: &RunSpending) {
        self.others.tokens.store(spent.tokens, Ordering::Relaxed);
        self.others.cost.store(spent.cost, Ordering::Relaxed);
    }

    /// The cap that is reached, in words; `None` if there is none.
    pub fn used_up(&self) -> Option<&'static str> {
        let terms = self.terms.read();
        let sum = |field: fn(&Amount) -> &AtomicI64| {
            let spent = [&self.own, &self.others].map(|amount| field(amount).load(Ordering::Relaxed));
            spent[0].saturating_add(spent[1])
        };
        let spent = RunSpending { tokens: sum(|amount| &amount.tokens), cost: sum(|amount| &amount.cost) };
        let played = terms.played.map(|(played, then)| played.saturating_add(then.elapsed()));
        let most = terms.budget.seconds.map(|seconds| Duration::from_secs(seconds.unsigned_abs()));
        let over_time = || played.zip(most).is_some_and(|(played, most)| played >= most);
        cap_reached(&terms.budget, &spent).or_else(|| over_time().then_some("the budget of time is used up"))
    }
}

/// The cap on tokens or money that is reached by what was spent, in words; `None` if there is none.
pub fn cap_reached(budget: &Budget, spent: &RunSpending) -> Option<&'static str> {
    if budget.tokens.is_some_and(|cap| spent.tokens >= cap) {
        Some("the budget of tokens is used up")
    } else if budget.money_in_billionths().is_some_and(|cap| spent.cost >= cap) {
        Some("the budget of money is used up")
    } else {
        None
    }
}
