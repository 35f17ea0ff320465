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
use super::about::Abouts;
use super::load::{Loaded, load};
use store::facts::Head;

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
    held: Lock<Held>,
    abouts: Abouts,
}

#[derive(Default)]
struct Held {
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
    read: Option<Read>,
}

struct Read {
    loaded: Loaded,
    at: Instant,
    took: Duration,
}

impl Slot {
    async fn current(&mut self, pool: &PgPool, abouts: &Abouts, head: &Head) -> anyhow::Result<Arc<Columns>> {
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
        let loaded = load(pool, abouts, head).await?;
        let columns = Arc::clone(&loaded.columns);
        self.read = Some(Read { loaded, at: Instant::now(), took: begun.elapsed() });
        Ok(columns)
    }
}

impl Read {
    /// Whether it is time for another look.
    fn is_due(&self, now: &Head) -> bool {
        let every = if now.own { AT_MOST_EVERY } else { AT_MOST_EVERY.max(self.took * SHARE_OF_TIME) };
        self.loaded.may_have_changed(now) && self.at.elapsed() >= every
    }
}

/// What was asked for is more than can be held.
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
        Self { pool, most, held: Lock::default(), abouts: Abouts::default() }
    }

    /// These runs, as they were a second ago or later.
    ///
    /// # Errors
    /// [`TooMany`], or the database fails.
    pub async fn of(&self, heads: &[Head]) -> anyhow::Result<Vec<Arc<Columns>>> {
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
    pub async fn one(&self, head: &Head) -> anyhow::Result<Arc<Columns>> {
        let slot = self.slot(head);
        let mut slot = slot.lock().await;
        let columns = slot.current(&self.pool, &self.abouts, head).await?;
        drop(slot);
        self.make_room(head, columns.len());
        Ok(columns)
    }

    fn slot(&self, head: &Head) -> Arc<Mutex<Slot>> {
        let mut held = self.held.lock();
        held.clock += 1;
        let clock = held.clock;
        let new = || Entry { slot: Arc::default(), last_asked: clock, rows: 0 };
        let entry = held.runs.entry((head.run, head.judging)).or_insert_with(new);
        entry.last_asked = clock;
        Arc::clone(&entry.slot)
    }

    /// Lets go of what was asked for longest ago, until all that is held is no more than it may be. What somebody still
    /// looks at stays until then.
    fn make_room(&self, head: &Head, rows: usize) {
        let mut held = self.held.lock();
        if let Some(entry) = held.runs.get_mut(&(head.run, head.judging)) {
            entry.rows = rows;
        }
        while held.runs.len() > 1 && held.rows() > self.most {
            let oldest = held.runs.iter().min_by_key(|(_, entry)| entry.last_asked).map(|(key, _)| *key);
            oldest.and_then(|key| held.runs.remove(&key));
        }
    }

    /// Positions that are held.
    pub fn rows(&self) -> usize {
        self.held.lock().rows()
    }
}

impl Held {
    fn rows(&self) -> usize {
        self.runs.values().map(|entry| entry.rows).sum()
    }
}
