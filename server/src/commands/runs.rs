//! `groundstate runs`: what runs there are, and what becomes of them.

use std::process::ExitCode;

use domain::api::RunSummary;
use sqlx::PgPool;

use super::connection::{Connection, ConnectionArgs, Newest};
use super::generate::{self, run_id, summary, terms::BudgetArgs};
use crate::bad_input::BadInput;
use crate::say::say;
use crate::store::{StoreError, control, ledger, runs};

#[derive(clap::Subcommand)]
pub enum RunsCommand {
    /// The newest runs, and how far they are
    List(Newest),
    /// One run: how far it is, what it spent, who failed
    Show(Named),
    /// Ask no more models; what is in flight comes to its end, and all that was played stays
    Pause(Named),
    /// Go on with a run that was paused
    Resume(Named),
    /// End a run for good; what was played stays
    Cancel(Named),
    /// Play again what somebody else than the agent spoiled
    Retry(Named),
    /// Let it be played before or after others
    Priority(Priority),
    /// Replace the caps at which it pauses
    Budget(NewBudget),
    /// Check that nothing of a run that has ended was lost or doubled
    Audit(Named),
}

#[derive(clap::Args)]
pub struct Named {
    /// The run's id; default: the newest
    run: Option<String>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Priority {
    run: String,
    /// Higher is earlier; 0 if nothing was said
    #[arg(allow_negative_numbers = true, value_name = "PRIORITY")]
    value: i32,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct NewBudget {
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
    let named = async |named: &Named| generate::latest_or(pool, "RUN", named.run.as_deref()).await;
    let mut db = pool.acquire().await?;
    let (id, changed) = match command {
        RunsCommand::List(args) => return list(pool, args.limit).await,
        RunsCommand::Audit(args) => return audit(pool, named(args).await?).await,
        RunsCommand::Show(args) => (named(args).await?, Ok(())),
        RunsCommand::Pause(args) => {
            let id = named(args).await?;
            (id, control::pause(&mut db, id, None).await)
        }
        RunsCommand::Resume(args) => {
            let id = named(args).await?;
            (id, control::resume(&mut db, id).await)
        }
        RunsCommand::Cancel(args) => {
            let id = named(args).await?;
            (id, control::cancel(&mut db, id).await)
        }
        RunsCommand::Retry(args) => {
            let id = named(args).await?;
            let again = control::retry_failed(&mut db, id).await;
            (id, again.map(|n| say!("{n} conversations are played again")))
        }
        RunsCommand::Priority(args) => {
            let id = run_id(pool, "RUN", &args.run).await?;
            (id, control::set_priority(&mut db, id, args.value).await)
        }
        RunsCommand::Budget(args) => {
            let id = run_id(pool, "RUN", &args.run).await?;
            let budget = args.budget.budget();
            if let Some((field, message)) = budget.problems().into_iter().next() {
                return Err(BadInput::one(format!("--budget-{field}"), message).into());
            }
            (id, control::set_budget(&mut db, id, &budget).await)
        }
    };
    match changed {
        Ok(()) => {}
        Err(StoreError::Refused(refused)) => return Err(BadInput::one("RUN", refused.to_string()).into()),
        Err(error) => return Err(error.into()),
    }
    drop(db);
    show(pool, id).await
}

async fn list(pool: &PgPool, limit: i64) -> anyhow::Result<()> {
    let mut db = pool.acquire().await?;
    say!("run                                   state      finished   planned  accepted  priority  playbook");
    for id in runs::list(&mut db, limit).await? {
        let Some(run) = runs::get(&mut db, id).await? else { continue };
        let s = runs::summary(&mut db, &run).await?;
        let state = s.state.as_str();
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
    say!("run {id}: nothing is lost and nothing doubled");
    Ok(())
}

async fn show(pool: &PgPool, id: uuid::Uuid) -> anyhow::Result<()> {
    let mut db = pool.acquire().await?;
    let Some(run) = runs::get(&mut db, id).await? else { return Ok(()) };
    let now = runs::summary(&mut db, &run).await?;
    say!("run          {}", now.id);
    say!("state        {}{}", now.state.as_str(), because(&now));
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
