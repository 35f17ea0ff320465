//! The records of a source, written to one file.

use std::sync::Arc;

use anyhow::anyhow;
use domain::export::{Shape, Split};
use futures::TryStreamExt as _;
use parking_lot::Mutex;
use sqlx::PgPool;
use tokio::task::spawn_blocking;

use super::part::PartWriter;
use super::profile::{self, Place};
use super::report::WrittenRows;
use super::row::RowOutcome;
use super::source::Source;
use super::stream::{self, Pace, Page};

/// Records, a line each, and what became of the conversations.
pub struct Chunk {
    pub lines: Vec<u8>,
    pub written: WrittenRows,
}

/// Writes a record for each row of the source, in order. `went_on` is told how many conversations more were looked at.
///
/// # Errors
/// The database, or the file.
pub async fn write(
    pool: &PgPool,
    source: &Arc<Source>,
    shape: Shape,
    split: Split,
    to: PartWriter,
    went_on: &mut impl FnMut(i64),
) -> anyhow::Result<(PartWriter, WrittenRows)> {
    let spares = SpareBuffers::default();
    let own = spares.clone();
    let make = move |_: &Source, page: Page<'_>| chunk(&shape, split, page, own.take());
    let (mut to, mut written) = (Some(to), WrittenRows::default());
    let mut chunks = stream::pages(pool, source, Pace::Fast, make);
    while let Some(chunk) = chunks.try_next().await? {
        let conversations = chunk.written.report.conversations;
        written.add(chunk.written);
        let (file, lines) = append(to.take(), chunk.lines).await?;
        to = Some(file);
        spares.put(lines);
        went_on(conversations);
    }
    Ok((to.ok_or_else(lost)?, written))
}

/// On a thread that may wait for the disk. Gives the lines back, for their memory.
pub async fn append(to: Option<PartWriter>, lines: Vec<u8>) -> anyhow::Result<(PartWriter, Vec<u8>)> {
    let mut to = to.ok_or_else(lost)?;
    spawn_blocking(move || to.write(&lines).map(|()| (to, lines))).await?
}

/// Buffers whose lines were written. A new one costs a page fault for every four kilobytes.
#[derive(Clone, Default)]
struct SpareBuffers(Arc<Mutex<Vec<Vec<u8>>>>);

impl SpareBuffers {
    fn take(&self) -> Vec<u8> {
        self.0.lock().pop().unwrap_or_default()
    }

    fn put(&self, mut lines: Vec<u8>) {
        lines.clear();
        self.0.lock().push(lines);
    }
}

fn lost() -> anyhow::Error {
    anyhow!("the file was lost after an error")
}

/// Bytes of a record, more or less.
const USUAL: usize = 16 << 10;

/// Appends to `lines`.
///
/// # Errors
/// A conversation that cannot be read.
pub fn chunk(shape: &Shape, split: Split, page: Page<'_>, mut lines: Vec<u8>) -> anyhow::Result<Chunk> {
    lines.reserve(page.size_hint().0 * USUAL);
    let mut written = WrittenRows::default();
    for made in page {
        let (material, made) = made?;
        let report = &mut written.report;
        report.conversations += 1;
        match made {
            RowOutcome::NotAccepted => report.not_accepted += 1,
            RowOutcome::NotJudged => report.not_judged += 1,
            RowOutcome::Unfinished => report.unfinished += 1,
            RowOutcome::Rows { rows, .. } => {
                let place = Place { index: material.index, split: split.into_str() };
                for row in rows {
                    let before = lines.len();
                    let recorded = row.and_then(|row| {
                        profile::record(shape, &row, place, &mut lines)?;
                        Ok(row)
                    });
                    match recorded {
                        Ok(row) => {
                            lines.push(b'\n');
                            written.report.rows += 1;
                            written.report.about.count(&row);
                        }
                        Err(reason) => {
                            lines.truncate(before);
                            written.leave_out(material.position, reason);
                        }
                    }
                }
            }
        }
    }
    Ok(Chunk { lines, written })
}
