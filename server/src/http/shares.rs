//! Shares: how much of what costs the server a lot each person and each project may have in progress at once. Whoever asks for
//! more waits for a short time, in order, and is then refused: nobody takes all of it, and others hardly notice who tries.

mod request_shares;
pub mod routes;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

pub use request_shares::{RequestShares, hold};

/// How large shares are.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub per_user: usize,
    pub per_project: usize,
    pub in_all: usize,
    /// How long somebody waits for their turn.
    pub patience: Duration,
}

/// What computes, or reads much: previews, searches, statistics, large documents while they are read. Each one takes one
/// connection to the database at a time, of 16: the rest is for everybody else.
pub const WORK: Size = Size { per_user: 4, per_project: 8, in_all: 10, patience: Duration::from_secs(10) };
/// What the sandbox computes for somebody who waits: trials, prompts, imports, checks of a text. It serves projects in turn;
/// this keeps one person from filling the queue of a project.
pub const TRIALS: Size = Size { per_user: 4, per_project: 16, in_all: 64, patience: Duration::from_secs(10) };
/// Large answers, until they are read to their end. They wait in files and cost only disk.
pub const DOWNLOADS: Size = Size { per_user: 8, per_project: 32, in_all: 256, patience: Duration::from_secs(3) };
/// Streams of events: each one asks the database twice a second, for as long as somebody looks. A browser cannot have more than
/// six without a proxy.
pub const STREAMS: Size = Size { per_user: 16, per_project: 128, in_all: 512, patience: Duration::ZERO };

/// What is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Work,
    Trial,
    Download,
    Stream,
}

/// All that this module shares.
pub struct AllShares {
    work: Shares,
    trials: Shares,
    downloads: Shares,
    streams: Shares,
}

impl Default for AllShares {
    fn default() -> Self {
        Self {
            work: Shares::new(WORK),
            trials: Shares::new(TRIALS),
            downloads: Shares::new(DOWNLOADS),
            streams: Shares::new(STREAMS),
        }
    }
}

impl AllShares {
    pub const fn of(&self, kind: Kind) -> &Shares {
        match kind {
            Kind::Work => &self.work,
            Kind::Trial => &self.trials,
            Kind::Download => &self.downloads,
            Kind::Stream => &self.streams,
        }
    }
}

/// One thing that is shared, by all who ask this process for it.
pub struct Shares {
    size: Size,
    in_all: Arc<Semaphore>,
    users: Turns,
    projects: Turns,
}

/// The right to what was asked for, until it is dropped.
#[derive(Debug)]
pub struct Permit {
    _turns: [OwnedSemaphorePermit; 3],
}

/// Who has too much in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    #[error("you have as many such requests in progress as one person may have; wait until one of them has ended")]
    User,
    #[error("this project has as many such requests in progress as one project may have; try again in a few seconds")]
    Project,
    #[error("the server has as many such requests in progress as it takes; try again in a few seconds")]
    Server,
}

impl Busy {
    /// Who asks for too much is told so; whoever finds the server busy did nothing wrong.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::User | Self::Project => StatusCode::TOO_MANY_REQUESTS,
            Self::Server => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl Shares {
    pub fn new(size: Size) -> Self {
        Self {
            size,
            in_all: Arc::new(Semaphore::new(size.in_all)),
            users: Turns::new(size.per_user),
            projects: Turns::new(size.per_project),
        }
    }

    /// Waits for a turn of the user, then of the project, then of all: who waits for others holds none of theirs, so each
    /// project has few that wait among all, and they are served in order.
    ///
    /// A request that has a permit must not ask for another one of the same shares.
    ///
    /// # Errors
    /// There was none for as long as one waits.
    pub async fn enter(&self, project: Uuid, user: Uuid) -> Result<Permit, Busy> {
        let until = Instant::now() + self.size.patience;
        let user = turn(self.users.of(user), until, Busy::User).await?;
        let project = turn(self.projects.of(project), until, Busy::Project).await?;
        let any = turn(Arc::clone(&self.in_all), until, Busy::Server).await?;
        Ok(Permit { _turns: [user, project, any] })
    }

    /// How many users and how many projects are remembered. Those with nothing in progress are forgotten when others ask.
    pub fn remembered(&self) -> (usize, usize) {
        (self.users.of.lock().len(), self.projects.of.lock().len())
    }
}

async fn turn(of: Arc<Semaphore>, until: Instant, busy: Busy) -> Result<OwnedSemaphorePermit, Busy> {
    // It is never closed.
    timeout_at(until, of.acquire_owned()).await.ok().and_then(Result::ok).ok_or(busy)
}

/// The turns of each person, or of each project.
struct Turns {
    each: usize,
    of: Mutex<HashMap<Uuid, Arc<Semaphore>>>,
}

impl Turns {
    fn new(each: usize) -> Self {
        Self { each, of: Mutex::default() }
    }

    fn of(&self, id: Uuid) -> Arc<Semaphore> {
        let mut of = self.of.lock();
        // Each permit, and each that waits for one, has a reference. Those who have neither are forgotten.
        of.retain(|_, turns| Arc::strong_count(turns) > 1);
        Arc::clone(of.entry(id).or_insert_with(|| Arc::new(Semaphore::new(self.each))))
    }
}
