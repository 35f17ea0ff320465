//! `groundstate export`: writes the rows of a run that was played.

use crate::say::say;
use anyhow::bail;
use std::path::PathBuf;
use std::process::ExitCode;

use super::connection::{Connection, ConnectionArgs};
use super::generate::latest_or;
use super::judge::judging;
use crate::bad_input::BadInput;
use crate::export::{Choice, Written, write_jsonl};
use crate::jobs::active;
use crate::store::judgings;

#[derive(clap::Args)]
pub struct Export {
    /// The run; default: the last one
    #[arg(long)]
    run: Option<String>,
    /// Whose verdicts count: a judging's id, or `last`; default: as the run was judged while it was played
    #[arg(long)]
    judging: Option<String>,
    /// Where the rows go, as JSONL
    #[arg(long)]
    out: PathBuf,
    /// Also the scores as people would have given them (see `groundstate calibrate`), beside the judge's own
    #[arg(long)]
    corrected: bool,
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
    if written.not_judged > 0 {
        say!("{} conversations have no verdict of this judging (groundstate judge --resume)", written.not_judged);
    }
    for (position, reason) in &written.unusable {
        say!("left out conversation {position}: {reason}");
    }
    Ok(ExitCode::SUCCESS)
}

async fn write(args: &Export, connection: &Connection) -> anyhow::Result<Written> {
    let pool = &connection.pool;
    let named = match args.judging.as_deref() {
        None | Some("last") => None,
        Some(text) => Some(judging(pool, "--judging", text).await?),
    };
    let id = match (&named, &args.run) {
        (Some(judging), None) => judging.run_id,
        _ => latest_or(pool, "--run", args.run.as_deref()).await?,
    };
    if named.as_ref().is_some_and(|judging| judging.run_id != id) {
        bail!(BadInput::one("--judging", format!("it judged another run than {id}")));
    }
    let judging = match (named, &args.judging) {
        (Some(judging), _) => Some(judging.id),
        (None, Some(_)) => judgings::latest(&mut *pool.acquire().await?, id).await?,
        (None, None) => None,
    };
    let (run, config, library) = active::load(pool, id).await?;
    let choice = Choice { judging, corrected: args.corrected, all: args.all, branches: args.branches };
    write_jsonl(pool, &run, &config, &library, &args.out, choice).await
}
