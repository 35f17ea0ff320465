//! A budget that two players spend together.

use std::time::Duration;

use domain::api::RunState;
use domain::budget::Budget;
use domain::price::Price;
use domain::role::Role;
use futures::future::join_all;
use generation::ConversationRun;
use llm::PoolSpec;
use runtime::ModelClients;
use sqlx::PgPool;
use store::{control, runs};
use tokio_util::sync::CancellationToken;

use crate::support::endpoint::Endpoint;
use crate::support::play::{HELP, elsewhere, hasty, planned_as, play_all, player};
use crate::support::{agent, ledger, until};

/// Conversations that each player plays at once.
const EACH: usize = 4;
/// How many replies the budgets pay for, and a part of one.
const REPLIES: usize = 20;

/// Plays until the budget is used up, and then to the end with another one.
async fn check(pool: &PgPool, budget: Budget, because: &str) {
    let endpoint = Endpoint::start_held(Duration::ZERO, agent::help).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let price = Some(Price { prompt: 1000.0, completion: 5000.0 });
    let run = planned_as(pool, &[HELP], 40, 1, &[(Role::Agent, "priced".to_owned())], |config| {
        config.pools = vec![PoolSpec { price, ..PoolSpec::new("priced", vec![url]) }];
    })
    .await;
    let id = run.control.run.id;
    let mut db = pool.acquire().await.unwrap();
    control::set_budget(&mut db, id, &budget).await.unwrap();

    // Two that have nothing in common but the database.
    let both = [elsewhere(&run).await, elsewhere(&run).await];
    let players = both.each_ref().map(|run| player(run, EACH));
    let never = CancellationToken::new();
    let playing = join_all(players.iter().map(|player| player.play(&never)));
    let spending = async {
        until("both ask as much as they may", async || endpoint.requests().len() == 2 * EACH).await;
        // The first of these are of both, so that neither can spend it all.
        endpoint.answer_only(0..REPLIES);
        let both_know = || both.iter().all(|run| run.control.spending.used_up().is_some());
        until("each knows what the other has spent", async || both_know()).await;
        endpoint.release();
    };
    let (played, ()) = tokio::join!(playing, spending);
    assert!(played.iter().all(Result::is_ok), "both stop: {played:?}");

    let stopped = runs::summary(&mut db, &run.control.run).await.unwrap();
    assert_eq!((stopped.state, stopped.paused_because.as_deref()), (RunState::Paused, Some(because)));
    let asked = endpoint.requests().len();
    assert!((REPLIES..=REPLIES + 2 * EACH).contains(&asked), "beyond it only what was in flight: {asked}");
    let agent = stopped.usage.iter().find(|usage| usage.role == "agent").unwrap();
    assert_eq!(agent.calls, i64::try_from(asked).unwrap(), "all that was asked is counted");
    let spenders: i64 = sqlx::query_scalar("SELECT count(DISTINCT player) FROM usage").fetch_one(pool).await.unwrap();
    assert_eq!(spenders, 2);

    let refused = generation::run::resume(&mut db, id).await.unwrap_err().to_string();
    assert_eq!(refused, format!("{because}; raise that cap first"));
    control::set_budget(&mut db, id, &Budget::default()).await.unwrap();
    generation::run::resume(&mut db, id).await.unwrap();
    play_all(ConversationRun::load(pool, id, &ModelClients::new(hasty())).await.unwrap(), EACH).await;
    ledger::check(pool, id).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn two_players_stop_where_together_they_have_used_up_the_tokens(pool: PgPool) {
    // Each reply takes 18.
    let budget = Budget { tokens: Some(350), ..Budget::default() };
    check(&pool, budget, "the budget of tokens is used up").await;
}

#[sqlx::test(migrations = "../migrations")]
async fn two_players_stop_where_together_they_have_used_up_the_money(pool: PgPool) {
    // Each reply costs 0.046.
    let budget = Budget { money: Some(0.9), ..Budget::default() };
    check(&pool, budget, "the budget of money is used up").await;
}
