//! Building corpora: what the job of a corpus does, and previews.
//!
//! A corpus is built from nothing each time, and what comes of it depends on the conversations alone. So a builder keeps
//! nothing until it has all: if it dies, the next one begins again, and nobody ever sees half of a corpus.

mod gather;

use std::collections::{BTreeMap, HashMap};

use anyhow::Context;
use domain::api::ManifestRow;
use domain::corpus::{Report, Spec};
use domain::filter::JudgingChoice;
use domain::limits::MOST_NAMES;
use domain::progress::JobProgress;
use runtime::jobs::{Completion, JobLease, LeaseLost};
use serde_json::json;
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgPool};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::corpora::manifest::line;
use crate::corpora::select::{Candidate, CandidateOutcome, Candidates, SelectionResult, select};
use store::corpora::{self, ManifestEntry};
use store::{StoreError, judgings, runs};

/// Connections that conversations are read over at the same time: of a corpus that is built, and of a preview, which takes no
/// more than others who look at something.
const CONNECTIONS: usize = 4;
const CONNECTIONS_OF_PREVIEW: usize = 1;

/// Reports the progress of a selection.
struct ProgressReporter<'a> {
    pool: &'a PgPool,
    connections: usize,
    to: &'a (dyn Fn(JobProgress) + Sync),
}

impl ProgressReporter<'_> {
    async fn report(&self, step: &str, done: usize, total: Option<usize>) {
        (self.to)(JobProgress::new(step, done, total));
        // Who listens may be in the same task, and hears of it only while this one waits.
        tokio::task::yield_now().await;
    }
}

/// Builds a corpus.
///
/// # Errors
/// What is stored cannot be read, or the database.
pub async fn work(lease: JobLease) -> anyhow::Result<Completion> {
    let id = lease.job.subject;
    let found = corpora::get(&mut *lease.pool.acquire().await?, id).await?;
    let (project, corpus) = found.ok_or(LeaseLost)?;
    let teller = ProgressReporter { pool: &lease.pool, connections: CONNECTIONS, to: &|doing| lease.report(doing) };
    let (candidates, selected, report) = selected(project, &corpus.spec, &teller).await?;
    if let Some(reason) = nothing_left(&report) {
        let mut tx = lease.transaction().await?;
        corpora::keep_report(&mut tx, id, &report).await?;
        return Ok(Completion::failed(tx, reason, None));
    }
    teller.report("keep", 0, Some(candidates.all.len())).await;
    let hash = manifest_hash(&candidates, &selected)?;
    let rows: Vec<ManifestEntry<'_>> =
        candidates.all.iter().zip(&selected.fates).map(|(candidate, fate)| fated(candidate, fate)).collect();
    let mut tx = lease.transaction().await?;
    corpora::finish(&mut tx, id, &rows, &report, &hash).await?;
    let (train, golden) = (report.split.train.conversations, report.split.golden.conversations);
    Ok(Completion::finished(tx, json!({"train": train, "golden": golden})))
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
    tell: watch::Sender<Option<JobProgress>>,
) -> anyhow::Result<Report> {
    let to = |doing| drop(tell.send_replace(Some(doing)));
    let teller = ProgressReporter { pool, connections: CONNECTIONS_OF_PREVIEW, to: &to };
    let (_, _, report) = selected(project, spec, &teller).await?;
    Ok(report)
}

async fn selected(
    project: Uuid,
    spec: &Spec,
    teller: &ProgressReporter<'_>,
) -> anyhow::Result<(Candidates, SelectionResult, Report)> {
    let gathered = gather::gather(project, spec, teller).await?;
    let (mut candidates, own) = (gathered.candidates, spec.clone());
    let stop = CancellationToken::new();
    candidates.shingles.until(stop.clone());
    let _stopped_with_this = stop.drop_guard();
    let comparing = tokio::task::spawn_blocking(move || {
        let selected = select(&own, &candidates);
        selected.map(|selected| (candidates, selected))
    });
    teller.report("select", 0, None).await;
    let (candidates, selected) = comparing.await?.context("cannot compare conversations")?;
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
fn corrected(candidates: &Candidates, selected: &SelectionResult, of: &HashMap<Uuid, u32>) -> BTreeMap<String, u32> {
    let fates = candidates.all.iter().zip(&selected.fates);
    let stay = fates.filter(|(_, fate)| matches!(fate, CandidateOutcome::Kept(_))).map(|(candidate, _)| candidate.id);
    stay.filter_map(|id| Some((id.to_string(), *of.get(&id)?))).collect()
}

fn fated<'a>(candidate: &Candidate, fate: &'a CandidateOutcome) -> ManifestEntry<'a> {
    let (conversation, run) = (candidate.id, candidate.run);
    match fate {
        CandidateOutcome::Kept(side) => {
            ManifestEntry { conversation, run, split: Some(side.into_str()), dropped_by: None, reason: None }
        }
        CandidateOutcome::Dropped { by, reason } => {
            ManifestEntry { conversation, run, split: None, dropped_by: Some(by.into_str()), reason: Some(reason) }
        }
    }
}

/// SHA-256 of the manifest as it is downloaded as JSON lines.
fn manifest_hash(candidates: &Candidates, selected: &SelectionResult) -> anyhow::Result<String> {
    let mut hasher = Sha256::new();
    for ((candidate, fate), ordinal) in candidates.all.iter().zip(&selected.fates).zip(0..) {
        let (split, dropped_by, reason) = match fate {
            CandidateOutcome::Kept(side) => (Some(*side), None, None),
            CandidateOutcome::Dropped { by, reason } => (None, Some(*by), Some(reason.clone())),
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
    if spec.filter.runs.len() > MOST_NAMES {
        // It is said already, and the database is asked about each.
        return Ok(found);
    }
    for (i, id) in spec.filter.runs.iter().enumerate() {
        let Ok(id) = id.parse() else { continue };
        let run = runs::get(db, id).await?;
        if run.is_none_or(|run| run.project != project) {
            found.push((format!("/filter/runs/{i}"), format!("the project has no run {id}")));
        }
    }
    if let JudgingChoice::Judging(text) = &spec.filter.judging
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
