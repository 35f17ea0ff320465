//! Preference pairs: two conversations in which the agent heard and said the same, and then went on differently, one of
//! them to a better end.
//!
//! The whole source is read twice. First only hashes are kept: for each turn of the agent, of all that it had seen by then
//! (its scenario with world, tools and prompt included) and of what it said next. Conversations that share the first and not
//! the second part there, and only there. Then the pairs that were chosen are read whole.

mod choose;

use std::sync::Arc;

use anyhow::Context as _;
use domain::export::{PairReport, PairRule, Score, Shape};
use domain::message::Message;
use domain::outcome::Blame;
use domain::row::Row;
use futures::TryStreamExt as _;
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use tokio::task::spawn_blocking;

use super::part::PartWriter;
use super::profile::{self, Pair};
use super::records;
use super::report::WrittenRows;
use super::row::{RowOutcome, own_row};
use super::source::Source;
use super::stream::{self, Pace, Page};
use choose::{Candidate, Turn};
use store::material::{self, Material, RowCandidate};

/// Pairs that are read at once.
const PAGE: usize = 32;

struct PairBatch {
    candidates: Vec<Candidate>,
    written: WrittenRows,
}

/// Writes a record for each pair of the source.
///
/// # Errors
/// As [`records::write`].
pub async fn write(
    pool: &PgPool,
    source: &Arc<Source>,
    shape: Shape,
    rule: PairRule,
    to: PartWriter,
    went_on: &mut impl FnMut(i64),
) -> anyhow::Result<(PartWriter, WrittenRows, PairReport)> {
    let (mut candidates, mut written) = (Vec::new(), WrittenRows::default());
    let make = move |source: &Source, page: Page<'_>| seen(source, rule.score, page);
    let mut pages = stream::pages(pool, source, Pace::Fast, make);
    while let Some(page) = pages.try_next().await? {
        let conversations = page.written.report.conversations;
        written.add(page.written);
        candidates.extend(page.candidates);
        went_on(conversations);
    }
    let (pairs, mut report) = spawn_blocking(move || choose::pairs(&candidates, rule.margin)).await?;
    let mut to = Some(to);
    for page in pairs.chunks(PAGE) {
        let wanted: Vec<RowCandidate> = page.iter().flatten().copied().collect();
        let read = material::of(&mut *pool.acquire().await?, &wanted, true).await?;
        let source = Arc::clone(source);
        let (lines, own) = spawn_blocking(move || paired(&source, &shape, &read)).await??;
        report.used += own.report.rows;
        report.unusable += own.report.left_out.values().sum::<i64>();
        written.add(own);
        to = Some(records::append(to.take(), lines).await?.0);
    }
    Ok((to.context("the file was lost after an error")?, written, report))
}

fn seen(source: &Source, score: Score, page: Page<'_>) -> anyhow::Result<PairBatch> {
    let (mut candidates, mut written) = (Vec::new(), WrittenRows::default());
    for made in page {
        let (material, made) = made?;
        let report = &mut written.report;
        report.conversations += 1;
        match made {
            RowOutcome::NotAccepted => report.not_accepted += 1,
            RowOutcome::NotJudged => report.not_judged += 1,
            RowOutcome::Unfinished => report.unfinished += 1,
            // The first is the agent's under test: sub-agents are not judged by themselves.
            RowOutcome::Rows { rows, .. } => match rows.into_iter().next() {
                Some(Ok(row)) if is_data(&row) => candidates.push(candidate(source, &material, &row, score)),
                Some(Ok(_)) => report.not_accepted += 1,
                Some(Err(reason)) => written.leave_out(material.position, reason),
                None => {}
            },
        }
    }
    Ok(PairBatch { candidates, written })
}

/// Only what the agent did well or badly teaches it anything.
fn is_data(row: &Row) -> bool {
    row.metadata.accepted || row.metadata.blame == Blame::Agent.into_str()
}

fn candidate(source: &Source, material: &Material, row: &Row, score: Score) -> Candidate {
    let mut heard = Sha256::new();
    // Two scenarios may begin alike, and yet another word is the right one in each.
    for part in [&row.metadata.scenario.id, &row.metadata.world.initial, row.tools.json()] {
        heard.update(part);
        heard.update([0]);
    }
    let mut turns = Vec::new();
    for message in &row.messages {
        let text = serde_json::to_vec(message).unwrap_or_default();
        if matches!(message, Message::Assistant { .. }) {
            turns.push(Turn { heard: short(heard.clone()), said: short(Sha256::new().chain_update(&text)) });
        }
        heard.update(&text);
    }
    Candidate {
        wanted: RowCandidate {
            id: material.id,
            index: material.index,
            judging: source.judging_of(material.run),
            original: material.original,
        },
        score: worth(row, score),
        turns,
    }
}

fn worth(row: &Row, score: Score) -> f64 {
    match score {
        Score::Overall => f64::from(row.metadata.overall),
        Score::WeightedMean => row.metadata.weighted_mean,
    }
}

/// The record of a pair that the export would write, and how many conversations were read to find it: `most` at most.
pub async fn first(
    pool: &PgPool,
    source: &Arc<Source>,
    shape: Shape,
    rule: PairRule,
    most: i64,
) -> anyhow::Result<(Option<Vec<u8>>, i64)> {
    let (mut candidates, mut read) = (Vec::new(), 0);
    let make = move |source: &Source, page: Page<'_>| seen(source, rule.score, page);
    let mut pages = stream::pages(pool, source, Pace::Modest, make);
    while read < most
        && let Some(page) = pages.try_next().await?
    {
        read += page.written.report.conversations;
        candidates.extend(page.candidates);
        let (pairs, _) = choose::pairs(&candidates, rule.margin);
        let wanted: Vec<RowCandidate> = pairs.iter().take(PAGE).flatten().copied().collect();
        let found = material::of(&mut *pool.acquire().await?, &wanted, true).await?;
        let source = Arc::clone(source);
        let (lines, _) = spawn_blocking(move || paired(&source, &shape, &found)).await??;
        if let Some(record) = lines.split(|byte| *byte == b'\n').find(|line| !line.is_empty()) {
            return Ok((Some(record.to_vec()), read));
        }
    }
    Ok((None, read))
}

fn short(hasher: Sha256) -> u128 {
    hasher.finalize().first_chunk().copied().map_or(0, u128::from_be_bytes)
}

/// The records of pairs, each two conversations one after the other, the better one first.
fn paired(source: &Source, shape: &Shape, read: &[Material]) -> anyhow::Result<(Vec<u8>, WrittenRows)> {
    let (mut lines, mut written) = (Vec::new(), WrittenRows::default());
    for two in read.chunks_exact(2) {
        let row = |material: &Material| own_row(source, material);
        let (chosen, rejected) = (row(&two[0])?, row(&two[1])?);
        let before = lines.len();
        match record(shape, &chosen, &rejected, &mut lines) {
            Ok(()) => {
                lines.push(b'\n');
                written.report.rows += 1;
                written.report.about.count(&chosen);
            }
            Err(reason) => {
                lines.truncate(before);
                written.leave_out(two[0].position, reason);
            }
        }
    }
    Ok((lines, written))
}

fn record(shape: &Shape, chosen: &Row, rejected: &Row, out: &mut Vec<u8>) -> Result<(), String> {
    let mut both = chosen.messages.iter().zip(&rejected.messages);
    let common = both.clone().take_while(|(a, b)| a == b).count();
    match both.nth(common) {
        Some((Message::Assistant { .. }, Message::Assistant { .. })) => {
            profile::pair(shape, &Pair { chosen, rejected, common }, out)
        }
        _ => Err("its sides do not part at a word of the agent".to_owned()),
    }
}
