//! Building corpora: in the background, one after the other, by whichever process is there.
//!
//! A corpus is built from nothing each time, and what comes of it depends on the conversations alone. So a builder keeps
//! nothing until it has all: if it dies, the next one begins again, and nobody ever sees half of a corpus.

mod gather;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use anyhow::Context;
use domain::api::{CorpusState, ManifestRow};
use domain::corpus::{Report, Spec};
use domain::filter::Whose;
use domain::progress::Doing;
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgPool};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use uuid::Uuid;

use crate::corpora::manifest::line;
use crate::corpora::select::{Candidate, Candidates, Fate, Selected, select};
use store::clock;
use store::corpora::{self, Fated};
use store::{StoreError, judgings, runs};

/// How often it is looked for corpora that are to be built.
const POLL: Duration = Duration::from_secs(1);
/// How often it is asked whether a corpus is still wanted, while its conversations are compared.
const BEAT: Duration = Duration::from_secs(1);

/// Builds whatever is to be built, until it is stopped.
pub async fn work(pool: PgPool, stop: CancellationToken) {
    while !stop.is_cancelled() {
        tokio::select! {
            done = build_all(&pool) => if let Err(e) = done {
                warn!(error = format!("{e:#}"), "corpora cannot be built now");
            },
            () = stop.cancelled() => return,
        }
        tokio::select! {
            () = tokio::time::sleep(POLL) => {}
            () = stop.cancelled() => return,
        }
    }
}

async fn build_all(pool: &PgPool) -> anyhow::Result<()> {
    for id in corpora::building(&mut *pool.acquire().await?).await? {
        build(pool, id).await?;
    }
    Ok(())
}

/// Builds a corpus, unless somebody else does. Whatever keeps it from being made is said in its row.
///
/// # Errors
/// The database went away: it is still to be built.
pub async fn build(pool: &PgPool, id: Uuid) -> anyhow::Result<()> {
    let mut holder = pool.acquire().await?;
    // What it holds is let go with the connection, however this ends.
    holder.close_on_drop();
    if !corpora::hold(&mut holder, id).await? {
        return Ok(());
    }
    let Some((project, corpus)) = corpora::get(&mut holder, id).await? else { return Ok(()) };
    if corpus.summary.state != CorpusState::Building {
        return Ok(());
    }
    info!(corpus = %id, "a corpus is built");
    match make(pool, project, id, &corpus.spec).await {
        Err(e) if e.is::<Stopped>() => info!(corpus = %id, "the corpus is not to be built any more"),
        Err(e) if is_outage(&e) => return Err(e),
        Err(e) => {
            error!(corpus = %id, error = format!("{e:#}"), "the corpus cannot be built");
            corpora::fail(&mut holder, id, &format!("{e:#}"), None, clock::now()).await?;
        }
        Ok(()) => info!(corpus = %id, "the corpus has ended"),
    }
    Ok(())
}

fn is_outage(error: &anyhow::Error) -> bool {
    match (error.downcast_ref::<StoreError>(), error.downcast_ref::<sqlx::Error>()) {
        (Some(error), _) => error.is_outage(),
        (None, Some(error)) => {
            matches!(error, sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed)
        }
        (None, None) => false,
    }
}

/// Somebody cancelled or deleted it.
#[derive(Debug, thiserror::Error)]
#[error("the corpus is not to be built any more")]
struct Stopped;

/// Says how far a selection is.
struct Teller<'a> {
    pool: &'a PgPool,
    to: To,
}

/// To whom it is said.
enum To {
    /// To whoever looks at the corpus.
    Corpus(Uuid),
    /// To whoever waits for a preview.
    Waiting(watch::Sender<Option<Doing>>),
}

impl Teller<'_> {
    /// # Errors
    /// [`Stopped`] if it is not to be built any more.
    async fn tell(&self, step: &str, done: usize, total: Option<usize>) -> anyhow::Result<()> {
        let doing = Doing::new(step, done, total);
        match &self.to {
            To::Corpus(id) => {
                let mut db = self.pool.acquire().await?;
                anyhow::ensure!(corpora::proceed(&mut db, *id, &doing).await?, Stopped);
            }
            To::Waiting(to) => {
                to.send_replace(Some(doing));
                // Who listens is in the same task, and hears of it only while this one waits.
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    /// Waits for what cannot ask by itself whether it is still wanted.
    ///
    /// # Errors
    /// [`Stopped`] as soon as it is not.
    async fn while_wanted<T>(&self, step: &str, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        self.tell(step, 0, None).await?;
        let unwanted = async {
            loop {
                tokio::time::sleep(BEAT).await;
                if let Err(stopped) = self.tell(step, 0, None).await {
                    return stopped;
                }
            }
        };
        tokio::select! {
            done = work => done,
            stopped = unwanted => Err(stopped),
        }
    }
}

async fn make(pool: &PgPool, project: Uuid, id: Uuid, spec: &Spec) -> anyhow::Result<()> {
    let teller = Teller { pool, to: To::Corpus(id) };
    let (candidates, selected, report) = selected(project, spec, &teller).await?;
    let mut db = pool.acquire().await?;
    if let Some(reason) = nothing_left(&report) {
        corpora::fail(&mut db, id, &reason, Some(&report), clock::now()).await?;
        return Ok(());
    }
    teller.tell("keep", 0, Some(candidates.all.len())).await?;
    let hash = manifest_hash(&candidates, &selected)?;
    let rows: Vec<Fated<'_>> =
        candidates.all.iter().zip(&selected.fates).map(|(candidate, fate)| fated(candidate, fate)).collect();
    anyhow::ensure!(corpora::finish(&mut db, id, &rows, &report, &hash, clock::now()).await?, Stopped);
    Ok(())
}

fn nothing_left(report: &Report) -> Option<String> {
    if report.found == 0 {
        return Some(match report.looked_at {
            0 => "no conversation of the project has ended yet; play a run first".to_owned(),
            n => format!("the filter finds none of the {n} conversations that have ended; loosen it"),
        });
    }
    let kept = report.split.train.conversations + report.split.golden.conversations;
    (kept == 0).then(|| "every conversation that the filter finds is dropped; the report says by which step".to_owned())
}

/// What would be selected; nothing is kept. How far it is, is said to `tell`. Dropped, it ends at whatever it is.
pub async fn preview(
    pool: &PgPool,
    project: Uuid,
    spec: &Spec,
    tell: watch::Sender<Option<Doing>>,
) -> anyhow::Result<Report> {
    let (_, _, report) = selected(project, spec, &Teller { pool, to: To::Waiting(tell) }).await?;
    Ok(report)
}

async fn selected(project: Uuid, spec: &Spec, teller: &Teller<'_>) -> anyhow::Result<(Candidates, Selected, Report)> {
    let gathered = gather::gather(project, spec, teller).await?;
    let (mut candidates, own) = (gathered.candidates, spec.clone());
    let stop = CancellationToken::new();
    candidates.shingles.until(stop.clone());
    let _stopped_with_this = stop.drop_guard();
    let comparing = tokio::task::spawn_blocking(move || {
        let selected = select(&own, &candidates);
        selected.map(|selected| (candidates, selected))
    });
    let compared = async { comparing.await?.context("cannot compare conversations") };
    let (candidates, selected) = teller.while_wanted("select", compared).await?;
    let report = Report {
        looked_at: gathered.looked_at,
        found: candidates.all.len() as u64,
        filter: gathered.filter,
        cutoffs: gathered.cutoffs,
        funnel: selected.funnel.clone(),
        scan: selected.scan.clone(),
        split: selected.split.clone(),
        leakage: selected.leakage.clone(),
        corrected: corrected(&candidates, &selected, &gathered.corrected),
    };
    Ok((candidates, selected, report))
}

/// By which version of its corrections each conversation that stays was selected, if it has any.
fn corrected(candidates: &Candidates, selected: &Selected, of: &HashMap<Uuid, u32>) -> BTreeMap<String, u32> {
    let fates = candidates.all.iter().zip(&selected.fates);
    let stay = fates.filter(|(_, fate)| matches!(fate, Fate::Kept(_))).map(|(candidate, _)| candidate.id);
    stay.filter_map(|id| Some((id.to_string(), *of.get(&id)?))).collect()
}

fn fated<'a>(candidate: &Candidate, fate: &'a Fate) -> Fated<'a> {
    let (conversation, run) = (candidate.id, candidate.run);
    match fate {
        Fate::Kept(side) => Fated { conversation, run, split: Some(side.into_str()), dropped_by: None, reason: None },
        Fate::Dropped { by, reason } => {
            Fated { conversation, run, split: None, dropped_by: Some(by.into_str()), reason: Some(reason) }
        }
    }
}

/// SHA-256 of the manifest as it is downloaded as JSON lines.
fn manifest_hash(candidates: &Candidates, selected: &Selected) -> anyhow::Result<String> {
    let mut hasher = Sha256::new();
    for ((candidate, fate), ordinal) in candidates.all.iter().zip(&selected.fates).zip(0..) {
        let (split, dropped_by, reason) = match fate {
            Fate::Kept(side) => (Some(*side), None, None),
            Fate::Dropped { by, reason } => (None, Some(*by), Some(reason.clone())),
        };
        let row = ManifestRow {
            ordinal,
            conversation: candidate.id.to_string(),
            run: candidate.run.to_string(),
            position: candidate.position,
            scenario: candidates.symbols.name(candidate.scenario).to_owned(),
            split,
            dropped_by,
            reason,
        };
        hasher.update(line(&row)?);
    }
    Ok(hex::encode(hasher.finalize()))
}

/// Everything that is wrong with a selection: pointers and what is wrong there. What it names must be of the project.
pub async fn problems(db: &mut PgConnection, project: Uuid, spec: &Spec) -> Result<Vec<(String, String)>, StoreError> {
    let mut found = spec.problems();
    for (i, id) in spec.filter.runs.iter().enumerate() {
        let Ok(id) = id.parse() else { continue };
        let run = runs::get(db, id).await?;
        if run.is_none_or(|run| run.project != project) {
            found.push((format!("/filter/runs/{i}"), format!("the project has no run {id}")));
        }
    }
    if let Whose::Judging(text) = &spec.filter.judging
        && let Ok(id) = text.parse()
    {
        let run = match judgings::get(db, id).await? {
            Some(judging) => runs::get(db, judging.run_id).await?,
            None => None,
        };
        if run.is_none_or(|run| run.project != project) {
            found.push(("/filter/judging".to_owned(), format!("the project has no judging {id}")));
        }
    }
    Ok(found)
}
