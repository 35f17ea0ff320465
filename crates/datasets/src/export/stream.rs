//! Rows of a source, made on all cores and handed over in order, in memory that does not grow with the source.
//!
//! A few pages are in the making at a time, each in a task of its own: it is read over a connection of its own, and then a
//! thread makes something of it, one conversation after the other, so that each is used while it is still in the
//! processor's cache. Whoever asked takes what was made in the order of the pages.

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use futures::{Stream, StreamExt, TryStreamExt, stream};
use sqlx::PgPool;
use tokio::task::spawn_blocking;
use tokio_util::task::AbortOnDropHandle;

use super::row::{RowOutcome, rows};
use super::source::Source;
use store::material::{self, Material, RowCandidate};

/// Conversations of a page: about a megabyte.
const PAGE: usize = 64;
/// Ids that are read at once.
const IDS: i64 = 4096;
/// Connections that an export may take, however many cores there are: others want some, too.
const MOST_AT_ONCE: usize = 8;

/// How much of the database is taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As much as an export may take: there are few of them at a time.
    Fast,
    /// One connection: whoever looks at a preview takes no more than others who look at something.
    Modest,
}

/// The conversations of a page, each made when it is asked for.
pub type Page<'a> = &'a mut dyn Iterator<Item = anyhow::Result<(Material, RowOutcome)>>;

/// What is made of each page, in order.
///
/// Its first error is that of the database, or of a conversation.
pub fn pages<'a, T: Send + 'static>(
    pool: &'a PgPool,
    source: &'a Arc<Source>,
    pace: Pace,
    make: impl Fn(&Source, Page<'_>) -> anyhow::Result<T> + Send + Sync + 'static,
) -> impl Stream<Item = anyhow::Result<T>> + Unpin {
    let make = Arc::new(make);
    let made = wanted(pool, source).map(move |page| {
        let (pool, source, make) = (pool.clone(), Arc::clone(source), Arc::clone(&make));
        AbortOnDropHandle::new(tokio::spawn(async move {
            let page = material::of(&mut *pool.acquire().await?, &page?, source.wanted.all).await?;
            spawn_blocking(move || make(&source, &mut made(&source, page))).await?
        }))
    });
    let at_once = match pace {
        Pace::Fast => at_once(),
        Pace::Modest => 1,
    };
    Box::pin(made.buffered(at_once).map(|made| made?))
}

/// While the database works on some pages, our cores work on others.
fn at_once() -> usize {
    available_parallelism().map_or(1, NonZero::get).saturating_add(2).min(MOST_AT_ONCE)
}

/// Pages of what the source holds, in its order.
fn wanted(pool: &PgPool, source: &Arc<Source>) -> impl Stream<Item = anyhow::Result<Vec<RowCandidate>>> {
    let ids = stream::try_unfold(-1, async move |after| {
        let ids = source.after(&mut *pool.acquire().await?, after, IDS).await?;
        anyhow::Ok(ids.last().map(|last| last.index).map(|last| (ids, last)))
    });
    let pages =
        |ids: Vec<RowCandidate>| stream::iter(ids.chunks(PAGE).map(|page| Ok(page.to_vec())).collect::<Vec<_>>());
    ids.map_ok(pages).try_flatten()
}

fn made(source: &Source, page: Vec<Material>) -> impl Iterator<Item = anyhow::Result<(Material, RowOutcome)>> {
    page.into_iter().map(|material| {
        let context = &source.contexts[&material.run];
        let made = rows(context, &material, source.wanted)?;
        Ok((material, made))
    })
}
