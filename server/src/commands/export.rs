//! `groundstate export`: writes the rows of a run that was played.

use crate::say::say;
use std::path::PathBuf;
use std::process::ExitCode;

use super::connection::{Connection, ConnectionArgs};
use super::generate::run_id;
use crate::bad_input::BadInput;
use crate::export::{Choice, Written, write_jsonl};
use crate::jobs::run;
use crate::store::runs;

#[derive(clap::Args)]
pub struct Export {
    /// The run; default: the last one
    #[arg(long)]
    run: Option<String>,
    /// Where the rows go, as JSONL
    #[arg(long)]
    out: PathBuf,
    /// Also conversations that were not accepted; their metadata says so
    #[arg(long)]
    all: bool,
    /// Also what sub-agents did, as rows of their own
    #[arg(long)]
    branches: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(args: Export) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(&args.connection).await?;
    let written = write(&args, &connection).await;
    connection.close().await;
    let written = written?;
    say!("{} rows in {}", written.rows, args.out.display());
    if written.not_accepted > 0 {
        say!("{} conversations were not accepted (--all writes them too)", written.not_accepted);
    }
    for (position, reason) in &written.unusable {
        say!("left out conversation {position}: {reason}");
    }
    Ok(ExitCode::SUCCESS)
}

async fn write(args: &Export, connection: &Connection) -> anyhow::Result<Written> {
    let pool = &connection.pool;
    let id = match &args.run {
        Some(text) => run_id(pool, "--run", text).await?,
        None => runs::latest(&mut *pool.acquire().await?)
            .await?
            .ok_or_else(|| BadInput::one("export", "there is no run yet"))?,
    };
    let (run, config, library) = run::load(pool, id).await?;
    let choice = Choice { all: args.all, branches: args.branches };
    write_jsonl(pool, &run, &config, &library, &args.out, choice).await
}
