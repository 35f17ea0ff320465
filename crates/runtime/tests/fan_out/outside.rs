//! What it costs a player that somebody outside can be asked.

use domain::api::RunState;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use crate::support::endpoint::{Act, Endpoint};
use crate::support::kind::{FanOutPlayer, Spec};
use crate::support::outside::Outside;
use crate::support::play::{check, clients, connections, options, planned, until_state};
use crate::support::until;

/// Connections that listen to somebody.
async fn listening(pool: &PgPool) -> i64 {
    let listening = "SELECT count(*) FROM pg_stat_activity
                     WHERE datname = current_database() AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()";
    sqlx::query_scalar(listening).fetch_one(pool).await.unwrap()
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_player_listens_for_answers_only_when_somebody_outside_is_asked(pool: PgPool) {
    let run = planned(&pool, &Spec::of_stand_ins(), 20).await;
    let options = runtime::Options { only: None, ..options(run, 4) };
    let player = FanOutPlayer::new(connections(&pool).await, clients(), options);
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let playing = tokio::spawn(async move { player.play(&stopping).await });
    until_state(&pool, run, RunState::Finished).await;
    until("it listens for changes of runs", async || listening(&pool).await > 0).await;
    assert_eq!(listening(&pool).await, 1, "and for nothing else");
    check(&pool, run).await;

    let endpoint = Endpoint::start(|_| Act::Answer).await;
    let _outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), 2).await;
    until_state(&pool, run, RunState::Finished).await;
    assert_eq!(listening(&pool).await, 2);
    check(&pool, run).await;
    stop.cancel();
    playing.await.unwrap().unwrap();
}
