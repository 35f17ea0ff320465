//! Tasks whose players die again and again: played alone, and ended at last.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::api::RunState;
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use rustix::process::{Pid, Signal, kill_process};
use sqlx::PgPool;
use store::claims::{self, ClaimRequest, QuarantinePolicy};
use store::players;
use store::runs;
use tokio::process::Child;

use crate::support::endpoint::Endpoint;
use crate::support::play::{HELP, LEASE, planned, play_all, stories, taken_up, wanted};
use crate::support::process::{play, terminate};
use crate::support::{agent, ledger, until};

/// Deaths of claims that nobody holds, by their positions.
async fn left(pool: &PgPool) -> Vec<(i32, i32, i16)> {
    sqlx::query_as(
        "SELECT first_position, last_position, deaths FROM claims WHERE player IS NULL ORDER BY first_position",
    )
    .fetch_all(pool)
    .await
    .unwrap()
}

async fn pids(pool: &PgPool) -> BTreeSet<i32> {
    let all = players::list(&mut pool.acquire().await.unwrap()).await.unwrap();
    all.into_iter().map(|player| player.pid).collect()
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

#[sqlx::test(migrations = "../migrations")]
async fn deaths_are_counted_and_departures_are_not(pool: PgPool) {
    planned(&pool, &[HELP], 8, 1, &[]).await;
    let mut db = pool.acquire().await.unwrap();
    let claim = async |pid| {
        let mut db = pool.acquire().await.unwrap();
        let player = players::register(&mut db, "here", pid, LEASE).await.unwrap();
        let claim = claims::claim(&mut db, player, &wanted(4)).await.unwrap();
        (player, claim.map(|claim| (claim.positions(), claim.deaths)))
    };
    let (leaves, held) = claim(1).await;
    assert_eq!(held, Some((0..=3, 0)));
    players::leave(&mut db, leaves).await.unwrap();
    assert_eq!(left(&pool).await, [(0, 3, 0)], "one that left in order has not died");

    let (_, held) = claim(2).await;
    assert_eq!(held, Some((0..=3, 0)));
    assert_eq!(players::died(&mut db, "elsewhere", 2).await.unwrap(), 0);
    assert_eq!(players::died(&mut db, "here", 2).await.unwrap(), 1);
    assert_eq!(left(&pool).await, [(0, 3, 1)]);

    let (silent, held) = claim(3).await;
    assert_eq!(held, Some((0..=3, 1)));
    sqlx::query("UPDATE players SET lease = '0'").execute(&pool).await.unwrap();
    until("it is given up", async || players::give_up_overdue(&mut pool.acquire().await.unwrap()).await.unwrap() == 1)
        .await;
    assert!(!players::heartbeat(&mut db, silent).await.unwrap());
    assert_eq!(left(&pool).await, [(0, 3, 2)], "neither has one that fell silent said that it is well");
    assert_eq!(claims::in_quarantine(&mut db).await.unwrap(), 4);

    let (player, held) = claim(4).await;
    assert_eq!(held, Some((4..=7, 0)), "others pass over what is in quarantine");
    let alone = ClaimRequest { quarantined: QuarantinePolicy::Only, ..wanted(1) };
    let next = claims::claim(&mut db, player, &alone).await.unwrap().unwrap();
    assert_eq!((next.positions(), next.deaths), (0..=0, 2));
    assert_eq!(left(&pool).await, [(1, 3, 2)], "the rest waits");
}

/// Whoever ends a command ends it as they like.
#[sqlx::test(migrations = "../migrations")]
async fn a_command_that_is_ended_often_enough_still_plays_its_run(pool: PgPool) {
    let run = planned(&pool, &[HELP], 4, 1, &[]).await;
    let mut db = pool.acquire().await.unwrap();
    let command = players::register_for_one_run(&mut db, "here", 1, Duration::ZERO).await.unwrap();
    claims::claim(&mut db, command, &wanted(4)).await.unwrap().unwrap();
    until("it is given up", async || players::give_up_overdue(&mut pool.acquire().await.unwrap()).await.unwrap() == 1)
        .await;
    assert_eq!(left(&pool).await, [(0, 3, 0)]);
    // Also if players died of it before.
    sqlx::query("UPDATE claims SET deaths = 5").execute(&pool).await.unwrap();
    let run = play_all(taken_up(&run).await, 4).await;
    ledger::check(&pool, run.control.run.id).await;
    assert!(stories(&run).await.iter().all(|story| story.outcome == Outcome::Accepted));
}

#[sqlx::test(migrations = "../migrations")]
async fn the_task_that_players_die_of_is_found_and_ended(pool: PgPool) {
    const CONVERSATIONS: usize = 4;
    let endpoint = Endpoint::start_held(Duration::ZERO, agent::help).await;
    let run = planned(&pool, &[HELP], CONVERSATIONS, 1, &[(Role::Agent, endpoint.model())]).await;
    for death in 1..=2 {
        let mut player: Child = play(&pool);
        until("all are in hand", async || endpoint.requests().len() == death * CONVERSATIONS).await;
        player.kill().await.unwrap();
    }
    let player: Child = play(&pool);
    let own = player.id().unwrap().cast_signed();
    until("each is played by a process of its own", async || endpoint.requests().len() == 3 * CONVERSATIONS).await;
    let alone: BTreeSet<i32> = pids(&pool).await.into_iter().filter(|pid| *pid != own).collect();
    assert_eq!(alone.len(), CONVERSATIONS);
    let held: Vec<(i64,)> = sqlx::query_as(
        "SELECT sum(last_position - first_position + 1) FROM claims WHERE player IS NOT NULL GROUP BY player",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(held, [(1,); CONVERSATIONS], "and the first process plays none");
    kill(*alone.first().unwrap());
    endpoint.release();
    let state = async || runs::state_of(&mut pool.acquire().await.unwrap(), run.control.run.id).await.unwrap();
    until("the run has ended", async || state().await == Some(RunState::Finished)).await;
    ledger::check(&pool, run.control.run.id).await;

    let ends: Vec<Outcome> = stories(&run).await.into_iter().map(|story| story.outcome).collect();
    let failed: Vec<&Outcome> = ends.iter().filter(|outcome| **outcome != Outcome::Accepted).collect();
    let [Outcome::Failed { blame: Blame::Playbook, reason }] = failed[..] else { panic!("{ends:?}") };
    assert!(reason.starts_with("3 processes ended while they played it"), "{reason}");
    until("those processes have gone", async || pids(&pool).await == BTreeSet::from([own])).await;
    terminate(&player);
}
