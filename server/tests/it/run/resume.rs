//! A run that stops in the middle goes on as if it had not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::role::Role;
use futures::FutureExt;
use futures::future::{BoxFuture, pending, ready};
use generation::ConversationRun;
use generation::models::Models;
use runtime::{Executor, ModelBinding, ModelClients, Pace, Service};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use store::{events, runs};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::support::logged::Logged;
use crate::support::play::{HANDOVER, HELP, TRANSFER, hasty, planned, play_all, played, player, stories, timeless};
use crate::support::until;

/// Stands in the statement by which a player looks for what others left.
const LEFT_BEHIND: &str = "SELECT FROM claims JOIN runs ON runs.id = run_id";

const SCENARIOS: [&str; 3] = [HELP, HANDOVER, TRANSFER];

/// Lets `scripted` answer for a while, and then never again.
struct Tiring {
    answers_left: AtomicUsize,
    tired: Notify,
}

impl Tiring {
    fn after(answers: usize) -> Arc<Self> {
        Arc::new(Self { answers_left: AtomicUsize::new(answers), tired: Notify::new() })
    }
}

impl Pace for Tiring {
    fn wait(&self) -> BoxFuture<'static, ()> {
        let less = |left: usize| left.checked_sub(1);
        if self.answers_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok() {
            return ready(()).boxed();
        }
        self.tired.notify_one();
        pending().boxed()
    }
}

/// A service that answers as long as the models do.
struct TiringService(Arc<dyn Service>, Arc<Tiring>);

impl Service for TiringService {
    fn answer(
        &self,
        task: uuid::Uuid,
        message: serde_json::Value,
    ) -> BoxFuture<'static, Result<serde_json::Value, String>> {
        let (wait, answer) = (self.1.wait(), self.0.answer(task, message));
        async move {
            wait.await;
            answer.await
        }
        .boxed()
    }
}

/// In the place of all models and services of a run.
fn everywhere(pace: &Arc<Tiring>, models: &Models) -> Models {
    let binding = || ModelBinding::new("scripted".into(), Executor::Paced(Arc::clone(pace) as Arc<dyn Pace>));
    let tiring = |binding: &ModelBinding| match &binding.executor {
        Executor::Service(service) => {
            let service = TiringService(Arc::clone(service), Arc::clone(pace));
            ModelBinding::new(Arc::clone(&binding.name), Executor::Service(Arc::new(service)))
        }
        _ => binding.clone(),
    };
    Models {
        roles: Role::ALL.map(|role| (role, binding())).into(),
        panel: Vec::new(),
        sub_agents: [].into(),
        other_sub_agents: None,
        services: models.services.iter().map(|(name, service)| (name.clone(), tiring(service))).collect(),
    }
}

/// Plays until the models are tired, then drops everything, as a crash does. Whether the run was stopped so.
pub async fn stopped_after(asks: usize, mut run: ConversationRun) -> bool {
    // The connections of a process that crashed are used by nobody else.
    run.control.pool = PgPoolOptions::new().connect_with((*run.control.pool.connect_options()).clone()).await.unwrap();
    let model = Tiring::after(asks);
    run.kind.models = everywhere(&model, &run.kind.models);
    let (player, never) = (player(&Arc::new(run), 2), CancellationToken::new());
    tokio::select! {
        played = player.play(&never) => { played.unwrap(); false }
        () = model.tired.notified() => true,
    }
}

/// The run as another process finds it. Nobody waits until the lease of the one that crashed is over.
async fn resumed(pool: &PgPool, run: uuid::Uuid) -> ConversationRun {
    sqlx::query("DELETE FROM players").execute(pool).await.unwrap();
    ConversationRun::load(pool, run, &ModelClients::new(hasty())).await.unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn wherever_it_stops_the_rows_are_those_of_an_unbroken_run(pool: PgPool) {
    let unbroken = timeless(played(&pool, &SCENARIOS, 3, 5, &[]).await.as_ref()).await;
    for asks in 0.. {
        let run = planned(&pool, &SCENARIOS, 3, 5, &[]).await;
        let id = run.control.run.id;
        if !stopped_after(asks, run).await {
            assert!(asks > 20, "only {asks} places to stop at were tried");
            return;
        }
        let run = play_all(resumed(&pool, id).await, 2).await;
        assert_eq!(timeless(&run).await, unbroken, "stopped after {asks} asks");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn what_one_player_has_claimed_no_other_plays(pool: PgPool) {
    let mut first = planned(&pool, &[TRANSFER], 1, 5, &[]).await;
    let id = first.control.run.id;
    let model = Tiring::after(3);
    first.kind.models = everywhere(&model, &first.kind.models);
    let (first, never) = (player(&Arc::new(first), 1), CancellationToken::new());
    let mut playing = Box::pin(first.play(&never));
    tokio::select! {
        _ = &mut playing => unreachable!("it never ends"),
        () = model.tired.notified() => {}
    }
    let second = Arc::new(ConversationRun::load(&pool, id, &ModelClients::new(hasty())).await.unwrap());
    let stop = CancellationToken::new();
    let stopper = stop.clone();
    let logged = Logged::watch();
    let waiting = async move {
        until("the second has looked for something to play, and again", async || logged.count(LEFT_BEHIND) > 2).await;
        stopper.cancel();
    };
    let other = player(&second, 1);
    let (played, ()) = tokio::join!(other.play(&stop), waiting);
    played.unwrap();
    let summary = runs::summary(&mut pool.acquire().await.unwrap(), &second.control.run).await.unwrap();
    assert_eq!(summary.finished, 0, "it waits for the first");
    drop(playing);
    let second = play_all(resumed(&pool, id).await, 1).await;
    assert_eq!(stories(&second).await.len(), 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_was_written_before_the_stop_stays_as_it_is(pool: PgPool) {
    let run = planned(&pool, &[TRANSFER], 1, 5, &[]).await;
    let id = run.control.run.id;
    assert!(stopped_after(6, run).await);
    let run = resumed(&pool, id).await;
    let conversation = sqlx::query_scalar("SELECT id FROM tasks").fetch_one(&pool).await.unwrap();
    let mut db = pool.acquire().await.unwrap();
    let before = events::of::<domain::Event>(&mut db, conversation).await.unwrap();
    assert!(before.len() > 6);
    let run = play_all(run, 1).await;
    let after = &stories(&run).await[0].events;
    assert!(after.len() > before.len());
    assert_eq!(after[..before.len()], before);
}
