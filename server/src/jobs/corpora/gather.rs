//! Finds the conversations that a filter means, and reads what they are told apart by.
//!
//! What the database can tell at once is asked first; then the events of what may pass are read, a few conversations at
//! a time, and only hashes, sketches and findings of them are kept.

mod rough;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Context;
use domain::corpus::{Cutoff, Spec};
use domain::event::Event;
use domain::filter::{Bounds, Cutoffs, Filter, Symbols};
use futures::{StreamExt, TryStreamExt, stream};
use sqlx::PgPool;
use uuid::Uuid;

use self::rough::{Case, Cases, Course, Rough};
use super::Teller;
use crate::corpora::known::Known;
use crate::corpora::scan::{self, Findings};
use crate::corpora::select::{Candidate, Candidates};
use crate::corpora::shingles::Shingles;
use crate::corpora::sketch::Sketch;
use crate::corpora::story::Story;
use crate::store::reading::Reading;
use crate::store::{BadRow, corpora as store, runs};

/// Conversations that are read at once, and how often at the same time.
const READ: usize = 128;
const AT_ONCE: usize = 4;

pub struct Gathered {
    pub candidates: Candidates,
    /// Conversations that have ended, whether they pass or not.
    pub looked_at: u64,
    pub cutoffs: Vec<Cutoff>,
}

pub async fn gather(project: Uuid, spec: &Spec, teller: &Teller<'_>) -> anyhow::Result<Gathered> {
    let filter = spec.filter();
    let mut symbols = Symbols::default();
    teller.tell("filter", 0, None).await?;
    let (rough, looked_at) = rough(project, &filter, &mut symbols, teller).await?;
    let matcher = filter.compile(|name| Some(symbols.intern(name)));
    let mut tops = filter.tops(|name| Some(symbols.intern(name)));
    let mut shingles = Shingles::new().context("cannot make a file for shingles")?;
    let (mut passed, mut all, mut sketches) = (Vec::new(), Vec::new(), Vec::new());
    let total = rough.len();
    let mut chunks = read(teller.pool, &rough);
    let mut done = 0;
    while let Some(chunk) = chunks.try_next().await? {
        for read in chunk {
            let own = &rough[done];
            done += 1;
            let course = Course {
                tools: read.tools.iter().map(|tool| symbols.intern(tool)).collect(),
                tool_calls: Some(read.tool_calls),
                verified: own.verified.or(read.verified),
            };
            let facts = own.facts(&course);
            if !matcher.matches(&facts) {
                continue;
            }
            tops.count(&facts);
            shingles.push(&read.shingles).context("cannot keep shingles")?;
            sketches.push(read.sketch);
            all.push(own.candidate(read.hash, read.findings));
            passed.push(done - 1);
        }
        teller.tell("read", done, Some(total)).await?;
    }
    drop(chunks);
    let cutoffs = tops.cutoffs();
    let keep: Vec<bool> = passed.iter().map(|i| cutoffs.reached(&rough[*i].facts(&Course::default()))).collect();
    let mut shingles = shingles.finish().context("cannot keep shingles")?;
    shingles.retain(&keep);
    let candidates = Candidates { all: kept(all, &keep), sketches: kept(sketches, &keep), shingles, symbols };
    Ok(Gathered { candidates, looked_at, cutoffs: named(&filter, &cutoffs) })
}

fn kept<T>(all: Vec<T>, keep: &[bool]) -> Vec<T> {
    all.into_iter().zip(keep).filter(|(_, keep)| **keep).map(|(one, _)| one).collect()
}

fn named(filter: &Filter, cutoffs: &Cutoffs) -> Vec<Cutoff> {
    let named =
        |(top, score): (&domain::filter::Top, u8)| Cutoff { criterion: top.criterion.clone(), share: top.share, score };
    filter.top.iter().zip(cutoffs.scores()).map(named).collect()
}

/// What may pass by all that can be told without events, and how many conversations were looked at.
async fn rough(
    project: Uuid,
    filter: &Filter,
    symbols: &mut Symbols,
    teller: &Teller<'_>,
) -> anyhow::Result<(Vec<Rough>, u64)> {
    let without_events = Filter {
        verified: None,
        tool_calls: Bounds::default(),
        tools_any: Vec::new(),
        tools_all: Vec::new(),
        ..filter.clone()
    };
    let matcher = without_events.compile(|name| Some(symbols.intern(name)));
    let scores = filter.scores().next().is_some()
        || filter.min_agreement.is_some()
        || filter.top.iter().any(|t| t.criterion.is_some());
    let long = store::Long { scores, reasons: filter.reason.is_some() };
    let only: Option<Vec<Uuid>> =
        (!filter.runs.is_empty()).then(|| filter.runs.iter().filter_map(|id| id.parse().ok()).collect());
    let mut reading = Reading::begin(teller.pool).await?;
    let db = reading.db();
    let looked_at = store::ended(db, project).await?.unsigned_abs();
    let mut cases: HashMap<String, Cases> = HashMap::new();
    let mut found = Vec::new();
    for looked in store::runs(db, project, only.as_deref(), &filter.judging).await? {
        if !cases.contains_key(&looked.library) {
            let files = serde_json::from_value(runs::library(db, &looked.library).await?)?;
            cases.insert(looked.library.clone(), Cases::read(files).await?);
        }
        let Some(cases) = cases.get_mut(&looked.library) else { continue };
        let run = Arc::new(rough::Run {
            id: looked.run,
            number: symbols.intern(&looked.run.to_string()),
            models: looked.models.iter().map(|model| symbols.intern(model)).collect(),
        });
        let mut unreadable = None;
        let hear = |own| {
            match Rough::new(&run, own, cases, symbols) {
                Ok(rough) if matcher.matches(&rough.facts(&Course::default())) => found.push(rough),
                Ok(_) => {}
                Err(error) => unreadable = Some(error),
            }
            if unreadable.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        store::conversations(db, &looked, long, hear).await?;
        if let Some(error) = unreadable {
            return Err(crate::store::StoreError::from(error).into());
        }
        teller.tell("filter", found.len(), None).await?;
    }
    reading.end();
    Ok((found, looked_at))
}

/// What is kept of what was said.
struct Read {
    hash: [u8; 16],
    shingles: Vec<u32>,
    sketch: Sketch,
    findings: Findings,
    tools: Vec<String>,
    tool_calls: u32,
    verified: Option<bool>,
}

/// Reads them in their order, some at a time.
fn read<'a>(
    pool: &'a PgPool,
    rough: &'a [Rough],
) -> impl futures::Stream<Item = anyhow::Result<Vec<Read>>> + Unpin + use<'a> {
    let chunk = move |chunk: &'a [Rough]| async move {
        let ids: Vec<Uuid> = chunk.iter().map(|own| own.id).collect();
        let cases: Vec<Arc<Case>> = chunk.iter().map(|own| Arc::clone(&own.case)).collect();
        let mut reading = Reading::begin(pool).await?;
        let events = store::events(reading.db(), &ids).await?;
        reading.end();
        tokio::task::spawn_blocking(move || read_all(&ids, &cases, events)).await?
    };
    Box::pin(stream::iter(rough.chunks(READ)).map(chunk).buffered(AT_ONCE))
}

fn read_all(ids: &[Uuid], cases: &[Arc<Case>], events: Vec<(Uuid, String)>) -> anyhow::Result<Vec<Read>> {
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
    let story = |id: &Uuid| Story::of(of.remove(id).unwrap_or_default());
    Ok(ids.iter().map(story).zip(cases).map(|(story, case)| one(&story, &case.playbook_name, &case.known)).collect())
}

fn one(story: &Story, playbook: &str, known: &Known) -> Read {
    let shingles = story.shingles();
    Read {
        hash: story.hash(playbook),
        sketch: Sketch::of(&shingles),
        shingles,
        findings: scan::scan(story, known),
        tools: story.tools.iter().cloned().collect(),
        tool_calls: story.tool_calls,
        verified: story.verified,
    }
}
