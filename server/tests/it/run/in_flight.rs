//! How many conversations of a run are played at once, where that is bounded.

use std::time::Duration;

use domain::role::Role;
use futures::future::join_all;
use generation::ConversationRun;
use sqlx::PgPool;
use store::{claims, players, runs};
use tokio_util::sync::CancellationToken;

use crate::support::endpoint::Endpoint;
use crate::support::play::{HELP, LEASE, elsewhere, planned, player, wanted};
use crate::support::{agent, ledger, until};

const MOST: usize = 4;
const CONVERSATIONS: usize = 24;

/// A run of which so many are played at once.
async fn bounded(pool: &PgPool, endpoint: &Endpoint) -> ConversationRun {
    let run = planned(pool, &[HELP], CONVERSATIONS, 1, &[(Role::Agent, endpoint.model())]).await;
    let most = i32::try_from(MOST).unwrap();
    sqlx::query("UPDATE runs SET max_in_flight = $1").bind(most).execute(pool).await.unwrap();
    run
}

#[sqlx::test(migrations = "../migrations")]
async fn what_has_ended_makes_room_though_others_of_its_claim_are_still_played(pool: PgPool) {
    // Each conversation asks at least twice, one thing after another: what is in flight is what is played.
    let endpoint = Endpoint::start_held(Duration::ZERO, agent::help).await;
    let run = bounded(&pool, &endpoint).await;
    let players = [player(&elsewhere(&run).await, 8), player(&elsewhere(&run).await, 8)];
    let never = CancellationToken::new();
    let playing = join_all(players.iter().map(|player| player.play(&never)));
    let watching = async {
        let asked = async |n: usize| endpoint.requests().len() == n;
        until("as many are played as may be", async || asked(MOST).await).await;
        // The very first is answered at last only. All others that began with it come to their end.
        for answered in [4, 8, 16] {
            endpoint.answer_only(1..1 + answered);
            until("as many are played again", async || asked(answered + MOST).await).await;
        }
        endpoint.answer_only(1..usize::MAX);
        let finished =
            async || runs::summary(&mut pool.acquire().await.unwrap(), &run.control.run).await.unwrap().finished;
        let others = i64::try_from(CONVERSATIONS - 1).unwrap();
        until("all others have ended", async || finished().await == others).await;
        endpoint.release();
    };
    let (played, ()) = tokio::join!(playing, watching);
    assert!(played.iter().all(Result::is_ok), "{played:?}");
    assert_eq!(endpoint.most_at_once(), MOST);
    ledger::check(&pool, run.control.run.id).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn players_that_take_up_what_was_left_at_once_do_not_take_too_much(pool: PgPool) {
    let endpoint = Endpoint::start_held(Duration::ZERO, agent::help).await;
    let run = bounded(&pool, &endpoint).await;
    let mut db = pool.acquire().await.unwrap();
    // Somebody went who had claims of two positions each.
    sqlx::query(
        "WITH begun AS (UPDATE runs SET next_position = planned RETURNING id)
         INSERT INTO claims (run_id, first_position, last_position)
         SELECT id, first, first + 1 FROM begun, generate_series(0, $1, 2) AS first",
    )
    .bind(i32::try_from(CONVERSATIONS - 1).unwrap())
    .execute(&mut *db)
    .await
    .unwrap();
    let mut ids = Vec::new();
    for pid in 0..8 {
        ids.push(players::register(&mut db, "here", pid, LEASE).await.unwrap());
    }
    let claim =
        async |player: i64| claims::claim(&mut pool.acquire().await.unwrap(), player, &wanted(64)).await.unwrap();
    let claims = join_all(ids.iter().map(|player| claim(*player))).await;
    let taken: usize = claims.iter().flatten().map(|claim| claim.positions().count()).sum();
    assert_eq!(taken, MOST, "{claims:?}");
    assert!(claims.iter().flatten().all(|claim| claim.left_behind && claim.run_id == run.control.run.id));
}
