//! Finds the conversations that a filter means, and reads what they are told apart by.
//!
//! What the database can tell at once is asked first; then the events of what may pass are read, a few conversations at
//! a time, and only hashes, sketches and findings of them are kept.

mod candidate_row;

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Context;
use domain::corpus::{Cutoff, FilterStage, Spec};
use domain::correction::{self, Correction, in_force};
use domain::event::Event;
use domain::filter::{Dimension, Filter, Symbols, TopShare};
use domain::transcript::Transcript;
use domain::verdict::Verification;
use futures::{StreamExt, TryStreamExt, stream};
use sqlx::PgPool;
use tokio::sync::Semaphore;
use uuid::Uuid;

use self::candidate_row::{CandidateRow, EventValues, RunValues, ScenarioValues, Scenarios};
use super::ProgressReporter;
use crate::corpora::scan::{self, Findings};
use crate::corpora::select::{Candidate, Candidates};
use crate::corpora::shingles::Shingles;
use crate::corpora::sieve::Sieve;
use crate::corpora::sketch::Sketch;
use crate::corpora::utterances::Utterances;
use store::cancelled_reads::Reading;
use store::{BadRow, corpora, corrections, runs};

/// Conversations that are read at once, and how many such reads are worked on at the same time.
const READ: usize = 128;
const AT_ONCE: usize = 4;

pub struct GatheredCandidates {
    pub candidates: Candidates,
    /// Conversations that have ended, whether they pass or not.
    pub looked_at: u64,
    /// What each condition of the filter left of them.
    pub filter: Vec<FilterStage>,
    pub cutoffs: Vec<Cutoff>,
    /// Of those that people corrected, the last version of their corrections: they were read as of this one.
    pub corrected: HashMap<Uuid, u32>,
}

pub async fn gather(project: Uuid, spec: &Spec, teller: &ProgressReporter<'_>) -> anyhow::Result<GatheredCandidates> {
    let filter = spec.filter();
    let mut symbols = Symbols::default();
    let mut sieve = Sieve::new(&filter, |name| symbols.intern(name));
    teller.report("filter", 0, None).await;
    let (rows, looked_at) = candidate_rows(project, &filter, &mut sieve, &mut symbols, teller).await?;
    let mut shingles = Shingles::new().context("cannot make a file for shingles")?;
    let (mut passed, mut all, mut sketches) = (Vec::new(), Vec::new(), Vec::new());
    let mut corrected = HashMap::new();
    let total = rows.len();
    let mut chunks = read(teller.pool, teller.connections, &rows);
    let mut done = 0;
    while let Some(chunk) = chunks.try_next().await? {
        for read in chunk {
            let own = &rows[done];
            done += 1;
            let events = EventValues {
                tools: read.tools.iter().map(|tool| symbols.intern(tool)).collect(),
                tool_calls: read.tool_calls,
                verified: own.verified.or(read.verified),
            };
            if !sieve.passes_with_events(&own.with(&events)) {
                continue;
            }
            shingles.push(&read.shingles).context("cannot keep shingles")?;
            sketches.push(read.sketch);
            all.push(own.candidate(read.hash, read.findings));
            corrected.extend(read.corrected.map(|version| (own.id, version)));
            passed.push(done - 1);
        }
        teller.report("read", done, Some(total)).await;
    }
    drop(chunks);
    let cutoffs = named(filter.top, sieve.decide());
    let keep: Vec<bool> = passed.iter().map(|i| sieve.is_among_the_best(&rows[*i])).collect();
    let mut shingles = shingles.finish().context("cannot keep shingles")?;
    shingles.retain(&keep);
    let candidates = Candidates { all: kept(all, &keep), sketches: kept(sketches, &keep), shingles, symbols };
    Ok(GatheredCandidates { candidates, looked_at, filter: sieve.stages(looked_at), cutoffs, corrected })
}

fn kept<T>(all: Vec<T>, keep: &[bool]) -> Vec<T> {
    all.into_iter().zip(keep).filter(|(_, keep)| **keep).map(|(one, _)| one).collect()
}

fn named(tops: Vec<TopShare>, scores: Vec<u8>) -> Vec<Cutoff> {
    let named = |(TopShare { criterion, share }, score)| Cutoff { criterion, share, score };
    tops.into_iter().zip(scores).map(named).collect()
}

/// What may pass by all that can be told without events, and how many conversations were looked at.
async fn candidate_rows(
    project: Uuid,
    filter: &Filter,
    sieve: &mut Sieve,
    symbols: &mut Symbols,
    teller: &ProgressReporter<'_>,
) -> anyhow::Result<(Vec<CandidateRow>, u64)> {
    let conditions = filter.conditions(|name| Some(symbols.intern(name)));
    let asks = |dimension: Dimension| conditions.iter().any(|condition| condition.dimension == dimension);
    let of_criteria = conditions.iter().any(|condition| condition.criterion.is_some())
        || filter.top.iter().any(|top| top.criterion.is_some());
    let long =
        corpora::LongColumns { scores: of_criteria || asks(Dimension::Agreement), reasons: asks(Dimension::Reason) };
    let only: Option<Vec<Uuid>> =
        (!filter.runs.is_empty()).then(|| filter.runs.iter().filter_map(|id| id.parse().ok()).collect());
    let mut reading = Reading::begin(teller.pool).await?;
    let db = reading.db();
    let mut scenarios: HashMap<String, Scenarios> = HashMap::new();
    let (mut found, mut read) = (Vec::new(), 0);
    for looked in corpora::runs(db, project, only.as_deref(), &filter.judging).await? {
        if !scenarios.contains_key(&looked.library) {
            let files = serde_json::from_value(runs::library(db, &looked.library).await?)?;
            scenarios.insert(looked.library.clone(), Scenarios::read(files).await?);
        }
        let Some(scenarios) = scenarios.get_mut(&looked.library) else { continue };
        let run = Arc::new(RunValues {
            id: looked.run,
            number: symbols.intern(&looked.run.to_string()),
            models: looked.models.iter().map(|model| symbols.intern(model)).collect(),
            solve_rates: match asks(Dimension::SolveRate) {
                true => corpora::solve_rates(db, &looked).await?,
                false => HashMap::new(),
            },
        });
        let mut unreadable = None;
        let hear = |own| {
            read += 1;
            match CandidateRow::new(&run, own, scenarios, symbols) {
                Ok(row) if sieve.passes_before_events(&row) => found.push(row),
                Ok(_) => {}
                Err(error) => unreadable = Some(error),
            }
            if unreadable.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        corpora::conversations(db, &looked, long, hear).await?;
        if let Some(error) = unreadable {
            return Err(store::StoreError::from(error).into());
        }
        teller.report("filter", found.len(), None).await;
    }
    let unread =
        if only.is_some() { corpora::ended(db, project).await?.unsigned_abs().saturating_sub(read) } else { 0 };
    sieve.unread(unread);
    reading.end();
    Ok((found, read + unread))
}

/// The figures by which a conversation is selected, without its text.
struct ConversationDigest {
    hash: [u8; 16],
    shingles: Vec<u32>,
    sketch: Sketch,
    findings: Findings,
    tools: Vec<String>,
    tool_calls: u32,
    verified: Option<bool>,
    corrected: Option<u32>,
}

/// Reads them in their order, some at a time.
fn read<'a>(
    pool: &'a PgPool,
    connections: usize,
    rows: &'a [CandidateRow],
) -> impl futures::Stream<Item = anyhow::Result<Vec<ConversationDigest>>> + Unpin + use<'a> {
    let connections = Arc::new(Semaphore::new(connections));
    let read = move |chunk| read_chunk(pool, Arc::clone(&connections), chunk);
    Box::pin(stream::iter(rows.chunks(READ)).map(read).buffered(AT_ONCE))
}

async fn read_chunk(
    pool: &PgPool,
    connections: Arc<Semaphore>,
    chunk: &[CandidateRow],
) -> anyhow::Result<Vec<ConversationDigest>> {
    let ids: Vec<Uuid> = chunk.iter().map(|own| own.id).collect();
    let scenarios: Vec<Arc<ScenarioValues>> = chunk.iter().map(|own| Arc::clone(&own.scenario)).collect();
    let turn = connections.acquire().await?;
    let mut reading = Reading::begin(pool).await?;
    let events = corpora::events(reading.db(), &ids).await?;
    let corrections = corrections::of(reading.db(), &ids).await?;
    reading.end();
    drop(turn);
    tokio::task::spawn_blocking(move || read_all(&ids, &scenarios, events, &corrections)).await?
}

fn read_all(
    ids: &[Uuid],
    scenarios: &[Arc<ScenarioValues>],
    events: Vec<(Uuid, String)>,
    corrections: &HashMap<Uuid, Vec<Correction>>,
) -> anyhow::Result<Vec<ConversationDigest>> {
    let mut of: HashMap<Uuid, Vec<Event>> = HashMap::new();
    for (id, event) in events {
        let event = serde_json::from_str(&event).map_err(|e| BadRow {
            table: "events",
            column: "event",
            row: id.to_string(),
            reason: e.to_string(),
        })?;
        of.entry(id).or_default().push(event);
    }
    let read = |(id, scenario): (&Uuid, &Arc<ScenarioValues>)| {
        let corrections = corrections.get(id).map_or(&[][..], Vec::as_slice);
        one(of.remove(id).unwrap_or_default(), corrections, scenario)
    };
    Ok(ids.iter().zip(scenarios).map(read).collect())
}

/// What would be exported is looked at: the agents' turns as people corrected them.
fn one(events: Vec<Event>, corrections: &[Correction], scenario: &ScenarioValues) -> ConversationDigest {
    let corrected = corrections.last().map(|last| last.version);
    let in_force = in_force(corrections, corrected.unwrap_or_default());
    let mut transcript: Transcript = events.into_iter().collect();
    for agent in transcript.agent_frames_mut() {
        correction::apply(agent, &in_force);
    }
    let tools: BTreeSet<String> = transcript.agent_calls().map(|call| call.tool.clone()).collect();
    let tool_calls = u32::try_from(transcript.agent_calls().count()).unwrap_or(u32::MAX);
    let verified = transcript.verification.as_ref().map(Verification::passed);
    let utterances = Utterances::from(transcript);
    let shingles = utterances.shingles();
    ConversationDigest {
        hash: utterances.hash(&scenario.playbook_name),
        sketch: Sketch::of(&shingles),
        shingles,
        findings: scan::scan(&utterances, &scenario.authored),
        tools: tools.into_iter().collect(),
        tool_calls,
        verified,
        corrected,
    }
}
