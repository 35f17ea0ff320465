//! Runs that reach a cap, and go on when it is raised.

use std::time::Duration;

use domain::api::RunState;
use domain::budget::Budget;
use sqlx::PgPool;
use store::control;
use uuid::Uuid;

use crate::support::endpoint::{Act, Endpoint, TOKENS};
use crate::support::kind::Spec;
use crate::support::outside::{Outside, waiting};
use crate::support::play::{check, counted, kept, planned, play, start, stopped, summary};
use crate::support::until;

const TOKENS_USED_UP: &str = "the budget of tokens is used up";

async fn allow(pool: &PgPool, run: Uuid, budget: Budget) {
    control::set_budget(&mut pool.acquire().await.unwrap(), run, &budget).await.unwrap();
}

async fn assert_paused(pool: &PgPool, run: Uuid, because: &str) {
    let stopped = summary(pool, run).await;
    assert_eq!((stopped.state, stopped.paused_because.as_deref()), (RunState::Paused, Some(because)));
}

/// Raises all caps, and plays on.
async fn go_on(pool: &PgPool, run: Uuid) {
    allow(pool, run, Budget::default()).await;
    control::resume(&mut pool.acquire().await.unwrap(), run).await.unwrap();
    let _outside = Outside::start(pool);
    play(pool, run, 4).await;
    check(pool, run).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_budget_of_tokens_stops_a_run_and_a_larger_one_lets_it_go_on(pool: PgPool) {
    const REPLIES: i64 = 40;
    const IN_FLIGHT: i64 = 4 * 4;
    let endpoint = Endpoint::start(|_| Act::Answer).await;
    let outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), 20).await;
    allow(&pool, run, Budget { tokens: Some(REPLIES * TOKENS), ..Budget::default() }).await;
    play(&pool, run, 4).await;
    drop(outside);
    assert_paused(&pool, run, TOKENS_USED_UP).await;
    let asked = i64::try_from(endpoint.asked()).unwrap();
    assert!((REPLIES..REPLIES + IN_FLIGHT).contains(&asked), "beyond it only what was in flight: {asked}");
    let usage = summary(&pool, run).await.usage;
    let spent: i64 = usage.iter().map(|usage| usage.prompt_tokens + usage.completion_tokens).sum();
    assert_eq!(spent, asked * TOKENS, "all that was asked is counted");

    go_on(&pool, run).await;
    assert_eq!(endpoint.asked(), kept(&pool, run).await.len(), "nothing was asked twice");
    assert_eq!(counted(&pool, run).await, endpoint.asked());
}

#[sqlx::test(migrations = "../../migrations")]
async fn two_players_stop_where_together_they_have_used_up_the_tokens(pool: PgPool) {
    const REPLIES: i64 = 60;
    const IN_FLIGHT: i64 = 2 * 2 * 4;
    let endpoint = Endpoint::start(|_| Act::Hold).await;
    let outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), 20).await;
    allow(&pool, run, Budget { tokens: Some(REPLIES * TOKENS), ..Budget::default() }).await;
    let players = [start(&pool, run, 2).await, start(&pool, run, 2).await];
    until("both ask", async || endpoint.in_flight() == 16).await;
    endpoint.behave(|_| Act::AnswerAfter(Duration::from_millis(100)));
    for playing in players {
        stopped(playing).await;
    }
    drop(outside);
    assert_paused(&pool, run, TOKENS_USED_UP).await;
    let asked = i64::try_from(endpoint.asked()).unwrap();
    // What one spends the other one knows a moment later.
    assert!((REPLIES..REPLIES + 3 * IN_FLIGHT).contains(&asked), "{asked}");
    let spenders: i64 = sqlx::query_scalar("SELECT count(DISTINCT player) FROM usage").fetch_one(&pool).await.unwrap();
    assert_eq!(spenders, 2);
    go_on(&pool, run).await;
    assert_eq!(endpoint.asked(), kept(&pool, run).await.len());
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_run_stops_at_its_cap_though_tasks_wait_for_somebody_outside(pool: PgPool) {
    let endpoint = Endpoint::start(|prompt| if prompt.contains("task 3,") { Act::Hold } else { Act::Answer }).await;
    let run = planned(&pool, &Spec::of(endpoint.model()), 4).await;
    // Four tasks have 32 replies before anybody outside is asked.
    allow(&pool, run, Budget { tokens: Some(31 * TOKENS), ..Budget::default() }).await;
    let playing = start(&pool, run, 4).await;
    until("three tasks wait for somebody outside", async || waiting(&pool).await.len() == 6).await;
    endpoint.behave(|_| Act::Answer);
    stopped(playing).await;
    assert_paused(&pool, run, TOKENS_USED_UP).await;
    assert_eq!(waiting(&pool).await.len(), 6, "their requests stay");
    go_on(&pool, run).await;
    assert_eq!(endpoint.asked(), kept(&pool, run).await.len());
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_time_of_a_run_is_up_though_it_only_waits_for_somebody_outside(pool: PgPool) {
    let endpoint = Endpoint::start(|_| Act::Answer).await;
    let run = planned(&pool, &Spec::of(endpoint.model()), 1).await;
    let playing = start(&pool, run, 4).await;
    until("they are asked", async || waiting(&pool).await.len() == 2).await;
    allow(&pool, run, Budget { seconds: Some(1), ..Budget::default() }).await;
    stopped(playing).await;
    assert_paused(&pool, run, "the budget of time is used up").await;
    go_on(&pool, run).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_budget_of_money_stops_a_run(pool: PgPool) {
    let endpoint = Endpoint::start(|_| Act::Answer).await;
    let outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), 10).await;
    // Each reply costs 18 millionths.
    allow(&pool, run, Budget { money: Some(0.000_36), ..Budget::default() }).await;
    play(&pool, run, 1).await;
    drop(outside);
    assert_paused(&pool, run, "the budget of money is used up").await;
    let asked = endpoint.asked();
    assert!((20..24).contains(&asked), "{asked}");
    go_on(&pool, run).await;
}
