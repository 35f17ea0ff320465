//! Runs whose project or disk has no room.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::api::RunState;
use domain::storage::StorageLimits;
use generation::{ConversationRun, Player};
use runtime::{Disks, ModelClients, Options, Space};
use sqlx::PgPool;
use store::{control, projects, runs, storage};
use tokio_util::sync::CancellationToken;

use crate::support::ledger;
use crate::support::play::{HELP, hasty, planned, play_all, stories};

/// Far more than are played until somebody looks at the room that is left.
const MANY: usize = 40;
const GIB: u64 = 1 << 30;

/// Plays on the disks until the run ends or is paused: its state, and why.
async fn play(run: ConversationRun, disks: Disks) -> (RunState, Option<String>) {
    let (pool, id) = (run.control.pool.clone(), run.control.run.id);
    let poll = Duration::from_millis(20);
    let options = Options { concurrency: 1, only: Some(id), poll, drain: Duration::ZERO, disks, ..Options::default() };
    let player = Player::new(pool.clone(), ModelClients::new(hasty()), options);
    player.know(Arc::new(run));
    player.play(&CancellationToken::new()).await.unwrap();
    let mut db = pool.acquire().await.unwrap();
    let now = runs::summaries(&mut db, &[id]).await.unwrap().pop().unwrap();
    assert!(now.finished < now.planned || now.state == RunState::Finished, "it stops before its end");
    (now.state, now.paused_because)
}

async fn limit(pool: &PgPool, bytes: Option<i64>) {
    let limits = StorageLimits { bytes, ..StorageLimits::default() };
    storage::set_limits(&mut pool.acquire().await.unwrap(), projects::DEFAULT, &limits).await.unwrap();
}

async fn loaded(pool: &PgPool, run: uuid::Uuid) -> ConversationRun {
    ConversationRun::load(pool, run, &ModelClients::new(hasty())).await.unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_pauses_at_the_limit_of_its_project_and_ends_once_it_is_raised(pool: PgPool) {
    let run = planned(&pool, &[HELP], MANY, 1, &[]).await;
    let id = run.control.run.id;
    limit(&pool, Some(20_000)).await;
    let (state, because) = play(run, Disks::default()).await;
    let because = because.unwrap();
    assert_eq!(state, RunState::Paused, "{because}");
    assert!(
        because.starts_with("the project uses ") && because.contains(" of the 19.5 KiB that it may store"),
        "{because}"
    );

    let mut db = pool.acquire().await.unwrap();
    let refused = generation::run::resume(&mut db, id).await.unwrap_err().to_string();
    // What was in play when it was paused has ended since, and takes room.
    assert!(refused.contains(" of the 19.5 KiB that it may store"), "it would be paused again at once: {refused}");
    limit(&pool, None).await;
    generation::run::resume(&mut db, id).await.unwrap();
    let run = play_all(loaded(&pool, id).await, 4).await;
    ledger::check(&pool, id).await;

    let events: Vec<_> = stories(&run).await.into_iter().flat_map(|story| story.events).collect();
    let texts: usize = events.iter().map(|event| serde_json::to_string(event).unwrap().len()).sum();
    let used = storage::of_project(&mut db, projects::DEFAULT).await.unwrap().used;
    assert_eq!(used.runs, i64::try_from(texts + 90 * events.len()).unwrap(), "no event is forgotten or counted twice");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_pauses_while_the_disk_is_full(pool: PgPool) {
    let run = planned(&pool, &[HELP], MANY, 1, &[]).await;
    let id = run.control.run.id;
    let full = |_: &Path| Some(Space { size: 100 * GIB, free: 4 * GIB });
    let (state, because) = play(run, Disks { folders: vec!["/data".into()], space: full }).await;
    let told = "the disk of /data has 4.0 GiB free, and at least 5.0 GiB are needed; make room there";
    assert_eq!((state, because.as_deref()), (RunState::Paused, Some(told)));

    control::resume(&mut pool.acquire().await.unwrap(), id).await.unwrap();
    let emptied = |_: &Path| Some(Space { size: 100 * GIB, free: 5 * GIB });
    let (state, because) = play(loaded(&pool, id).await, Disks { folders: vec!["/data".into()], space: emptied }).await;
    assert_eq!((state, because), (RunState::Finished, None));
    ledger::check(&pool, id).await;
}
