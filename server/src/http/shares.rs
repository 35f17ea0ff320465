//! Shares: how much of what costs the server a lot each person and each project may have in progress at once. Whoever asks for
//! more waits for a short time, in order, and is then refused: nobody takes all of it, and others hardly notice who tries.

mod request_shares;
mod routes;

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

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Size = Size { per_user: 2, per_project: 3, in_all: 4, patience: Duration::from_secs(10) };

    fn id(n: u128) -> Uuid {
        Uuid::from_u128(n)
    }

    async fn refused(shares: &Shares, project: u128, user: u128) -> Busy {
        shares.enter(id(project), id(user)).await.err().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn each_has_a_share_and_no_more() {
        let shares = Shares::new(SMALL);
        let enter = async |project, user| shares.enter(id(project), id(user)).await.unwrap();
        let one = [enter(1, 1).await, enter(1, 1).await];
        assert_eq!(refused(&shares, 2, 1).await, Busy::User, "it is the same person in another project");
        let two = enter(1, 2).await;
        assert_eq!(refused(&shares, 1, 3).await, Busy::Project);
        let three = enter(2, 3).await;
        assert_eq!(refused(&shares, 3, 4).await, Busy::Server);
        drop(three);
        let three = enter(3, 4).await;
        drop((one, two, three));
        let again = enter(4, 5).await;
        assert_eq!((shares.users.of.lock().len(), shares.projects.of.lock().len()), (1, 1), "others are forgotten");
        drop(again);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_gets_the_next_turn_in_order() {
        let shares = Arc::new(Shares::new(SMALL));
        let taken = [shares.enter(id(1), id(1)).await.unwrap(), shares.enter(id(1), id(1)).await.unwrap()];
        let order = Arc::new(Mutex::new(Vec::new()));
        let wait = |n: u32| {
            let (shares, order) = (Arc::clone(&shares), Arc::clone(&order));
            tokio::spawn(async move {
                let permit = shares.enter(id(1), id(1)).await;
                order.lock().push(n);
                permit.is_ok()
            })
        };
        let (first, second) = (wait(1), wait(2));
        // Both wait: nobody else runs here.
        tokio::task::yield_now().await;
        assert!(order.lock().is_empty());
        drop(taken);
        assert!(first.await.unwrap() && second.await.unwrap());
        assert_eq!(*order.lock(), [1, 2]);
    }

    /// However much one project asks for, somebody of another one waits for one turn and not for a hundred.
    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_one_project_does_not_hold_up_another() {
        let size = Size { per_user: 1, per_project: 4, in_all: 4, patience: Duration::from_mins(10) };
        let shares = Arc::new(Shares::new(size));
        let busy = |user: u128| {
            let shares = Arc::clone(&shares);
            tokio::spawn(async move {
                let _permit = shares.enter(id(1), id(user)).await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            })
        };
        let crowd: Vec<_> = (0..100).map(busy).collect();
        tokio::task::yield_now().await;
        let begun = Instant::now();
        shares.enter(id(2), id(1_000)).await.unwrap();
        assert!(begun.elapsed() <= Duration::from_secs(1), "{:?}", begun.elapsed());
        assert!(crowd.iter().any(|one| !one.is_finished()), "they go on");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_is_refused_at_once() {
        let shares = Shares::new(STREAMS);
        let begun = Instant::now();
        let mut all = Vec::new();
        for _ in 0..STREAMS.per_user {
            all.push(shares.enter(id(1), id(1)).await.unwrap());
        }
        assert_eq!(refused(&shares, 1, 1).await, Busy::User);
        assert!(begun.elapsed() < Duration::from_millis(10), "nobody waited");
    }
}
