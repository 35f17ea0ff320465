//! What an export would look like, from its first conversations: nothing is built.

use std::sync::Arc;

use domain::export::{ExportPart, ExportReport};
use serde_json::Value;
use sqlx::PgPool;
use tokio::task::spawn_blocking;

use super::contents::{Order, extension};
use super::row::{self, RowOutcome};
use super::source::Source;
use super::{card, groups, pairs, records};
use store::material::{self, Material};

/// Conversations that are looked at, and read at once.
const FIRST: usize = 32;
const PAGE: i64 = 8;
/// Bytes of their events, after which no more of them are read. 32 usual conversations have half a megabyte.
const LARGEST: usize = 8 << 20;
/// Conversations among which a pair is looked for: the two sides of one may be far apart, since a run plays its scenarios in
/// turn. Reading so many takes about a second.
const FIRST_FOR_PAIRS: i64 = 2_048;

#[derive(Default)]
pub struct Preview {
    /// `None` if the first conversations give no record.
    pub record: Option<Value>,
    /// Of a bundle: its card, if these conversations were all.
    pub card: Option<String>,
    /// How many conversations it is of.
    pub looked_at: i64,
}

/// # Errors
/// The database, or documents that cannot be read.
pub async fn preview(pool: &PgPool, order: &Order) -> anyhow::Result<Preview> {
    let Some((split, source)) = order.sources.first() else { return Ok(Preview::default()) };
    let shape = &order.shape;
    if shape.profile.is_of_pairs() {
        let (record, looked_at) = pairs::first(pool, source, *shape, order.pairs, FIRST_FOR_PAIRS).await?;
        return Ok(Preview { record: parsed(record.as_deref())?, card: None, looked_at });
    }
    if shape.profile.is_of_groups() {
        let (record, looked_at) = groups::first(pool, source, (*shape, *split), FIRST_FOR_PAIRS).await?;
        return Ok(Preview { record: parsed(record.as_deref())?, card: None, looked_at });
    }
    let made = first(pool, source).await?;
    let looked_at = i64::try_from(made.len())?;
    let records::Chunk { lines, written } = records::chunk(shape, *split, &mut made.into_iter().map(Ok), Vec::new())?;
    let record = lines.split(|byte| *byte == b'\n').find(|line| !line.is_empty());
    let card = shape.profile.is_bundle().then(|| {
        let path = format!("data/{split}.{}", extension(shape));
        let written = written.report;
        let rows = written.rows;
        let part =
            ExportPart { path, split: *split, bytes: 0, hash: String::new(), written, pairs: None, groups: None };
        card::text(order, &ExportReport { parts: vec![part], rows })
    });
    Ok(Preview { record: parsed(record)?, card, looked_at })
}

async fn first(pool: &PgPool, source: &Arc<Source>) -> anyhow::Result<Vec<(Material, RowOutcome)>> {
    let (mut found, mut after, mut bytes) = (Vec::new(), -1, 0);
    while found.len() < FIRST && bytes < LARGEST {
        // The connection is given back in between: whatever is made of a page takes longer than reading it.
        let wanted = source.after(&mut *pool.acquire().await?, after, PAGE).await?;
        let Some(last) = wanted.last() else { break };
        after = last.index;
        let read = material::of(&mut *pool.acquire().await?, &wanted, source.wanted.all).await?;
        bytes += read.iter().filter_map(|material| material.events.as_ref()).map(String::len).sum::<usize>();
        let source = Arc::clone(source);
        found.extend(spawn_blocking(move || made(&source, read)).await??);
    }
    Ok(found)
}

fn made(source: &Source, read: Vec<Material>) -> anyhow::Result<Vec<(Material, RowOutcome)>> {
    let mut found = Vec::new();
    for material in read {
        let Some(context) = source.contexts.get(&material.run) else { continue };
        let made = row::rows(context, &material, source.wanted)?;
        found.push((material, made));
    }
    Ok(found)
}

fn parsed(json: Option<&[u8]>) -> anyhow::Result<Option<Value>> {
    Ok(json.map(serde_json::from_slice).transpose()?)
}
