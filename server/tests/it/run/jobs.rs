//! The loop that works on jobs, by handlers of this test's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::api::JobSummary;
use domain::job::{JobKind, JobState};
use domain::progress::JobProgress;
use runtime::jobs::{Completion, Handlers, JobLease, LeaseLost, Options, serve};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{clock, jobs, players, projects};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::support::until;

/// A job of which only these handlers know what it is about.
async fn asked(pool: &PgPool) -> Uuid {
    let id = clock::id();
    let new = jobs::JobOrder {
        id,
        project: Some(projects::DEFAULT),
        kind: JobKind::Validation,
        subject: clock::id(),
        spec: json!({"n": 7}),
        total: None,
        run: None,
        created_by: "ann",
        created_at: clock::now(),
    };
    jobs::insert(&mut pool.acquire().await.unwrap(), &new).await.unwrap();
    id
}

async fn job(pool: &PgPool, id: Uuid) -> JobSummary {
    jobs::get(&mut pool.acquire().await.unwrap(), id).await.unwrap().unwrap()
}

async fn until_it_is(pool: &PgPool, id: Uuid, state: JobState) -> JobSummary {
    until(state.into_str(), async || job(pool, id).await.state == state).await;
    job(pool, id).await
}

fn handling<F>(work: impl Fn(JobLease) -> F + Send + Sync + 'static) -> Handlers
where
    F: Future<Output = anyhow::Result<Completion>> + Send + 'static,
{
    Handlers::default().with(JobKind::Validation, 1, work)
}

async fn finish(lease: &JobLease, report: Value) -> anyhow::Result<Completion> {
    Ok(Completion::finished(lease.transaction().await?, report))
}

/// A process that works on jobs, until it is dropped or stopped.
struct Process {
    stop: CancellationToken,
    working: tokio::task::JoinHandle<store::Result<()>>,
}

impl Process {
    fn start(pool: &PgPool, handlers: Handlers) -> Self {
        Self::with_lease(pool, handlers, Duration::from_secs(1))
    }

    fn with_lease(pool: &PgPool, handlers: Handlers, lease: Duration) -> Self {
        let (pool, stop) = (pool.clone(), CancellationToken::new());
        let asked = stop.clone();
        // What is announced is heard; what is not is looked for within a test's patience.
        let options = Options { lease, poll: Duration::from_millis(500), ..Options::default() };
        let working = tokio::spawn(async move { serve(&pool, &options, &handlers, &asked).await });
        Self { stop, working }
    }

    async fn stopped(self) {
        self.stop.cancel();
        self.working.await.unwrap().unwrap();
    }
}

/// Says when it is dropped.
struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Handlers that begin and never end, and what says that they began and were dropped.
fn endless() -> (Handlers, Arc<Notify>, Arc<Notify>) {
    let (begun, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begin, end) = (Arc::clone(&begun), Arc::clone(&dropped));
    let handlers = handling(move |lease: JobLease| {
        let (begin, end) = (Arc::clone(&begin), Dropped(Arc::clone(&end)));
        async move {
            let _end = end;
            lease.report(JobProgress::new("wait", 1, Some(2)));
            begin.notify_one();
            lease.over().clone().cancelled_owned().await;
            std::future::pending().await
        }
    });
    (handlers, begun, dropped)
}

#[sqlx::test(migrations = "../migrations")]
async fn a_job_is_worked_on_as_soon_as_it_is_asked_for(pool: PgPool) {
    let process = Process::start(&pool, handling(async |lease| finish(&lease, json!(lease.job.spec["n"])).await));
    let id = asked(&pool).await;
    let done = until_it_is(&pool, id, JobState::Finished).await;
    assert_eq!((done.report, done.reason), (Some(json!(7)), None));
    process.stopped().await;
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM players").fetch_one(&pool).await.unwrap();
    assert_eq!(left, 0, "it has left");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_cancelled_is_dropped_at_once(pool: PgPool) {
    let (handlers, begun, dropped) = endless();
    let process = Process::start(&pool, handlers);
    let id = asked(&pool).await;
    begun.notified().await;
    until("its progress is written down", async || job(&pool, id).await.doing.is_some()).await;
    assert_eq!(job(&pool, id).await.doing, Some(JobProgress::new("wait", 1, Some(2))));
    assert!(jobs::cancel(&mut pool.acquire().await.unwrap(), id).await.unwrap());
    tokio::time::timeout(Duration::from_secs(10), dropped.notified()).await.unwrap();
    assert_eq!(job(&pool, id).await.state, JobState::Cancelled);
    process.stopped().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn what_a_process_was_at_when_it_was_stopped_another_one_does(pool: PgPool) {
    let (handlers, begun, dropped) = endless();
    let process = Process::start(&pool, handlers);
    let id = asked(&pool).await;
    begun.notified().await;
    process.stopped().await;
    dropped.notified().await;
    let left = job(&pool, id).await;
    assert_eq!((left.state, left.doing), (JobState::Queued, None));
    let attempts: i32 = sqlx::query_scalar("SELECT attempts FROM jobs").fetch_one(&pool).await.unwrap();
    assert_eq!(attempts, 0, "it did not die");
    let next = Process::start(&pool, handling(async |lease| finish(&lease, json!({})).await));
    until_it_is(&pool, id, JobState::Finished).await;
    next.stopped().await;
}

/// A process that was silent for too long is as good as dead: what it makes later is refused, and it begins anew.
#[sqlx::test(migrations = "../migrations")]
async fn what_a_process_makes_that_was_given_up_is_refused(pool: PgPool) {
    let (begun, go_on, refused) = (Arc::new(Notify::new()), Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let (begin, went_on, count) = (Arc::clone(&begun), Arc::clone(&go_on), Arc::clone(&refused));
    let slow = handling(move |lease: JobLease| {
        let (begin, went_on, count) = (Arc::clone(&begin), Arc::clone(&went_on), Arc::clone(&count));
        async move {
            // A thread that hears of nothing.
            tokio::spawn(async move {
                begin.notify_one();
                went_on.notified().await;
                let made = lease.transaction().await;
                let lost = made.as_ref().is_err_and(anyhow::Error::is::<LeaseLost>);
                count.fetch_add(usize::from(lost), Ordering::Relaxed);
                Ok(Completion::finished(made?, json!("late")))
            })
            .await?
        }
    });
    // It does not hear of it for as long as it takes.
    let process = Process::with_lease(&pool, slow, Duration::from_mins(10));
    let id = asked(&pool).await;
    begun.notified().await;
    // As whoever finds its heartbeat overdue does it.
    sqlx::query("DELETE FROM players").execute(&pool).await.unwrap();
    let free: (String, Option<i64>) = sqlx::query_as("SELECT state, player FROM jobs").fetch_one(&pool).await.unwrap();
    assert_eq!(free, ("running".to_owned(), None), "it is free");
    let other = Process::start(&pool, handling(async |lease| finish(&lease, json!("in time")).await));
    let done = until_it_is(&pool, id, JobState::Finished).await;
    go_on.notify_one();
    until("it has tried", async || refused.load(Ordering::Relaxed) == 1).await;
    assert_eq!((done.report, job(&pool, id).await.report), (Some(json!("in time")), Some(json!("in time"))));
    process.stopped().await;
    other.stopped().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn what_kills_every_process_is_not_tried_for_ever(pool: PgPool) {
    let id = asked(&pool).await;
    let mut db = pool.acquire().await.unwrap();
    for _ in 0..5 {
        let player = players::register_for_jobs(&mut db, "here", 1, Duration::from_secs(1)).await.unwrap();
        let claimed = jobs::claim(&mut db, player, &[JobKind::Validation], None).await.unwrap();
        assert_eq!(claimed.map(|job| job.id), Some(id));
        sqlx::query("DELETE FROM players").execute(&mut *db).await.unwrap();
    }
    drop(db);
    let worked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&worked);
    let process = Process::start(
        &pool,
        handling(move |lease| {
            count.fetch_add(1, Ordering::Relaxed);
            async move { finish(&lease, json!({})).await }
        }),
    );
    let failed = until_it_is(&pool, id, JobState::Failed).await;
    assert_eq!(failed.reason.unwrap(), "5 processes died while they worked on it; it is not tried again");
    let next = asked(&pool).await;
    until_it_is(&pool, next, JobState::Finished).await;
    assert_eq!(worked.load(Ordering::Relaxed), 1, "only the other one");
    process.stopped().await;
}

/// A database that goes away fails no job.
#[sqlx::test(migrations = "../migrations")]
async fn what_the_database_interrupts_is_done_again(pool: PgPool) {
    let tried = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&tried);
    let process = Process::start(
        &pool,
        handling(move |lease: JobLease| {
            let count = Arc::clone(&count);
            async move {
                let mut tx = lease.transaction().await?;
                if count.fetch_add(1, Ordering::Relaxed) < 2 {
                    // What it holds is gone with the connection.
                    let end = "SELECT pg_terminate_backend(pg_backend_pid())";
                    sqlx::query(end).execute(&mut *tx).await?;
                }
                Ok(Completion::finished(tx, json!({})))
            }
        }),
    );
    let id = asked(&pool).await;
    let done = until_it_is(&pool, id, JobState::Finished).await;
    assert_eq!((tried.load(Ordering::Relaxed), done.reason), (3, None));
    process.stopped().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn what_goes_wrong_is_said(pool: PgPool) {
    let tried = Arc::new(AtomicUsize::new(0));
    let process = Process::start(
        &pool,
        handling(move |_| {
            let n = tried.fetch_add(1, Ordering::Relaxed);
            async move {
                assert!(n > 0, "a fault of the program");
                anyhow::bail!("it cannot be done")
            }
        }),
    );
    for reason in ["the program failed; its log says where", "it cannot be done"] {
        let id = asked(&pool).await;
        assert_eq!(until_it_is(&pool, id, JobState::Failed).await.reason.as_deref(), Some(reason));
    }
    process.stopped().await;
}

/// Who has no handler for a kind leaves it to others, and of one kind no more is worked on at once than is said.
#[sqlx::test(migrations = "../migrations")]
async fn a_process_claims_what_it_can_do_and_no_more_at_once_than_it_says(pool: PgPool) {
    let (handlers, begun, _dropped) = endless();
    let process = Process::start(&pool, handlers);
    let (first, second) = (asked(&pool).await, asked(&pool).await);
    sqlx::query("INSERT INTO jobs (id, kind, subject, created_by, created_at) VALUES ($1, 'export', $1, '', now())")
        .bind(clock::id())
        .execute(&pool)
        .await
        .unwrap();
    begun.notified().await;
    // Longer than it takes to look again.
    tokio::time::sleep(Duration::from_millis(800)).await;
    let states: Vec<String> =
        sqlx::query_scalar("SELECT state FROM jobs ORDER BY created_at").fetch_all(&pool).await.unwrap();
    assert_eq!(states, ["running", "queued", "queued"]);
    assert!(jobs::cancel(&mut pool.acquire().await.unwrap(), first).await.unwrap());
    until_it_is(&pool, second, JobState::Running).await;
    process.stopped().await;
}
