//! `groundstate corpora create`.

mod filter;

use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use domain::Problem;
use domain::api::{BuildState, CorpusSummary};
use domain::corpus::{Dimension, Spec, Treatment, name_problem};
use domain::document;
use serde_json::json;
use sqlx::PgPool;
use tokio::sync::watch;
use uuid::Uuid;

use super::super::connection::ConnectionArgs;
use super::super::{INTERRUPTED, record};
use super::show;
use datasets::corpora::job::{preview, problems};
use domain::bad_input::BadInput;
use domain::job::JobKind;
use domain::progress::JobProgress;
use filter::{FilterFlags, flag_at};
use runtime::jobs::{Handlers, see_through};
use store::corpora::{self, NewCorpusRow};
use store::{clock, jobs, projects};

/// Exit code if nothing could be selected.
const FAILED: u8 = 1;

#[derive(clap::Args)]
pub struct Create {
    /// Its name: 1 to 64 lower-case letters, digits, `_`, `-` and `.`
    #[arg(required_unless_present = "dry_run")]
    name: Option<String>,
    /// File that describes the selection, as YAML or JSON; flags override it
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    #[command(flatten)]
    filter: FilterFlags,
    /// Drop near-duplicates: conversations with at least this resemblance, from 0.3 to 1
    #[arg(long, value_name = "RESEMBLANCE")]
    near: Option<f64>,
    /// Keep conversations with personal data or secrets, and count them
    #[arg(long)]
    keep_findings: bool,
    /// Take the same number of conversations of each scenario, persona or complexity
    #[arg(long, value_name = "DIMENSION", value_parser = dimension)]
    balance: Option<Dimension>,
    /// With --balance: at most this many of each, instead of as many as the smallest has
    #[arg(long, value_name = "N", requires = "balance")]
    at_most: Option<u32>,
    /// At most this many conversations
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Share of the golden part, from 0 to below 1
    #[arg(long, value_name = "SHARE")]
    golden: Option<f64>,
    /// Seed of the split
    #[arg(long)]
    seed: Option<u64>,
    /// Show what would be selected, and store nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

fn dimension(text: &str) -> Result<Dimension, String> {
    text.parse().map_err(|_| "expected scenario, persona or complexity".to_owned())
}

impl Create {
    /// What the file says, with the flags laid over it.
    ///
    /// # Errors
    /// [`BadInput`]: everything that is wrong with the file, the flags and the name.
    pub fn spec(&self) -> anyhow::Result<Spec> {
        let mut problems = Vec::new();
        let mut spec = match &self.spec {
            None => Spec::default(),
            Some(path) => {
                let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
                let (spec, located) =
                    document::located::<Spec>(&path.display().to_string(), &text).map_err(BadInput)?;
                problems.extend(spec.problems().into_iter().map(|(at, message)| located.problem(&at, message)));
                spec
            }
        };
        if problems.is_empty() {
            problems.extend(self.lay_over(&mut spec).err());
            problems.extend(spec.problems().into_iter().map(|(at, message)| Problem::new(flag(&at), 0, "", message)));
        }
        if let Some(problem) = self.name.as_deref().and_then(name_problem) {
            problems.push(Problem::new("NAME", 0, "", problem));
        }
        if problems.is_empty() { Ok(spec) } else { Err(BadInput(problems).into()) }
    }

    fn lay_over(&self, spec: &mut Spec) -> Result<(), Problem> {
        self.filter.lay_over(&mut spec.filter).map_err(|(flag, wrong)| Problem::new(flag, 0, "", wrong))?;
        spec.duplicates.near = self.near.or(spec.duplicates.near);
        if self.keep_findings {
            (spec.scan.pii, spec.scan.secrets) = (Treatment::Keep, Treatment::Keep);
        }
        if let Some(by) = self.balance {
            spec.balance = Some(domain::corpus::Balance { by, at_most: self.at_most });
        }
        spec.limit = self.limit.or(spec.limit);
        spec.split.golden = self.golden.unwrap_or(spec.split.golden);
        spec.split.seed = self.seed.unwrap_or(spec.split.seed);
        Ok(())
    }
}

/// The flag that a pointer into the selection is set by.
fn flag(at: &str) -> String {
    if let Some(flag) = at.strip_prefix("/filter").and_then(flag_at) {
        return flag;
    }
    let others = [
        ("/duplicates/near", "--near"),
        ("/balance/at_most", "--at-most"),
        ("/limit", "--limit"),
        ("/split/golden", "--golden"),
        ("/split/seed", "--seed"),
    ];
    let known = others.into_iter().find(|(own, _)| at.starts_with(own));
    known.map_or_else(|| at.to_owned(), |(_, flag)| flag.to_owned())
}

pub async fn create(pool: &PgPool, args: &Create, spec: &Spec) -> anyhow::Result<ExitCode> {
    let problems = problems(&mut *pool.acquire().await?, projects::DEFAULT, spec).await?;
    if !problems.is_empty() {
        let problems = problems.into_iter().map(|(at, message)| Problem::new(flag(&at), 0, "", message)).collect();
        return Err(BadInput(problems).into());
    }
    let Some(name) = args.name.as_deref().filter(|_| !args.dry_run) else {
        show::report(&preview(pool, projects::DEFAULT, spec, watch::channel(None).0).await?);
        return Ok(ExitCode::SUCCESS);
    };
    let (id, job) = (clock::id(), clock::id());
    let new =
        NewCorpusRow { id, job, project: projects::DEFAULT, name, spec, created_by: "", created_at: clock::now() };
    let mut tx = pool.begin().await?;
    if !corpora::insert(&mut tx, &new).await? {
        return Err(BadInput::one("NAME", format!("there is a corpus `{name}` already; choose another name")).into());
    }
    let (command, detail) = ("groundstate corpora create", json!({"name": name}));
    record(&mut tx, Some(projects::DEFAULT), command, &id.to_string(), detail).await?;
    tx.commit().await?;
    let built = build(pool, job);
    let mut built = pin!(built);
    let interrupted = tokio::select! {
        built = &mut built => { built?; false }
        signal = super::super::interrupted() => { signal?; true }
    };
    if interrupted {
        jobs::cancel(&mut *pool.acquire().await?, job).await?;
        built.await?;
        eprintln!("interrupted; the corpus is cancelled");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    show::show(pool, id).await?;
    let ready = found(pool, id).await?.is_some_and(|corpus| corpus.state == BuildState::Ready);
    Ok(if ready { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// Builds it here, or waits for a server that was faster to take it; and says how far it is.
async fn build(pool: &PgPool, job: Uuid) -> anyhow::Result<()> {
    let handlers = Handlers::default().with(JobKind::Corpus, 1, datasets::corpora::job::work);
    let (tell, told) = watch::channel(None);
    tokio::select! {
        ended = see_through(pool, job, &handlers, &tell) => { ended?; }
        () = say_how_far(told) => {}
    }
    Ok(())
}

/// Never ends by itself.
async fn say_how_far(told: watch::Receiver<Option<JobProgress>>) {
    let mut said = None;
    loop {
        tokio::time::sleep(Duration::from_secs(2)).await;
        let doing = told.borrow().clone();
        if let Some(doing) = doing.filter(|doing| said.as_ref() != Some(doing)) {
            let of = doing.total.map(|total| format!(" {} of {total}", doing.done)).unwrap_or_default();
            eprintln!("{}{of}", doing.step);
            said = Some(doing);
        }
    }
}

async fn found(pool: &PgPool, id: Uuid) -> anyhow::Result<Option<CorpusSummary>> {
    Ok(corpora::get(&mut *pool.acquire().await?, id).await?.map(|(_, corpus)| corpus.summary))
}
