//! `groundstate jobs`: what is made in the background, and an end to it.

use std::process::ExitCode;

use domain::bad_input::BadInput;
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use super::connection::{Connection, ConnectionArgs, NewestArgs};
use crate::output::say;
use store::{jobs, projects};

#[derive(clap::Subcommand)]
pub enum JobsCommand {
    /// List the newest jobs and their progress
    List(NewestArgs),
    /// Cancel a job
    Cancel(Cancel),
}

#[derive(clap::Args)]
pub struct Cancel {
    /// The job's id
    job: Uuid,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(command: JobsCommand) -> anyhow::Result<ExitCode> {
    let connection = match &command {
        JobsCommand::List(args) => &args.connection,
        JobsCommand::Cancel(args) => &args.connection,
    };
    let connection = Connection::open(connection).await?;
    let done = match &command {
        JobsCommand::List(args) => list(&connection.pool, args.limit).await,
        JobsCommand::Cancel(args) => cancel(&connection.pool, args.job).await,
    };
    connection.close().await;
    done.map(|()| ExitCode::SUCCESS)
}

async fn list(pool: &PgPool, limit: i64) -> anyhow::Result<()> {
    say!("job                                   kind       state      what is done");
    for job in jobs::newest(&mut *pool.acquire().await?, limit).await? {
        let (kind, state) = (job.kind.into_str(), job.state.into_str());
        let doing = job.doing.map(|doing| {
            let of = doing.total.map(|total| format!(" {} of {total}", doing.done)).unwrap_or_default();
            format!("{}{of}", doing.step)
        });
        let what = job.reason.or(doing).unwrap_or_default();
        say!("{}  {kind:<10} {state:<10} {what}", job.id);
    }
    Ok(())
}

async fn cancel(pool: &PgPool, id: Uuid) -> anyhow::Result<()> {
    let mut tx = pool.begin().await?;
    if !jobs::cancel(&mut tx, id).await? {
        let message = match jobs::get(&mut tx, id).await? {
            Some(job) => format!("the job is {} already", job.state),
            None => format!("there is no job {id}; see: groundstate jobs list"),
        };
        return Err(BadInput::one("JOB", message).into());
    }
    let project = projects::of_job(&mut tx, id).await?;
    super::record(&mut tx, project, "groundstate jobs cancel", &id.to_string(), json!({})).await?;
    tx.commit().await?;
    say!("the job {id} is cancelled");
    Ok(())
}
