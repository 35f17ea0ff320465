//! Requests that somebody outside of this process answers: an outside agent, a worker. A request is a row. Its answer is written to the
//! row, and the player that waits is told. A task is ended early by a row that comes with its answer. A crash loses nothing: the next
//! player finds the row.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sqlx::PgPool;
use sqlx::postgres::PgListener;
use store::KeptConnection;
use store::outside_requests::{self, CHANNEL, END_EARLY, OpenRequest};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::{debug, warn};
use uuid::Uuid;

use crate::commit::Crowd;
use crate::local_answers::{GivenAnswer, LocalAnswers};

/// How often answers are looked for that nobody told of.
const POLL: Duration = Duration::from_secs(1);

/// For so long a task that may leave its player waits for an answer in any case: agents that answer at once need no second claim.
const SOON: Duration = Duration::from_millis(200);
/// And for so long as nobody needs its room.
const LONG: Duration = Duration::from_secs(10);
/// How often requests are looked for that nobody answered in time.
const EXPIRY: Duration = Duration::from_secs(10);

/// The requests of one player that wait for somebody outside.
#[derive(Clone)]
pub struct Inbox {
    pool: PgPool,
    player: i64,
    waiting: LocalAnswers,
    crowd: Crowd,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Tasks of which a request may have been answered, or which somebody may have ended.
    told: Mutex<HashSet<Uuid>>,
    more: Notify,
}

impl Shared {
    fn tell(&self, task: Uuid) {
        self.told.lock().insert(task);
        self.more.notify_one();
    }
}

/// The answer to a request, which is heard of from when this is made, also before the request is there.
pub struct ExpectedAnswer {
    answered: oneshot::Receiver<GivenAnswer>,
    /// Of a task that parks: who else needs its room.
    parks: Option<Crowd>,
}

impl ExpectedAnswer {
    /// Waits for the answer, however long that takes. One whose task parks is waited for [`SOON`], and up to [`LONG`] unless
    /// somebody else needs its room. `None`: it stays where others find it.
    pub async fn wait(self) -> Option<GivenAnswer> {
        let parks = async {
            let Some(crowd) = self.parks else { return std::future::pending().await };
            let begun = Instant::now();
            loop {
                tokio::time::sleep(SOON).await;
                if crowd.needs_room() || begun.elapsed() >= LONG {
                    return;
                }
            }
        };
        let answered = tokio::select! {
            answered = self.answered => answered,
            () = parks => return None,
        };
        match answered {
            Ok(answer) => Some(answer),
            // Another wait for the same request took its place, or the player ends.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Inbox {
    /// Starts what brings the answers, as long as `tasks` lives.
    pub fn start(pool: &PgPool, player: i64, (waiting, crowd): (LocalAnswers, Crowd), tasks: &mut JoinSet<()>) -> Self {
        let inbox = Self { pool: pool.clone(), player, waiting, crowd, shared: Arc::default() };
        tasks.spawn(inbox.clone().bring_answers());
        tasks.spawn(expire(pool.clone()));
        inbox
    }

    /// Most processes play no task that somebody outside may answer or end: until the first one they need no connection that listens.
    async fn bring_answers(self) {
        self.shared.more.notified().await;
        self.shared.more.notify_one();
        tokio::join!(self.deliver(), self.listen());
    }

    /// Makes ready for the answer to a request. `is_bounded`: its run bounds what is played of it at once, so a task that waits takes
    /// the place of another one.
    pub fn expect(&self, request: &OpenRequest, is_bounded: bool) -> ExpectedAnswer {
        let answered = self.waiting.expect(request);
        self.shared.more.notify_one();
        let crowd = || if is_bounded { Crowd::default() } else { self.crowd.clone() };
        ExpectedAnswer { answered, parks: request.parks.then(crowd) }
    }

    /// Resolves when somebody ends the task early.
    pub fn expect_end(&self, task: Uuid) -> oneshot::Receiver<GivenAnswer> {
        let ended = self.waiting.expect_stored((task, END_EARLY));
        // Somebody may have ended it while no player had it. Without this, models are asked until the next poll.
        self.shared.tell(task);
        ended
    }

    /// Puts a request where others find it. It may be there already, and be answered.
    ///
    /// # Errors
    /// The database refuses the request.
    pub async fn open(&self, request: &OpenRequest) -> store::Result<()> {
        let open = || async { outside_requests::open(&mut *self.pool.acquire().await?, self.player, request).await };
        store::patiently(open).await?;
        self.shared.tell(request.task);
        Ok(())
    }

    async fn deliver(&self) {
        let mut poll = Instant::now();
        let mut db = KeptConnection::of(&self.pool);
        loop {
            if self.shared.told.lock().is_empty() {
                db.release();
            }
            let is_told = tokio::select! {
                () = self.shared.more.notified() => true,
                () = tokio::time::sleep_until(poll) => false,
            };
            let told = std::mem::take(&mut *self.shared.told.lock());
            if !is_told {
                poll = Instant::now() + POLL;
            }
            if is_told && told.is_empty() {
                continue;
            }
            let keys = self.waiting.wanted(|task| !is_told || told.contains(&task));
            if keys.is_empty() {
                continue;
            }
            let found = async { outside_requests::answers(db.get().await?, &keys).await };
            match found.await {
                Ok(found) => self.waiting.deliver(found),
                Err(error) => {
                    warn!(%error, "cannot look for answers from outside");
                    db.release();
                }
            }
        }
    }

    /// Without it, answers are seen a poll later.
    async fn listen(&self) {
        loop {
            if let Err(error) = self.ring_at_answers().await {
                debug!(%error, "cannot listen for answers from outside");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn ring_at_answers(&self) -> sqlx::Result<()> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.listen(CHANNEL).await?;
        while let Some(answered) = listener.try_recv().await? {
            if let Ok(task) = answered.payload().parse() {
                self.shared.tell(task);
            }
        }
        Ok(())
    }
}

/// Gives up requests that nobody answers in time.
async fn expire(pool: PgPool) {
    loop {
        tokio::time::sleep(EXPIRY).await;
        // Some are given up at once, and there may be more.
        loop {
            let expired = async { outside_requests::expire(&mut *pool.acquire().await?).await };
            match expired.await {
                Ok(0) => break,
                Ok(requests) => debug!(requests, "nobody outside answered in time"),
                Err(error) => {
                    warn!(%error, "cannot look for requests that nobody answers");
                    break;
                }
            }
        }
    }
}
