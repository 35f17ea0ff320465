//! Runs of the made-up kind, played and looked at.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::api::{RunState, RunSummary};
use llm::EndpointOptions;
use runtime::{ModelClients, Options, RunKind};
use serde_json::json;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use store::runs::{self, Run};
use store::{clock, events, ledger, projects};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::kind::{FanOut, FanOutPlayer, Spec};
use super::task::{Event, EventKind, Row, Step, heading};
use super::{BOUND, until};

pub const SEED: i64 = 7;
pub const KINDS: [&str; 1] = [FanOut::NAME];
/// After how long a silence others take over.
pub const LEASE: Duration = Duration::from_secs(5);

/// A run that is stored and not played yet.
pub async fn planned(pool: &PgPool, spec: &Spec, tasks: i32) -> Uuid {
    let mut db = pool.acquire().await.unwrap();
    runs::insert_library(&mut db, "none", &json!({}), clock::now()).await.unwrap();
    let run = Run {
        id: clock::id(),
        project: projects::DEFAULT,
        library: "none".to_owned(),
        kind: FanOut::NAME.to_owned(),
        playbook: "none".to_owned(),
        seed: SEED,
        spec: json!(spec),
        planned: tasks,
        priority: 0,
        max_in_flight: None,
        budget: domain::budget::Budget::default(),
        created_at: clock::now(),
        played_seconds: None,
        judging: None,
    };
    runs::insert(&mut db, &run, None).await.unwrap();
    run.id
}

/// As in life, but for waits.
pub fn clients() -> ModelClients {
    let ms = Duration::from_millis;
    ModelClients::new(EndpointOptions {
        max_attempts: 3,
        backoff: ms(1),
        max_retry_after: ms(5),
        patience: ms(50),
        ..EndpointOptions::default()
    })
}

pub fn options(run: Uuid, concurrency: usize) -> Options {
    Options {
        concurrency,
        only: Some(run),
        lease: LEASE,
        poll: Duration::from_millis(100),
        drain: Duration::ZERO,
        ..Options::default()
    }
}

/// Connections as another process has them.
pub async fn connections(pool: &PgPool) -> PgPool {
    PgPoolOptions::new().max_connections(8).connect_with((*pool.connect_options()).clone()).await.unwrap()
}

/// A player of this run alone, with connections of its own.
pub async fn player(pool: &PgPool, run: Uuid, concurrency: usize) -> FanOutPlayer {
    FanOutPlayer::new(connections(pool).await, clients(), options(run, concurrency))
}

/// Begins to play a run until it comes to an end or to a pause.
pub async fn start(pool: &PgPool, run: Uuid, concurrency: usize) -> JoinHandle<anyhow::Result<()>> {
    let player = player(pool, run, concurrency).await;
    tokio::spawn(async move { player.play(&CancellationToken::new()).await })
}

/// Waits until a player stops by itself.
pub async fn stopped(playing: JoinHandle<anyhow::Result<()>>) {
    tokio::time::timeout(BOUND, playing).await.expect("the player stops by itself").unwrap().unwrap();
}

/// Plays a run until it comes to an end or to a pause.
pub async fn play(pool: &PgPool, run: Uuid, concurrency: usize) {
    stopped(start(pool, run, concurrency).await).await;
}

pub async fn get(pool: &PgPool, run: Uuid) -> Run {
    runs::get(&mut pool.acquire().await.unwrap(), run).await.unwrap().unwrap()
}

pub async fn summary(pool: &PgPool, run: Uuid) -> RunSummary {
    let run = get(pool, run).await;
    runs::summary(&mut pool.acquire().await.unwrap(), &run).await.unwrap()
}

pub async fn until_state(pool: &PgPool, run: Uuid, state: RunState) {
    until(&format!("the run is {state:?}"), async || summary(pool, run).await.state == state).await;
}

/// One attempt, with its events.
pub struct Attempt {
    pub id: Uuid,
    pub position: i32,
    /// From 1.
    pub number: i32,
    pub superseded: bool,
    pub keep_through: Option<i32>,
    pub events: Vec<Event>,
}

impl Attempt {
    /// The steps that were answered, in the order of the answers.
    pub fn answered(&self) -> Vec<Step> {
        let step = |event: &Event| match event.kind {
            EventKind::Answered { step, .. } => Some(step),
            _ => None,
        };
        self.events.iter().filter_map(step).collect()
    }

    pub fn row(&self) -> Option<&Row> {
        match &self.events.last()?.kind {
            EventKind::Finished { row } => row.as_ref(),
            _ => None,
        }
    }
}

/// All attempts of a run that have begun, by position.
pub async fn attempts(pool: &PgPool, run: Uuid) -> Vec<Attempt> {
    let rows: Vec<(Uuid, i32, i32, bool, Option<i32>)> = sqlx::query_as(
        "SELECT id, position, attempt, superseded, keep_through FROM tasks WHERE run_id = $1 ORDER BY position, attempt",
    )
    .bind(run)
    .fetch_all(pool)
    .await
    .unwrap();
    let mut db = pool.acquire().await.unwrap();
    let mut all = Vec::new();
    for (id, position, number, superseded, keep_through) in rows {
        let events = events::of(&mut db, id).await.unwrap();
        all.push(Attempt { id, position, number, superseded, keep_through, events });
    }
    all
}

/// The headings of what models answered and the journal kept.
pub async fn kept(pool: &PgPool, run: Uuid) -> BTreeSet<String> {
    let mut kept = BTreeSet::new();
    for attempt in attempts(pool, run).await {
        let steps = attempt.answered().into_iter().filter(|step| !matches!(step, Step::Agent | Step::Job));
        kept.extend(steps.map(|step| heading(step, attempt.position)));
    }
    kept
}

/// Nothing is lost and nothing doubled.
pub async fn check_ledger(pool: &PgPool, run: Uuid) {
    let broken = ledger::broken(&mut pool.acquire().await.unwrap(), run).await.unwrap();
    assert!(broken.is_empty(), "{broken:?}");
}

/// The run has ended, all of it was accepted, and each task came to what it must come to.
pub async fn check(pool: &PgPool, run: Uuid) {
    check_ledger(pool, run).await;
    let (stored, summary) = (get(pool, run).await, summary(pool, run).await);
    let planned = i64::from(stored.planned);
    assert_eq!((summary.finished, summary.accepted), (planned, planned), "{:?}", summary.failures);
    let spec: Spec = serde_json::from_value(stored.spec).unwrap();
    for attempt in attempts(pool, run).await.iter().filter(|attempt| !attempt.superseded) {
        let expected = FanOut::expected(&spec, stored.seed, attempt.position);
        assert_eq!(attempt.row(), Some(&expected), "task {}", attempt.position);
    }
}

/// The replies that were counted as used, whoever gave them.
pub async fn counted(pool: &PgPool, run: Uuid) -> usize {
    let calls: i64 = summary(pool, run).await.usage.iter().map(|usage| usage.calls).sum();
    usize::try_from(calls).unwrap()
}
