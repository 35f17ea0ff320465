//! `groundstate export`: writes the rows of a run that was played, or of a corpus, as a trainer loads them.

mod place;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use domain::export::{
    Arguments, CorpusRows, Data, ExportSpec, PairRule, Profile, Reasoning, RowReport, RunRows, Score, SourceSpec,
    Split, Toggles, ToolsAs,
};
use serde::de::DeserializeOwned;
use sqlx::PgPool;

use super::connection::{Connection, ConnectionArgs};
use super::generate::latest_conversations_or;
use super::judge::judging;
use crate::output::say;
use datasets::export::contents::{ExportFiles, Order};
use datasets::export::order;
use domain::bad_input::BadInput;
use store::{exports, judgings, projects};

#[derive(clap::Args)]
pub struct Export {
    /// The run; default: the last one
    #[arg(long, conflicts_with = "corpus")]
    run: Option<String>,
    /// The corpus, by name or id, instead of a run
    #[arg(long)]
    corpus: Option<String>,
    /// Which part of the corpus; default: train, and both where the profile has a file for each
    #[arg(long, requires = "corpus", value_parser = choice::<Split>)]
    split: Option<Split>,
    /// The judging whose verdicts count: its id, or `last`; default: the run's own judging
    #[arg(long, conflicts_with = "corpus")]
    judging: Option<String>,
    /// Where to write the rows: a file; with the profile huggingface a new folder, or an archive if it ends with .zip
    #[arg(long)]
    out: PathBuf,
    /// Format of a trainer; see docs/exports.md
    #[arg(long, default_value_t = Profile::Canonical)]
    profile: Profile,
    /// How reasoning is written: keep, inline or drop; default: by profile (see docs/exports.md)
    #[arg(long, value_parser = choice::<Reasoning>)]
    reasoning: Option<Reasoning>,
    /// How the arguments of calls are written: object or string; default: by profile
    #[arg(long, value_parser = choice::<Arguments>)]
    arguments: Option<Arguments>,
    /// How the descriptions of tools are written: array or json; default: by profile
    #[arg(long, value_parser = choice::<ToolsAs>)]
    tools: Option<ToolsAs>,
    /// The format of the data files: jsonl or parquet; default: by profile
    #[arg(long, value_parser = choice::<Data>)]
    data: Option<Data>,
    /// Preference pairs: the minimum difference of the scores, 0 to 10
    #[arg(long, default_value_t = PairRule::default().margin)]
    margin: f64,
    /// Preference pairs: the score that is compared
    #[arg(long, default_value = "overall", value_parser = choice::<Score>)]
    score: Score,
    /// Also write scores corrected by people's ratings (see `groundstate calibrate`), beside the judge's own
    #[arg(long, conflicts_with = "corpus")]
    corrected: bool,
    /// Also write conversations that were not accepted; their metadata says so
    #[arg(long, conflicts_with = "corpus")]
    all: bool,
    /// Also write what sub-agents did, as rows of their own
    #[arg(long)]
    branches: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// A choice as documents write it.
fn choice<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|error| error.to_string())
}

pub async fn run(args: Export) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(&args.connection).await?;
    let built = write(&args, &connection.pool).await;
    connection.close().await;
    let ExportFiles { report, unusable } = built?;
    for part in &report.parts {
        if let Some(pairs) = &part.pairs {
            say!("{} pairs in {}", pairs.used, args.out.display());
            say!(
                "of {} conversations, {} are the same as another one up to a turn of the agent",
                pairs.candidates,
                pairs.possible
            );
            say!("not paired: {} too close in score, {} left over", pairs.too_close, pairs.left_over);
        } else if let Some(groups) = &part.groups {
            say!("{} groups of {} conversations in {}", groups.groups, groups.samples, args.out.display());
            say!("{} dead: all samples have the same reward", groups.dead);
            say!(
                "{} conversations without a reward: something else than the agent spoiled them",
                groups.without_reward
            );
        } else if report.parts.len() > 1 {
            say!("{} rows in {}", part.written.rows, args.out.join(&part.path).display());
        } else {
            say!("{} rows in {}", part.written.rows, args.out.display());
        }
        left_out(&part.written);
    }
    for (position, reason) in &unusable {
        say!("left out conversation {position}: {reason}");
    }
    Ok(ExitCode::SUCCESS)
}

fn left_out(written: &RowReport) {
    if written.not_accepted > 0 {
        say!("{} conversations were not accepted (--all writes them too)", written.not_accepted);
    }
    if written.not_judged > 0 {
        say!("{} conversations have no verdict of this judging (groundstate judge --resume)", written.not_judged);
    }
}

async fn write(args: &Export, pool: &PgPool) -> anyhow::Result<ExportFiles> {
    let spec = spec(args, pool).await?;
    let checked = order::check(pool, &spec, None).await?.map_err(flags)?;
    let place = place::Place::check(&args.out, spec.profile)?;
    let order = Order::of(pool, &spec, &checked).await?;
    place.fill(pool, &order).await
}

async fn spec(args: &Export, pool: &PgPool) -> anyhow::Result<ExportSpec> {
    let source = match &args.corpus {
        Some(corpus) => {
            let named = exports::corpus_named(&mut *pool.acquire().await?, projects::DEFAULT, corpus).await?;
            let id = named.map_or_else(|| corpus.clone(), |id| id.to_string());
            SourceSpec::Corpus(CorpusRows { id, split: args.split, all: args.all, branches: args.branches })
        }
        None => of_run(args, pool).await?,
    };
    Ok(ExportSpec {
        source,
        profile: args.profile,
        toggles: Toggles { reasoning: args.reasoning, arguments: args.arguments, tools: args.tools, data: args.data },
        pairs: PairRule { score: args.score, margin: args.margin },
    })
}

async fn of_run(args: &Export, pool: &PgPool) -> anyhow::Result<SourceSpec> {
    let named = match args.judging.as_deref() {
        None | Some("last") => None,
        Some(text) => Some(judging(pool, "--judging", text).await?),
    };
    let id = match (&named, &args.run) {
        (Some(judging), None) => judging.run_id,
        _ => latest_conversations_or(pool, "--run", args.run.as_deref()).await?,
    };
    if named.as_ref().is_some_and(|judging| judging.run_id != id) {
        bail!(BadInput::one("--judging", format!("it judged another run than {id}")));
    }
    let judging = match (named, &args.judging) {
        (Some(judging), _) => Some(judging.id),
        (None, Some(_)) => judgings::latest(&mut *pool.acquire().await?, id).await?,
        (None, None) => None,
    };
    Ok(SourceSpec::Run(RunRows {
        id: id.to_string(),
        judging: judging.map(|id| id.to_string()),
        corrected: args.corrected,
        all: args.all,
        branches: args.branches,
    }))
}

/// What is wrong, by flags.
fn flags(wrong: order::SpecErrors) -> BadInput {
    let flag = |pointer: &str| match pointer.rsplit('/').next() {
        Some("id") => "--corpus".to_owned(),
        name => format!("--{}", name.unwrap_or_default()),
    };
    BadInput(wrong.into_iter().map(|(at, message)| domain::Problem::new(flag(&at), 0, "", message)).collect())
}
