//! The runs that are held in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex as Lock;
use sqlx::PgPool;
use tokio::sync::Mutex;
use tokio::time::Instant;
use uuid::Uuid;

use super::Columns;
use super::load::{RunColumns, load};
use super::scenario_columns::ScenarioCache;
use store::conversation_columns::RunHead;

/// Positions of all runs together; a million take some 60 MB.
const MOST: usize = 4_000_000;
/// A run that is played is looked at again no sooner.
const AT_MOST_EVERY: Duration = Duration::from_secs(1);
/// Nor sooner than so many times what a look took.
const SHARE_OF_TIME: u32 = 10;

/// Runs as judgings see them, those that were asked for last.
pub struct Index {
    pool: PgPool,
    most: usize,
    cached: Lock<CachedRuns>,
    scenarios: ScenarioCache,
}

#[derive(Default)]
struct CachedRuns {
    runs: HashMap<(Uuid, Uuid), Entry>,
    /// Counts what was asked for.
    clock: u64,
}

struct Entry {
    slot: Arc<Mutex<Slot>>,
    last_asked: u64,
    rows: usize,
}

/// One run. Whoever asks first reads it, and all others wait for that.
#[derive(Default)]
struct Slot {
    read: Option<CachedColumns>,
}

struct CachedColumns {
    loaded: RunColumns,
    at: Instant,
    took: Duration,
}

impl Slot {
    async fn current(
        &mut self,
        pool: &PgPool,
        scenarios: &ScenarioCache,
        head: &RunHead,
    ) -> anyhow::Result<Arc<Columns>> {
        let begun = Instant::now();
        if let Some(read) = &mut self.read {
            if !read.is_due(head) {
                return Ok(Arc::clone(&read.loaded.columns));
            }
            if read.loaded.refresh(pool).await? {
                (read.at, read.took) = (Instant::now(), begun.elapsed());
                return Ok(Arc::clone(&read.loaded.columns));
            }
        }
        let loaded = load(pool, scenarios, head).await?;
        let columns = Arc::clone(&loaded.columns);
        self.read = Some(CachedColumns { loaded, at: Instant::now(), took: begun.elapsed() });
        Ok(columns)
    }
}

impl CachedColumns {
    /// Whether it is time for another look.
    fn is_due(&self, now: &RunHead) -> bool {
        let every = if now.own { AT_MOST_EVERY } else { AT_MOST_EVERY.max(self.took * SHARE_OF_TIME) };
        self.loaded.may_have_changed(now) && self.at.elapsed() >= every
    }
}

/// What was asked for is more than can be cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("that is {rows} conversations, more than the {most} that are looked through at once; name some of the runs")]
pub struct TooMany {
    pub rows: usize,
    pub most: usize,
}

impl Index {
    pub fn new(pool: PgPool) -> Self {
        Self::of_size(pool, MOST)
    }

    /// An index that holds so many positions.
    pub fn of_size(pool: PgPool, most: usize) -> Self {
        Self { pool, most, cached: Lock::default(), scenarios: ScenarioCache::default() }
    }

    /// These runs, as they were a second ago or later.
    ///
    /// # Errors
    /// [`TooMany`], or the database fails.
    pub async fn of(&self, heads: &[RunHead]) -> anyhow::Result<Vec<Arc<Columns>>> {
        let rows = heads.iter().map(|head| usize::try_from(head.next_position).unwrap_or_default()).sum();
        if rows > self.most {
            return Err(TooMany { rows, most: self.most }.into());
        }
        let mut all = Vec::with_capacity(heads.len());
        for head in heads {
            all.push(self.one(head).await?);
        }
        Ok(all)
    }

    /// One run, however large it is.
    pub async fn one(&self, head: &RunHead) -> anyhow::Result<Arc<Columns>> {
        let slot = self.slot(head);
        let mut slot = slot.lock().await;
        let columns = slot.current(&self.pool, &self.scenarios, head).await?;
        drop(slot);
        self.make_room(head, columns.len());
        Ok(columns)
    }

    fn slot(&self, head: &RunHead) -> Arc<Mutex<Slot>> {
        let mut cached = self.cached.lock();
        cached.clock += 1;
        let clock = cached.clock;
        let new = || Entry { slot: Arc::default(), last_asked: clock, rows: 0 };
        let entry = cached.runs.entry((head.run, head.judging)).or_insert_with(new);
        entry.last_asked = clock;
        Arc::clone(&entry.slot)
    }

    /// Lets go of what was asked for longest ago, until all that is held is no more than it may be. What somebody still
    /// looks at stays until then.
    fn make_room(&self, head: &RunHead, rows: usize) {
        let mut cached = self.cached.lock();
        if let Some(entry) = cached.runs.get_mut(&(head.run, head.judging)) {
            entry.rows = rows;
        }
        while cached.runs.len() > 1 && cached.rows() > self.most {
            let oldest = cached.runs.iter().min_by_key(|(_, entry)| entry.last_asked).map(|(key, _)| *key);
            oldest.and_then(|key| cached.runs.remove(&key));
        }
    }

    /// Positions that are cached.
    pub fn rows(&self) -> usize {
        self.cached.lock().rows()
    }
}

impl CachedRuns {
    fn rows(&self) -> usize {
        self.runs.values().map(|entry| entry.rows).sum()
    }
}
