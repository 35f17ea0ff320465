//! Rows of a source, made on all cores and handed over in order, in memory that does not grow with the source.
//!
//! One task reads pages of material, a few threads make something of each page, and whoever asked takes what was made in
//! the order of the pages. Each waits for the next one, so that only a handful of pages exist at a time.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use sqlx::PgPool;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use super::row::{Made, rows};
use super::source::Source;
use crate::store::material::{self, Material, Wanted};

/// Conversations of a page: about a megabyte.
const PAGE: usize = 64;
/// Ids that are read at once.
const IDS: i64 = 4096;
/// Pages that wait for a thread, and pages that threads work on.
const AHEAD: usize = 4;
const AT_ONCE: usize = 3;

/// Makes something of each page and takes it in order.
///
/// # Errors
/// The first error of the database, of a conversation, or of whoever takes.
pub async fn pages<T: Send + 'static>(
    pool: &PgPool,
    source: &Arc<Source>,
    make: impl Fn(&Source, Vec<(Material, Made)>) -> anyhow::Result<T> + Send + Sync + 'static,
    mut take: impl AsyncFnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (send, receive) = mpsc::channel(AHEAD);
    let _reader = Stopped(tokio::spawn(read(pool.clone(), Arc::clone(source), send)));
    let make = Arc::new(make);
    let received = stream::unfold(receive, async |mut receive| Some((receive.recv().await?, receive)));
    let made = received.map(|page: anyhow::Result<Vec<Material>>| {
        let (source, make) = (Arc::clone(source), Arc::clone(&make));
        async move { spawn_blocking(move || make(&source, made(&source, page?)?)).await? }
    });
    let mut made = std::pin::pin!(made.buffered(AT_ONCE));
    while let Some(made) = made.try_next().await? {
        take(made).await?;
    }
    Ok(())
}

fn made(source: &Source, page: Vec<Material>) -> anyhow::Result<Vec<(Material, Made)>> {
    let of = |material: Material| {
        let context = &source.contexts[&material.run];
        let made = rows(context, &material, source.all, source.branches)?;
        Ok((material, made))
    };
    page.into_iter().map(of).collect()
}

/// Sends pages until somebody stops listening.
async fn read(pool: PgPool, source: Arc<Source>, send: mpsc::Sender<anyhow::Result<Vec<Material>>>) {
    let mut after = -1;
    loop {
        let ids = ids(&pool, &source, after).await;
        let Ok(ids) = ids else {
            drop(send.send(ids.map(|_| Vec::new())).await);
            return;
        };
        let Some(last) = ids.last() else { return };
        after = last.index;
        for page in ids.chunks(PAGE) {
            let page = material_of(&pool, &source, page).await;
            let failed = page.is_err();
            if send.send(page).await.is_err() || failed {
                return;
            }
        }
    }
}

async fn ids(pool: &PgPool, source: &Source, after: i32) -> anyhow::Result<Vec<Wanted>> {
    source.after(&mut *pool.acquire().await?, after, IDS).await
}

async fn material_of(pool: &PgPool, source: &Source, page: &[Wanted]) -> anyhow::Result<Vec<Material>> {
    Ok(material::of(&mut *pool.acquire().await?, page, source.all).await?)
}

/// A task that ends with whoever started it.
struct Stopped(JoinHandle<()>);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.abort();
    }
}
