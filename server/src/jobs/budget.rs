//! What a run may spend. At a cap it is paused, so that it can go on when the cap is raised.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{PoisonError, RwLock};

use chrono::{DateTime, TimeDelta, Utc};
use domain::budget::Budget;
use domain::event::Usage;

use crate::clock;
use crate::store::runs::{Run, Spent};

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
    started_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Default)]
struct Amount {
    tokens: AtomicI64,
    cost: AtomicI64,
}

impl Spending {
    pub fn new(run: &Run) -> Self {
        let spending = Self::default();
        spending.agree(run.budget.clone(), run.started_at);
        spending
    }

    /// The caps may change while the run is played.
    pub fn agree(&self, budget: Budget, started_at: Option<DateTime<Utc>>) {
        *self.terms.write().unwrap_or_else(PoisonError::into_inner) = Terms { budget, started_at };
    }

    /// One call of this process.
    pub fn add(&self, usage: Usage, cost: i64) {
        let tokens = i64::try_from(usage.prompt_tokens.saturating_add(usage.completion_tokens)).unwrap_or(i64::MAX);
        self.own.tokens.fetch_add(tokens, Ordering::Relaxed);
        self.own.cost.fetch_add(cost, Ordering::Relaxed);
    }

    /// What everybody else has spent.
    pub fn others_spent(&self, spent: &Spent) {
        self.others.tokens.store(spent.tokens, Ordering::Relaxed);
        self.others.cost.store(spent.cost, Ordering::Relaxed);
    }

    /// The cap that is reached, in words; `None` if there is none.
    pub fn used_up(&self) -> Option<&'static str> {
        let terms = self.terms.read().unwrap_or_else(PoisonError::into_inner);
        let reached = |cap: Option<i64>, field: fn(&Amount) -> &AtomicI64| {
            let spent = [&self.own, &self.others].map(|amount| field(amount).load(Ordering::Relaxed));
            cap.is_some_and(|cap| spent[0].saturating_add(spent[1]) >= cap)
        };
        let deadline = terms.budget.seconds.and_then(|seconds| Some((terms.started_at?, seconds)));
        if reached(terms.budget.tokens, |amount| &amount.tokens) {
            Some("the budget of tokens is used up")
        } else if reached(terms.budget.money_in_billionths(), |amount| &amount.cost) {
            Some("the budget of money is used up")
        } else if deadline.is_some_and(|(start, seconds)| clock::now() - start >= TimeDelta::seconds(seconds)) {
            Some("the budget of time is used up")
        } else {
            None
        }
    }
}
