//! A run that stops in the middle goes on as if it had not.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::role::Role;
use engine::{Ask, ChatReply, Conversation};
use futures::FutureExt;
use futures::future::{BoxFuture, pending};
use llm::{ChatModel, ModelError, Scripted};
use server::jobs::play::Player;
use server::jobs::run::{self, Models};
use server::store::events;
use sqlx::PgPool;
use tokio::sync::Notify;

use crate::support::play::{HANDOVER, HELP, TRANSFER, hasty, planned, played, stories, timeless};

const SCENARIOS: [&str; 3] = [HELP, HANDOVER, TRANSFER];

/// Plays from the script for a while, and then never answers again.
struct Tiring {
    asks_left: AtomicUsize,
    tired: Notify,
}

impl ChatModel for Tiring {
    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        conversation: &'a Conversation,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let less = |left: usize| left.checked_sub(1);
        if self.asks_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok() {
            return Scripted.complete(ask, conversation);
        }
        self.tired.notify_one();
        pending().boxed()
    }
}

fn everywhere(model: &Arc<Tiring>) -> Models {
    let roles = Role::ALL.map(|role| (role, Arc::clone(model) as Arc<dyn ChatModel>)).into();
    Models { roles, panel: Vec::new(), sub_agents: BTreeMap::new() }
}

/// Plays until the models are tired, then drops everything, as Ctrl-C does. Whether the run was stopped so.
async fn stopped_after(asks: usize, mut player: Player) -> bool {
    let model = Arc::new(Tiring { asks_left: AtomicUsize::new(asks), tired: Notify::new() });
    player.models = everywhere(&model);
    tokio::select! {
        played = run::play_all(&player, 2, |_| {}) => { played.unwrap(); false }
        () = model.tired.notified() => true,
    }
}

/// The run as another process finds it.
async fn resumed(pool: &PgPool, run: uuid::Uuid) -> Player {
    let (run, config, library) = run::load(pool, run).await.unwrap();
    let models = run::models(&config, &hasty()).unwrap();
    Player { pool: pool.clone(), library: Arc::new(library), run, config, models }
}

#[sqlx::test(migrations = "../migrations")]
async fn wherever_it_stops_the_rows_are_those_of_an_unbroken_run(pool: PgPool) {
    let unbroken = timeless(&played(&pool, &SCENARIOS, 3, 5, &[]).await).await;
    for asks in 0.. {
        let player = planned(&pool, &SCENARIOS, 3, 5, &[]).await;
        let run = player.run.id;
        if !stopped_after(asks, player).await {
            assert!(asks > 20, "only {asks} places to stop at were tried");
            return;
        }
        let player = resumed(&pool, run).await;
        run::play_all(&player, 2, |_| {}).await.unwrap();
        assert_eq!(timeless(&player).await, unbroken, "stopped after {asks} asks");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_is_played_by_one_process_at_a_time(pool: PgPool) {
    let mut first = planned(&pool, &[TRANSFER], 1, 5, &[]).await;
    let run = first.run.id;
    let model = Arc::new(Tiring { asks_left: AtomicUsize::new(3), tired: Notify::new() });
    first.models = everywhere(&model);
    let mut playing = Box::pin(run::play_all(&first, 1, |_| {}));
    tokio::select! {
        _ = &mut playing => unreachable!("it never ends"),
        () = model.tired.notified() => {}
    }
    let second = resumed(&pool, run).await;
    let refused = run::play_all(&second, 1, |_| {}).await.unwrap_err().to_string();
    assert_eq!(refused, format!("another process plays run {run} already"));
    drop(playing);
    run::play_all(&second, 1, |_| {}).await.unwrap();
    assert_eq!(stories(&second).await.len(), 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_was_written_before_the_stop_stays_as_it_is(pool: PgPool) {
    let player = planned(&pool, &[TRANSFER], 1, 5, &[]).await;
    let run = player.run.id;
    assert!(stopped_after(6, player).await);
    let player = resumed(&pool, run).await;
    let conversation = sqlx::query_scalar("SELECT id FROM conversations").fetch_one(&pool).await.unwrap();
    let mut db = pool.acquire().await.unwrap();
    let before = events::of(&mut db, conversation).await.unwrap();
    assert!(before.len() > 6);
    run::play_all(&player, 1, |_| {}).await.unwrap();
    let after = &stories(&player).await[0].events;
    assert!(after.len() > before.len());
    assert_eq!(after[..before.len()], before);
}
