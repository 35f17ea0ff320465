//! Groups of samples with their rewards: conversations of a run that have the same start, one record for all of them.
//!
//! The source is read twice. First only who belongs together is kept, with its reward, because the samples of a group may
//! stand far apart in a corpus. Then the groups are read whole, a few at a time.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context as _;
use domain::correction::in_force;
use domain::export::{GroupReport, Shape, Split};
use domain::outcome::Outcome;
use domain::reward::{GroupRewards, reward};
use engine::plan;
use futures::TryStreamExt as _;
use generation::plan::RunConfig;
use sqlx::PgPool;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::part::PartWriter;
use super::profile::{self, Group, GroupSample};
use super::records;
use super::report::WrittenRows;
use super::row::{RowOutcome, own_row};
use super::source::Source;
use super::stream::{self, Pace, Page};
use store::material::{self, Material, RowCandidate};

/// Conversations that are read at once, or those of one group.
const AT_ONCE: usize = 32;

/// The run, and the number of the group in it.
type GroupKey = (Uuid, usize);

/// One sample of a group.
#[derive(Debug, Clone, Copy)]
struct Sample {
    group: GroupKey,
    number: u32,
    wanted: RowCandidate,
    reward: Option<u8>,
    /// Whether trainers can load its messages.
    usable: bool,
}

#[derive(Default)]
struct SampleBatch {
    samples: Vec<Sample>,
    written: WrittenRows,
}

/// Writes a record for each group of the source.
///
/// # Errors
/// As [`records::write`].
pub async fn write(
    pool: &PgPool,
    source: &Arc<Source>,
    (shape, split): (Shape, Split),
    to: PartWriter,
    went_on: &mut impl FnMut(i64),
) -> anyhow::Result<(PartWriter, WrittenRows, GroupReport)> {
    let (mut groups, mut written) = (Groups::default(), WrittenRows::default());
    let mut pages = stream::pages(pool, source, Pace::Fast, move |source, page| seen(source, page, shape));
    while let Some(page) = pages.try_next().await? {
        let conversations = page.written.report.conversations;
        written.add(page.written);
        page.samples.into_iter().for_each(|sample| groups.add(sample));
        went_on(conversations);
    }
    let (mut to, mut report) = (Some(to), GroupReport::default());
    for groups in groups.batches() {
        let (lines, own, of_these) = read(pool, source, (shape, split), groups).await?;
        report.add(of_these);
        written.add(own);
        to = Some(records::append(to.take(), lines).await?.0);
    }
    Ok((to.context("the file was lost after an error")?, written, report))
}

/// The record of the first group that the export would write, and how many conversations were read to find it: `most` at most.
pub async fn first(
    pool: &PgPool,
    source: &Arc<Source>,
    (shape, split): (Shape, Split),
    most: i64,
) -> anyhow::Result<(Option<Vec<u8>>, i64)> {
    let (mut groups, mut looked_at) = (Groups::default(), 0);
    let mut pages = stream::pages(pool, source, Pace::Modest, move |source, page| seen(source, page, shape));
    // A second group has begun, so of a run the first one is whole.
    while looked_at < most
        && groups.all.len() < 2
        && let Some(page) = pages.try_next().await?
    {
        looked_at += page.written.report.conversations;
        page.samples.into_iter().for_each(|sample| groups.add(sample));
    }
    drop(pages);
    for groups in groups.batches() {
        let (lines, _, _) = read(pool, source, (shape, split), groups).await?;
        if let Some(record) = lines.split(|byte| *byte == b'\n').find(|line| !line.is_empty()) {
            return Ok((Some(record.to_vec()), looked_at));
        }
    }
    Ok((None, looked_at))
}

/// Samples by their group, in the order in which groups are first met.
#[derive(Default)]
struct Groups {
    all: Vec<Vec<Sample>>,
    places: HashMap<GroupKey, usize>,
}

impl Groups {
    fn add(&mut self, sample: Sample) {
        let place = *self.places.entry(sample.group).or_insert(self.all.len());
        if place == self.all.len() {
            self.all.push(Vec::new());
        }
        self.all[place].push(sample);
    }

    /// Some groups at a time, each with its samples in order.
    fn batches(self) -> impl Iterator<Item = Vec<Vec<Sample>>> {
        let mut rest = self.all.into_iter().peekable();
        std::iter::from_fn(move || {
            let mut batch = vec![rest.next()?];
            let mut samples = batch[0].len();
            while let Some(next) = rest.next_if(|next| samples + next.len() <= AT_ONCE) {
                samples += next.len();
                batch.push(next);
            }
            batch.iter_mut().for_each(|group| group.sort_by_key(|sample| sample.number));
            Some(batch)
        })
    }
}

fn seen(source: &Source, page: Page<'_>, shape: Shape) -> anyhow::Result<SampleBatch> {
    let mut batch = SampleBatch::default();
    for made in page {
        let (material, made) = made?;
        let report = &mut batch.written.report;
        report.conversations += 1;
        match made {
            RowOutcome::NotAccepted => report.not_accepted += 1,
            RowOutcome::NotJudged => report.not_judged += 1,
            RowOutcome::Unfinished => {
                report.unfinished += 1;
                batch.samples.push(sample(source, &material, false, false)?);
            }
            // The first is the agent's under test: sub-agents have no reward of their own.
            RowOutcome::Rows { rows, passed } => {
                let row = rows.into_iter().next().context("a conversation has no row")?;
                let row = row.and_then(|row| profile::fits(&shape, &row));
                batch.samples.push(sample(source, &material, passed, row.is_ok())?);
                if let Err(reason) = row {
                    batch.written.leave_out(material.position, reason);
                }
            }
        }
    }
    Ok(batch)
}

fn sample(source: &Source, material: &Material, passed: bool, usable: bool) -> anyhow::Result<Sample> {
    let context = source.contexts.get(&material.run).context("a conversation is of another run")?;
    let (group, number) = place(&context.config, material)?;
    let blame = match material.said.as_ref().map_or(&material.outcome, |said| &said.outcome) {
        Outcome::Accepted => None,
        Outcome::Failed { blame, .. } => Some(*blame),
    };
    Ok(Sample {
        group: (material.run, group),
        number,
        wanted: RowCandidate {
            id: material.id,
            index: material.index,
            judging: source.judging_of(material.run),
            original: material.original,
        },
        reward: reward(blame, passed),
        usable,
    })
}

/// The number of a conversation's group in its run, and which sample of it it is.
fn place(config: &RunConfig, material: &Material) -> anyhow::Result<(usize, u32)> {
    if !config.plays_episodes() {
        return Ok(plan::group(usize::try_from(material.position)?, config.samples));
    }
    // Episodes of a group are opened when somebody asks for them: they may stand anywhere.
    let scenario = config.scenarios.iter().position(|id| *id == material.scenario).unwrap_or_default();
    let group = usize::try_from(material.repeat)? * config.scenarios.len() + scenario;
    Ok((group, u32::try_from(material.position)?))
}

type Records = (Vec<u8>, WrittenRows, GroupReport);

async fn read(
    pool: &PgPool,
    source: &Arc<Source>,
    to: (Shape, Split),
    groups: Vec<Vec<Sample>>,
) -> anyhow::Result<Records> {
    let wanted: Vec<RowCandidate> = usable(&groups).map(|sample| sample.wanted).collect();
    let read = material::of(&mut *pool.acquire().await?, &wanted, true).await?;
    let source = Arc::clone(source);
    spawn_blocking(move || lines(&source, to, &groups, read)).await?
}

fn usable(groups: &[Vec<Sample>]) -> impl Iterator<Item = &Sample> {
    groups.iter().flatten().filter(|sample| sample.usable)
}

/// The record of each group. `read`: the usable samples of all of them, in order.
fn lines(
    source: &Source,
    (shape, split): (Shape, Split),
    groups: &[Vec<Sample>],
    read: Vec<Material>,
) -> anyhow::Result<Records> {
    let (mut lines, mut written, mut report) = (Vec::new(), WrittenRows::default(), GroupReport::default());
    let mut read = read.into_iter();
    for group in groups {
        let rewards = GroupRewards::of(group.iter().map(|sample| sample.reward));
        let (mut samples, mut position) = (Vec::new(), 0);
        for sample in group.iter().filter(|sample| sample.usable) {
            let material = read.next().context("a conversation went while it was read")?;
            position = material.position;
            let corrected = !in_force(&material.corrections, u32::MAX).is_empty();
            // The reward is for what was played, and not for what people wrote over it.
            let mut row = own_row(source, &Material { corrections: Vec::new(), ..material })?;
            // Trainers get no tokens of words that people corrected.
            row.sampled = row.sampled.filter(|_| !corrected);
            samples.push(GroupSample { number: sample.number, reward: sample.reward, row });
        }
        report.samples += i64::try_from(group.len())?;
        report.without_reward += i64::try_from(group.len() - rewards.scored)?;
        if samples.is_empty() {
            report.unusable += 1;
            continue;
        }
        let (run, number) = group[0].group;
        let of_each = source.contexts.get(&run).map_or(1, |context| context.config.samples.get());
        let of_each = of_each.max(u32::try_from(group.len())?);
        let before = lines.len();
        let (id, index) = (format!("{run}/{number}"), group[0].wanted.index);
        let group = Group { id, index, of_each, split: split.into_str(), rewards, samples };
        match profile::group(&shape, &group, &mut lines) {
            Ok(records) => {
                lines.push(b'\n');
                written.report.rows += i64::try_from(records)?;
                report.groups += 1;
                report.dead += i64::from(rewards.is_dead());
                group.samples.iter().take(1).for_each(|sample| written.report.about.count(&sample.row));
            }
            Err(reason) => {
                lines.truncate(before);
                report.unusable += 1;
                written.leave_out(position, reason);
            }
        }
    }
    Ok((lines, written, report))
}
