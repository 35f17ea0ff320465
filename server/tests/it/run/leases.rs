//! Who is taken to be alive, and how what the others held becomes free.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::role::Role;
use generation::Player;
use llm::PoolSpec;
use runtime::ModelClients;
use runtime::Options;
use sqlx::{Connection, PgConnection, PgPool};
use store::{claims, players};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::support::endpoint::Endpoint;
use crate::support::play::{HELP, LEASE, hasty, heard, listeners, planned, planned_as, player, wanted};
use crate::support::{agent, database_url, until};

async fn known(pool: &PgPool) -> Vec<i64> {
    sqlx::query_scalar("SELECT id FROM players ORDER BY id").fetch_all(pool).await.unwrap()
}

/// When a player said that it lives. It must be known.
async fn last_beat(pool: &PgPool, player: i64) -> DateTime<Utc> {
    let beat = sqlx::query_scalar("SELECT heartbeat_at FROM players WHERE id = $1").bind(player);
    beat.fetch_optional(pool).await.unwrap().unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn each_player_has_the_lease_that_it_named(pool: PgPool) {
    let mut db = pool.acquire().await.unwrap();
    let patient = players::register(&mut db, "a", 1, Duration::from_mins(2)).await.unwrap();
    let hasty = players::register(&mut db, "b", 2, Duration::from_millis(100)).await.unwrap();
    until("one is overdue", async || players::give_up_overdue(&mut db).await.unwrap() == 1).await;
    assert_eq!(known(&pool).await, [patient], "and not {hasty}");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_player_that_froze_in_the_middle_of_a_commit_holds_nobody_up(pool: PgPool) {
    let mut db = pool.acquire().await.unwrap();
    let frozen = players::register(&mut db, "frozen", 1, Duration::from_millis(50)).await.unwrap();
    planned(&pool, &[HELP], 4, 1, &[]).await;
    claims::claim(&mut db, frozen, &wanted(4)).await.unwrap().unwrap();
    // Its connection, in the middle of a COPY that gets no more data.
    let mut its = PgConnection::connect(&database_url(&pool)).await.unwrap();
    players::own(&mut its, frozen).await.unwrap();
    let mut tx = its.begin().await.unwrap();
    assert!(players::hold(&mut tx, frozen).await.unwrap());
    let copying = tx.copy_in_raw("COPY usage (role) FROM STDIN").await.unwrap();

    let give_up = async {
        while known(&pool).await == [frozen] {
            players::give_up_overdue(&mut db).await.unwrap();
        }
    };
    timeout(Duration::from_secs(10), give_up).await.expect("it is given up");
    let other = players::register(&mut db, "there", 2, LEASE).await.unwrap();
    let taken = claims::claim(&mut db, other, &wanted(4)).await.unwrap().unwrap();
    assert!(taken.left_behind, "others go on with what it had claimed");
    assert!(copying.finish().await.is_err(), "what it had begun is not kept");
}

/// However many conversations say something at the same time: a transaction for each would be a wait for the disk for each.
#[sqlx::test(migrations = "../migrations")]
async fn steps_of_many_conversations_are_kept_together(pool: PgPool) {
    const MANY: usize = 100;
    let endpoint = Endpoint::start_held(Duration::ZERO, agent::help).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let run = planned_as(&pool, &[HELP], MANY, 1, &[(Role::Agent, "house".to_owned())], |config| {
        config.pools = vec![PoolSpec { start_in_flight: 100, ..PoolSpec::new("house", vec![url]) }];
    })
    .await;
    let run = Arc::new(run);
    let (player, stop) = (player(&run, MANY), CancellationToken::new());
    let waiting = async {
        until("all have said something", async || endpoint.requests().len() == MANY).await;
        let transactions = "SELECT count(DISTINCT xmin::text) FROM events";
        let transactions: i64 = sqlx::query_scalar(transactions).fetch_one(&pool).await.unwrap();
        stop.cancel();
        transactions
    };
    let (played, transactions) = tokio::join!(player.play(&stop), waiting);
    played.unwrap();
    assert!(transactions <= 25, "{MANY} conversations took {transactions} transactions");
}

/// Players that have lost their ear hear again.
#[sqlx::test(migrations = "../migrations")]
async fn a_player_whose_listener_was_cut_off_listens_again(pool: PgPool) {
    let options =
        Options { concurrency: 4, poll: Duration::from_hours(1), drain: Duration::ZERO, ..Options::default() };
    let (player, stop) = (Player::new(pool.clone(), ModelClients::new(hasty()), options), CancellationToken::new());
    let ordering = async {
        until("it listens", async || listeners(&pool).await.len() == 1).await;
        let first = listeners(&pool).await[0];
        sqlx::query("SELECT pg_terminate_backend($1)").bind(first).execute(&pool).await.unwrap();
        until("it listens again", async || listeners(&pool).await.iter().any(|pid| *pid != first)).await;
        let run = planned(&pool, &[HELP], 4, 1, &[]).await;
        until("the run is played", async || {
            let ended = "SELECT count(*) FROM tasks WHERE run_id = $1 AND outcome IS NOT NULL";
            sqlx::query_scalar::<_, i64>(ended).bind(run.control.run.id).fetch_one(&pool).await.unwrap() == 4
        })
        .await;
        stop.cancel();
    };
    let (played, ()) = tokio::join!(player.play(&stop), ordering);
    played.unwrap();
}

/// Pages and exports may use all other connections.
#[sqlx::test(migrations = "../migrations")]
async fn a_player_says_that_it_lives_though_every_connection_is_taken(pool: PgPool) {
    let endpoint = Endpoint::start_slow(Duration::from_secs(2), agent::help).await;
    let run = planned(&pool, &[HELP], 1, 1, &[(Role::Agent, endpoint.model())]).await;
    let small = sqlx::postgres::PgPoolOptions::new().max_connections(4);
    let small = small.connect_with((*pool.connect_options()).clone()).await.unwrap();
    let options = |lease| Options { lease, poll: Duration::from_hours(1), drain: Duration::ZERO, ..Options::default() };
    let player = Player::new(small.clone(), ModelClients::new(hasty()), options(Duration::from_millis(500)));
    let idle = Player::new(pool.clone(), ModelClients::new(hasty()), Options { concurrency: 1, ..options(LEASE) });
    let stop = CancellationToken::new();
    let watching = async {
        until("a model is asked", async || !endpoint.requests().is_empty()).await;
        let mine: Vec<i64> = known(&pool).await;
        // Its listener and its writers have the rest.
        let taken = [small.try_acquire(), small.try_acquire(), small.try_acquire(), small.try_acquire()];
        let rival = async { idle.play(&stop).await };
        let waiting = async {
            let begun = last_beat(&pool, mine[0]).await;
            until("it has said so for longer than its lease", async || {
                last_beat(&pool, mine[0]).await - begun > TimeDelta::milliseconds(1_500)
            })
            .await;
            drop(taken);
            until("the conversation has ended", async || {
                let ended = "SELECT count(*) FROM tasks WHERE outcome IS NOT NULL";
                sqlx::query_scalar::<_, i64>(ended).fetch_one(&pool).await.unwrap() == 1
            })
            .await;
            stop.cancel();
        };
        let (played, ()) = tokio::join!(rival, waiting);
        played.unwrap();
    };
    let (played, ()) = tokio::join!(player.play(&stop), watching);
    played.unwrap();
    assert_eq!(endpoint.requests().len(), heard(&run).await, "no call was made twice");
}

/// Claims of one position each are taken many at a time, without the run's row; whoever comes at that moment must not take
/// one of them over.
#[sqlx::test(migrations = "../migrations")]
async fn a_claim_that_another_player_takes_at_that_moment_is_left_to_it(pool: PgPool) {
    let run = planned(&pool, &[HELP], 4, 1, &[]).await.control.run.id;
    sqlx::raw_sql(
        "UPDATE runs SET next_position = planned;
         INSERT INTO claims (run_id, first_position, last_position)
         SELECT id, position, position FROM runs, generate_series(0, 3) AS position",
    )
    .execute(&pool)
    .await
    .unwrap();
    let mut db = pool.acquire().await.unwrap();
    let first = players::register(&mut db, "first", 1, LEASE).await.unwrap();
    let second = players::register(&mut db, "second", 2, LEASE).await.unwrap();

    let mut tx = db.begin().await.unwrap();
    let taken = claims::claim_single_positions(&mut tx, first, run, 3).await.unwrap();
    assert_eq!(taken.len(), 3);
    let other = async { claims::claim(&mut pool.acquire().await.unwrap(), second, &wanted(4)).await.unwrap() };
    let commit = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        tx.commit().await.unwrap();
    };
    let (other, ()) = tokio::join!(other, commit);
    let other = other.expect("one is left");
    assert!(taken.iter().all(|claim| claim.first_position != other.first_position), "{taken:?} {other:?}");
    let held = "SELECT count(*) FROM claims WHERE player = $1";
    let held: i64 = sqlx::query_scalar(held).bind(first).fetch_one(&pool).await.unwrap();
    assert_eq!(held, 3, "it keeps what it took");
}

#[sqlx::test(migrations = "../migrations")]
async fn claims_of_one_position_are_taken_together_and_first(pool: PgPool) {
    planned(&pool, &[HELP], 12, 1, &[]).await;
    sqlx::raw_sql(
        "UPDATE runs SET next_position = 10;
         INSERT INTO claims (run_id, first_position, last_position)
         SELECT id, low, high FROM runs, (VALUES (0, 3), (4, 4), (5, 5), (6, 6), (7, 9)) AS behind (low, high)",
    )
    .execute(&pool)
    .await
    .unwrap();
    let mut db = pool.acquire().await.unwrap();
    let player = players::register(&mut db, "here", 1, LEASE).await.unwrap();
    let mut taken = Vec::new();
    loop {
        let mut some = claims::claim_some(&mut db, player, &wanted(2)).await.unwrap();
        if some.is_empty() {
            break;
        }
        some.sort_by_key(|claim| claim.first_position);
        taken.push(some.iter().map(|claim| (claim.first_position, claim.last_position)).collect::<Vec<_>>());
    }
    let expected = [
        vec![(4, 4), (5, 5)],
        vec![(6, 6)],
        vec![(0, 1)],
        vec![(2, 3)],
        vec![(7, 8)],
        // What was left of it is one position now.
        vec![(9, 9)],
        vec![(10, 11)],
    ];
    assert_eq!(taken, expected);
}

#[sqlx::test(migrations = "../migrations")]
async fn claims_of_one_position_are_taken_as_far_as_there_is_room(pool: PgPool) {
    planned(&pool, &[HELP], 4, 1, &[]).await;
    sqlx::raw_sql(
        "UPDATE runs SET next_position = planned, max_in_flight = 2;
         INSERT INTO claims (run_id, first_position, last_position)
         SELECT id, position, position FROM runs, generate_series(0, 3) AS position",
    )
    .execute(&pool)
    .await
    .unwrap();
    let mut db = pool.acquire().await.unwrap();
    let player = players::register(&mut db, "here", 1, LEASE).await.unwrap();
    let mut taken = 0;
    while let [claim] = claims::claim_some(&mut db, player, &wanted(4)).await.unwrap().as_slice() {
        assert_eq!(claim.first_position, taken);
        taken += 1;
    }
    assert_eq!(taken, 2);
}
