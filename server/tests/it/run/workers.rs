//! Runs whose model workers serve that come, hang, fall silent and go.

use std::sync::Arc;
use std::time::Duration;

use domain::api::workers::{Engine, WorkerBeat, WorkerJoin, WorkerLoad, WorkerState};
use domain::outcome::Outcome;
use domain::role::Role;
use generation::ConversationRun;
use generation::Player;
use llm::{EndpointOptions, PoolSpec};
use runtime::ModelClients;
use runtime::Options;
use runtime::follow;
use server::people;
use sqlx::PgPool;
use store::clock;
use store::join_tokens::{self, JoinToken};
use store::workers::{self, JoinOutcome};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::agent;
use crate::support::endpoint::Endpoint;
use crate::support::logged::Logged;
use crate::support::play::{HELP, planned_as, stories};

/// The statement that asks which workers serve.
const SERVING: &str = "FROM workers WHERE state IN ('ready', 'draining')";

const FOR_EVER: Duration = Duration::from_hours(1);

/// Workers that join with one token, as the API takes them in.
struct Workers {
    pool: PgPool,
    token: uuid::Uuid,
}

impl Workers {
    async fn of(pool: &PgPool) -> Self {
        let now = clock::now();
        let (name, expires_at) = ("test".to_owned(), now + people::JOIN_TOKEN_LIFE);
        let token = JoinToken { id: clock::id(), name, created_by: String::new(), created_at: now, expires_at };
        join_tokens::insert(&mut pool.acquire().await.unwrap(), &token, b"hash").await.unwrap();
        Self { pool: pool.clone(), token: token.id }
    }

    async fn join(&self, name: &str, endpoint: &Endpoint) -> i64 {
        self.join_with(name, endpoint, None).await
    }

    async fn join_with(&self, name: &str, endpoint: &Endpoint, max_in_flight: Option<u32>) -> i64 {
        let url = endpoint.model().split_once('@').unwrap().1.to_owned();
        let engine = Engine::External;
        let (name, model) = (name.to_owned(), "qwen".to_owned());
        let new = WorkerJoin { name, model, served_as: None, url, engine, max_in_flight, key_env: None };
        let mut db = self.pool.acquire().await.unwrap();
        let JoinOutcome::As(id) = workers::join(&mut db, self.token, &new).await.unwrap() else { panic!("taken") };
        drop(db);
        self.beat(id, WorkerState::Ready).await;
        id
    }

    async fn beat(&self, id: i64, state: WorkerState) {
        let beat = WorkerBeat { state, detail: None, load: WorkerLoad::default(), gpus: Vec::new(), restarts: 0 };
        workers::beat(&mut self.pool.acquire().await.unwrap(), self.token, id, &beat).await.unwrap().unwrap();
    }

    /// All of them have been silent for longer than is borne.
    async fn silence(&self) {
        let back = "UPDATE workers SET heartbeat_at = now() - interval '8 seconds'";
        sqlx::query(back).execute(&self.pool).await.unwrap();
    }
}

/// A run of so many conversations, which is being played.
async fn playing(pool: &PgPool, n: usize) -> (Arc<ConversationRun>, JoinHandle<()>) {
    playing_by(pool, n, ModelClients::new(EndpointOptions::default())).await
}

async fn playing_by(pool: &PgPool, n: usize, clients: ModelClients) -> (Arc<ConversationRun>, JoinHandle<()>) {
    let models = [(Role::Agent, "qwen".to_owned())];
    let run =
        planned_as(pool, &[HELP], n, 1, &models, |config| config.pools = vec![PoolSpec::of_workers("qwen")]).await;
    let options = Options { concurrency: n, only: Some(run.control.run.id), ..Options::default() };
    let pool = pool.clone();
    let played = tokio::spawn(async move {
        let _following = follow(&pool, &clients);
        Player::new(pool, clients, options).play(&CancellationToken::new()).await.unwrap();
    });
    (Arc::new(run), played)
}

async fn until(what: &str, reached: impl Fn() -> bool) {
    for _ in 0..3000 {
        if reached() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}

/// Every conversation was accepted, and none was played again.
async fn assert_nothing_failed(run: &Arc<ConversationRun>, n: usize) {
    let stories = stories(run).await;
    assert_eq!(stories.len(), n);
    for story in stories {
        assert_eq!(story.outcome, Outcome::Accepted, "{:?}", story.events.last());
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_waits_for_its_first_worker(pool: PgPool) {
    let endpoint = Endpoint::start(agent::help).await;
    let clients = ModelClients::new(EndpointOptions::default());
    let (run, played) = playing_by(&pool, 3, clients.clone()).await;
    until("all wait in line", || clients.statuses().iter().any(|status| status.waiting == 3)).await;
    Workers::of(&pool).await.join("a", &endpoint).await;
    played.await.unwrap();
    assert_nothing_failed(&run, 3).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn what_a_worker_with_a_hanging_engine_was_asked_another_answers(pool: PgPool) {
    let (hanging, well) = (Endpoint::start_slow(FOR_EVER, agent::help).await, Endpoint::start(agent::help).await);
    let workers = Workers::of(&pool).await;
    let hung = workers.join("hung", &hanging).await;
    let (run, played) = playing(&pool, 8).await;
    until("all are asked", || hanging.requests().len() == 8).await;
    workers.join("well", &well).await;
    // The worker itself finds that its engine does not answer.
    workers.beat(hung, WorkerState::Unhealthy).await;
    played.await.unwrap();
    assert_nothing_failed(&run, 8).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn what_a_worker_that_died_was_asked_another_answers(pool: PgPool) {
    let (hanging, well) = (Endpoint::start_slow(FOR_EVER, agent::help).await, Endpoint::start(agent::help).await);
    let workers = Workers::of(&pool).await;
    workers.join("dead", &hanging).await;
    let (run, played) = playing(&pool, 8).await;
    until("all are asked", || hanging.requests().len() == 8).await;
    workers.silence().await;
    let logged = Logged::watch();
    // While nobody else is there, those who wait go on waiting: it may be the server that was away.
    until("the player knows of the silence", || logged.count(SERVING) > 1).await;
    assert!(!played.is_finished());
    workers.join("well", &well).await;
    played.await.unwrap();
    assert_nothing_failed(&run, 8).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn workers_that_nobody_hears_of_are_asked_on(pool: PgPool) {
    let slow = Endpoint::start_slow(Duration::from_millis(100), agent::help).await;
    let workers = Workers::of(&pool).await;
    workers.join("a", &slow).await;
    workers.silence().await;
    let (run, played) = playing(&pool, 4).await;
    played.await.unwrap();
    assert_nothing_failed(&run, 4).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_worker_that_drains_loses_nothing(pool: PgPool) {
    let held = Endpoint::start_held(Duration::ZERO, agent::help).await;
    let other = Endpoint::start(agent::help).await;
    let workers = Workers::of(&pool).await;
    let first = workers.join_with("first", &held, Some(4)).await;
    let (run, played) = playing(&pool, 8).await;
    until("it is asked as much as it takes", || held.requests().len() == 4).await;
    workers.beat(first, WorkerState::Draining).await;
    workers.join("second", &other).await;
    // Who sees the second knows that the first leaves: what waited goes there.
    until("the other is asked", || !other.requests().is_empty()).await;
    held.release();
    played.await.unwrap();
    assert_nothing_failed(&run, 8).await;
    assert_eq!(held.requests().len(), 4, "it ended what it had begun, and got nothing new");
}
