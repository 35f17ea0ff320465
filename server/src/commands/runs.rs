//! `groundstate runs`: what runs there are, and what becomes of them.

use std::process::ExitCode;

use domain::api::RunSummary;
use serde_json::{Value, json};
use sqlx::{PgConnection, PgPool};

use super::connection::{Connection, ConnectionArgs, NewestArgs};
use super::generate::{self, run_id, summary, terms::BudgetArgs};
use crate::output::say;
use domain::bad_input::BadInput;
use generation::run;
use store::{StoreError, control, ledger, runs};

#[derive(clap::Subcommand)]
pub enum RunsCommand {
    /// List the newest runs and their progress
    List(NewestArgs),
    /// Show the progress, the cost and the failures of a run
    Show(RunName),
    /// Pause a run: calls in flight finish, and everything played so far is kept
    Pause(RunName),
    /// Resume a paused run
    Resume(RunName),
    /// Cancel a run for good; what was played is kept
    Cancel(RunName),
    /// Play the conversations again that were spoiled by something other than the agent
    Retry(RunName),
    /// Change the priority of a run
    Priority(Priority),
    /// Replace the caps at which a run pauses
    Budget(NewBudget),
    /// Check that nothing of a run that has ended was lost or doubled
    Audit(RunName),
}

#[derive(clap::Args)]
pub struct RunName {
    /// The run's id; default: the newest
    run: Option<String>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Priority {
    /// The run's id
    run: String,
    /// Of the runs of a project, those of higher priority are played first; the default is 0
    #[arg(allow_negative_numbers = true, value_name = "PRIORITY")]
    value: i32,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct NewBudget {
    /// The run's id
    run: String,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

impl RunsCommand {
    fn connection(&self) -> &ConnectionArgs {
        match self {
            Self::List(args) => &args.connection,
            Self::Show(named)
            | Self::Pause(named)
            | Self::Resume(named)
            | Self::Cancel(named)
            | Self::Retry(named)
            | Self::Audit(named) => &named.connection,
            Self::Priority(args) => &args.connection,
            Self::Budget(args) => &args.connection,
        }
    }
}

pub async fn run(command: RunsCommand) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(command.connection()).await?;
    let done = done(&connection.pool, &command).await;
    connection.close().await;
    done?;
    Ok(ExitCode::SUCCESS)
}

async fn done(pool: &PgPool, command: &RunsCommand) -> anyhow::Result<()> {
    let named = async |named: &RunName| generate::latest_or(pool, "RUN", named.run.as_deref()).await;
    let id = match command {
        RunsCommand::List(args) => return list(pool, args.limit).await,
        RunsCommand::Audit(args) => return audit(pool, named(args).await?).await,
        RunsCommand::Show(args) => return show(pool, named(args).await?).await,
        RunsCommand::Pause(args) | RunsCommand::Resume(args) | RunsCommand::Cancel(args) | RunsCommand::Retry(args) => {
            named(args).await?
        }
        RunsCommand::Priority(args) => run_id(pool, "RUN", &args.run).await?,
        RunsCommand::Budget(args) => run_id(pool, "RUN", &args.run).await?,
    };
    let mut tx = pool.begin().await?;
    let (action, detail) = match change(&mut tx, id, command).await? {
        Ok(changed) => changed,
        Err(refused) if refused.is_refusal() => return Err(BadInput::one("RUN", refused.to_string()).into()),
        Err(error) => return Err(error.into()),
    };
    let project = runs::get(&mut tx, id).await?.map(|run| run.project);
    super::record(&mut tx, project, &format!("groundstate runs {action}"), &id.to_string(), detail.clone()).await?;
    tx.commit().await?;
    if let Some(again) = detail["conversations"].as_i64() {
        say!("{again} conversations are played again");
    }
    show(pool, id).await
}

/// What was done, and more about it for the audit log.
type ChangeResult = Result<(&'static str, Value), StoreError>;

/// # Errors
/// [`BadInput`]: a budget that cannot be.
async fn change(db: &mut PgConnection, id: uuid::Uuid, command: &RunsCommand) -> anyhow::Result<ChangeResult> {
    let (action, done, detail) = match command {
        RunsCommand::Pause(_) => ("pause", control::pause(db, id, None).await, json!({})),
        RunsCommand::Resume(_) => ("resume", run::resume(db, id).await, json!({})),
        RunsCommand::Cancel(_) => ("cancel", control::cancel(db, id).await, json!({})),
        RunsCommand::Retry(_) => {
            let again = control::retry_failed(db, id).await;
            return Ok(again.map(|again| ("retry", json!({"conversations": again}))));
        }
        RunsCommand::Priority(args) => {
            ("priority", control::set_priority(db, id, args.value).await, json!({"priority": args.value}))
        }
        RunsCommand::Budget(args) => {
            let budget = args.budget.budget();
            if let Some((field, message)) = budget.problems().into_iter().next() {
                return Err(BadInput::one(format!("--budget-{field}"), message).into());
            }
            ("budget", control::set_budget(db, id, &budget).await, json!({"budget": budget}))
        }
        RunsCommand::List(_) | RunsCommand::Show(_) | RunsCommand::Audit(_) => unreachable!("they change nothing"),
    };
    Ok(done.map(|()| (action, detail)))
}

async fn list(pool: &PgPool, limit: i64) -> anyhow::Result<()> {
    let mut db = pool.acquire().await?;
    say!("run                                   state      finished   planned  accepted  priority  playbook");
    let ids = runs::list(&mut db, limit).await?;
    for s in runs::summaries(&mut db, &ids).await? {
        let state = s.state;
        say!("{} {state:>10} {:9} {:9} {:9} {:9}  {}", s.id, s.finished, s.planned, s.accepted, s.priority, s.playbook);
    }
    Ok(())
}

async fn audit(pool: &PgPool, id: uuid::Uuid) -> anyhow::Result<()> {
    let broken = ledger::broken(&mut *pool.acquire().await?, id).await?;
    for (rule, at) in &broken {
        say!("broken: {rule}; at positions {at:?}");
    }
    anyhow::ensure!(broken.is_empty(), "run {id} breaks {} rules of its ledger", broken.len());
    say!("run {id}: nothing is lost or doubled");
    Ok(())
}

async fn show(pool: &PgPool, id: uuid::Uuid) -> anyhow::Result<()> {
    let mut db = pool.acquire().await?;
    let Some(now) = runs::summaries(&mut db, &[id]).await?.pop() else { return Ok(()) };
    say!("run          {}", now.id);
    say!("state        {}{}", now.state, because(&now));
    say!("finished     {} of {}", now.finished, now.planned);
    say!("accepted     {}{}", now.accepted, rate(&now));
    say!("failures     {}", summary::by_blame(&now.failures));
    if !now.played_again.is_empty() {
        say!("played again {}", summary::by_blame(&now.played_again));
    }
    say!("priority     {}", now.priority);
    summary::spent(&now);
    Ok(())
}

fn because(run: &RunSummary) -> String {
    run.paused_because.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "a share for people to read")]
fn rate(run: &RunSummary) -> String {
    if run.finished == 0 {
        return String::new();
    }
    format!(" ({:.1} % of those that have ended)", run.accepted as f64 / run.finished as f64 * 100.0)
}
