//! How a run is played: its place among others, and what it may spend.

use domain::budget::Budget;

use generation::run::Terms;
use store::projects;

#[derive(clap::Args)]
pub struct TermsArgs {
    /// Of the runs of a project, those of higher priority are played first
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    priority: i32,
    /// Conversations of this run that are played at once, by all processes together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    max_in_flight: Option<i32>,
    #[command(flatten)]
    budget: BudgetArgs,
}

/// Caps at which a run pauses.
#[derive(clap::Args)]
#[expect(clippy::struct_field_names, reason = "they are the names of the flags")]
pub struct BudgetArgs {
    /// Pause after this many tokens, read and written by all models together
    #[arg(long, value_name = "TOKENS")]
    budget_tokens: Option<i64>,
    /// Pause after this much was spent, in the unit of the models' prices
    #[arg(long, value_name = "MONEY")]
    budget_money: Option<f64>,
    /// Pause after this many seconds of playing; pauses do not count
    #[arg(long, value_name = "SECONDS")]
    budget_seconds: Option<i64>,
}

impl BudgetArgs {
    pub fn budget(&self) -> Budget {
        Budget {
            tokens: self.budget_tokens,
            money: self.budget_money,
            conversations: None,
            seconds: self.budget_seconds,
        }
    }
}

impl TermsArgs {
    pub fn budget(&self) -> Budget {
        self.budget.budget()
    }

    pub fn terms(&self, problem: &mut impl FnMut(&str, String)) -> Terms {
        let budget = self.budget();
        for (field, message) in budget.problems() {
            problem(&format!("--budget-{field}"), message);
        }
        Terms {
            priority: self.priority,
            max_in_flight: self.max_in_flight,
            budget,
            project: projects::DEFAULT,
            ..Terms::default()
        }
    }
}
