//! What people ask of runs of rows while they are played, and what bounds them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use domain::api::RunState;
use domain::budget::Budget;
use domain::price::Price;
use futures::future::join_all;
use llm::{ModelSpec, PoolSpec};
use rows::order::Order;
use rows::{RowRun, trace};
use runtime::{Options, Player};
use serde_json::{Map, Value, json};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use store::StoreError;
use store::claims::{self, ClaimRequest};
use store::control::{self, ControlError};
use store::players;
use tokio_util::sync::CancellationToken;

use super::{
    answer, order_of, ordered, outputs, played, played_by, player, prompt, resources, stored_order, summary, taken_up,
    topics,
};
use crate::support::endpoint::{Endpoint, silence};
use crate::support::play::LEASE;
use crate::support::{ledger, until};

/// A claim of so many rows, of any run.
fn wanted(most: i32) -> ClaimRequest<'static> {
    ClaimRequest { kinds: &["workflow"], most, ..ClaimRequest::default() }
}

fn only_writer(endpoint: &Endpoint) -> BTreeMap<String, ModelSpec> {
    [("writer".to_owned(), endpoint.model().parse::<ModelSpec>().unwrap())].into()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_that_was_paused_in_the_middle_gives_the_same_rows(pool: PgPool) {
    const ROWS: usize = 8;
    let plain = Endpoint::start(answer).await;
    let whole = played(ordered(&pool, &plain, topics(ROWS), Budget::default()).await).await;

    let endpoint = Endpoint::start_held(Duration::ZERO, answer).await;
    let run = Arc::new(ordered(&pool, &endpoint, topics(ROWS), Budget::default()).await);
    let id = run.control.run.id;
    let mut db = pool.acquire().await.unwrap();
    let (playing, never) = (player(&run, resources()), CancellationToken::new());
    let pausing = async {
        // Of 80 that there are.
        endpoint.answer_only(0..25);
        until("it is in the middle", async || endpoint.requests().len() > 25).await;
        control::pause(&mut db, id, None).await.unwrap();
        until("the player knows", async || run.control.may_ask().is_err()).await;
        endpoint.release();
    };
    let (ended, ()) = tokio::join!(playing.play(&never), pausing);
    ended.unwrap();
    let paused = summary(&pool, &run).await;
    assert_eq!((paused.state, paused.paused_because), (RunState::Paused, None), "a person asked for it");
    assert!(paused.finished < 8, "it was paused in the middle");
    let asked = endpoint.requests().len();
    played(taken_up(&run).await).await;
    assert_eq!(endpoint.requests().len(), asked, "nothing is asked while it is paused");

    control::resume(&mut db, id).await.unwrap();
    let run = played(taken_up(&run).await).await;
    assert_eq!(summary(&pool, &run).await.state, RunState::Finished);
    assert_eq!(outputs(&pool, &run).await, outputs(&pool, &whole).await);
    ledger::check(&pool, id).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_cancelled_run_keeps_what_was_played(pool: PgPool) {
    // The first verdict of each of the later rows never comes.
    let is_late = |request: &Value| {
        let judged = prompt(request).strip_prefix("judge topic ");
        judged.is_some_and(|rest| rest >= "4" && rest.ends_with(" part 0 a"))
    };
    let endpoint = Endpoint::start(move |request| if is_late(request) { silence() } else { answer(request) }).await;
    let run = Arc::new(ordered(&pool, &endpoint, topics(8), Budget::default()).await);
    let id = run.control.run.id;
    let mut db = pool.acquire().await.unwrap();
    let (playing, never) = (player(&run, resources()), CancellationToken::new());
    // How many requests of a row were answered that has not ended.
    let answered = async || {
        let traced = trace::of(&pool, &run.control.run, &run.kind.rows, 4).await.unwrap();
        traced.map_or(0, |row| row.requests.len())
    };
    let cancelling = async {
        until("the first rows have ended", async || summary(&pool, &run).await.finished == 4).await;
        until("all but one are there of the next one", async || answered().await == 1 + 3 + 5).await;
        control::cancel(&mut db, id).await.unwrap();
    };
    let (ended, ()) = tokio::join!(playing.play(&never), cancelling);
    ended.unwrap();
    let now = summary(&pool, &run).await;
    assert_eq!((now.state, now.finished, now.accepted), (RunState::Cancelled, 4, 4));
    let positions: Vec<i32> = outputs(&pool, &run).await.iter().map(|row| row.position).collect();
    assert_eq!(positions, [0, 1, 2, 3], "what had ended stays");
    assert_eq!(answered().await, 1 + 3 + 5, "and what had been answered, too");
    let refused = control::resume(&mut db, id).await;
    assert!(matches!(refused, Err(StoreError::Refused(ControlError::Cancelled))));
    let player = players::register(&mut db, "here", 1, LEASE).await.unwrap();
    assert_eq!(claims::claim(&mut db, player, &wanted(8)).await.unwrap(), None, "nobody plays it");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_budget_of_money_pauses_a_run_of_rows(pool: PgPool) {
    let endpoint = Endpoint::start(answer).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let price = Price { prompt: 1000.0, completion: 5000.0 };
    // Each reply costs 0.046, and there are 80.
    let (each, cap) = (0.046, 1.0);
    let order = Order {
        models: played_by("priced"),
        pools: vec![PoolSpec { price: Some(price), ..PoolSpec::new("priced", vec![url]) }],
        budget: Budget { money: Some(cap), ..Budget::default() },
        ..order_of("report", topics(8))
    };
    let run = played(stored_order(&pool, order).await).await;
    let stopped = summary(&pool, &run).await;
    assert_eq!(
        (stopped.state, stopped.paused_because.as_deref()),
        (RunState::Paused, Some("the budget of money is used up"))
    );
    assert!(stopped.finished < 8, "{stopped:?}");
    let mut spent = 0.0;
    for usage in &stopped.usage {
        let calls = f64::from(i32::try_from(usage.calls).unwrap());
        assert!((usage.cost - each * calls).abs() < 1e-9, "{usage:?}");
        spent += usage.cost;
    }
    // Beyond it only what was in flight: of each of four rows at most what one step asks at once.
    assert!((cap..cap + 4.0 * 6.0 * each).contains(&spent), "{spent}");

    let mut db = pool.acquire().await.unwrap();
    control::set_budget(&mut db, run.control.run.id, &Budget::default()).await.unwrap();
    control::resume(&mut db, run.control.run.id).await.unwrap();
    let run = played(taken_up(&run).await).await;
    assert_eq!(summary(&pool, &run).await.accepted, 8);
    ledger::check(&pool, run.control.run.id).await;
}

/// Rows about something.
fn about(what: &str, n: usize) -> Vec<Map<String, Value>> {
    (0..n).map(|i| json!({"topic": format!("{what} {i}")}).as_object().unwrap().clone()).collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn the_run_of_rows_of_higher_priority_is_claimed_first(pool: PgPool) {
    let endpoint = Endpoint::start(answer).await;
    let order =
        |what: &str, priority| Order { models: only_writer(&endpoint), priority, ..order_of("echo", about(what, 4)) };
    let plain = stored_order(&pool, order("plain", 0)).await;
    let urgent = stored_order(&pool, order("urgent", 5)).await;
    // Row by row: what is claimed first is asked about first.
    let options = Options { concurrency: 1, drain: Duration::ZERO, ..Options::default() };
    let player: Player<Arc<RowRun>> = Player::new(pool.clone(), resources(), options);
    let stop = CancellationToken::new();
    let watching = async {
        until("both runs have ended", async || {
            let left = "SELECT count(*) FROM runs WHERE finished_at IS NULL";
            sqlx::query_scalar::<_, i64>(left).fetch_one(&pool).await.unwrap() == 0
        })
        .await;
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(player.play(&stop), watching);
    ended.unwrap();
    let asked = endpoint.requests();
    let whose: Vec<&str> = asked.iter().map(|request| prompt(request).split(' ').nth(1).unwrap()).collect();
    assert_eq!(whose, [["urgent"; 4], ["plain"; 4]].concat());
    for run in [plain, urgent] {
        ledger::check(&pool, run.control.run.id).await;
    }
}

/// The run as another process finds it, with connections of its own.
async fn elsewhere(run: &RowRun) -> Arc<RowRun> {
    let pool = PgPoolOptions::new().connect_with((*run.control.pool.connect_options()).clone()).await.unwrap();
    Arc::new(RowRun::load(&pool, run.control.run.id, &resources()).await.unwrap())
}

#[sqlx::test(migrations = "../migrations")]
async fn all_players_together_play_no_more_rows_at_once_than_a_run_may(pool: PgPool) {
    const MOST: usize = 3;
    const ROWS: usize = 15;
    let endpoint = Endpoint::start_held(Duration::ZERO, answer).await;
    let order = Order {
        models: only_writer(&endpoint),
        max_in_flight: Some(i32::try_from(MOST).unwrap()),
        ..order_of("echo", topics(ROWS))
    };
    let run = stored_order(&pool, order).await;
    // Each of them has room for four.
    let both = [elsewhere(&run).await, elsewhere(&run).await];
    let players = both.each_ref().map(|run| player(run, resources()));
    let never = CancellationToken::new();
    let playing = join_all(players.iter().map(|player| player.play(&never)));
    let watching = async {
        for answered in [0, 3, 6, 9] {
            endpoint.answer_only(0..answered);
            until("as many are played as may be", async || endpoint.requests().len() == answered + MOST).await;
        }
        endpoint.release();
    };
    let (ended, ()) = tokio::join!(playing, watching);
    assert!(ended.iter().all(Result::is_ok), "{ended:?}");
    assert_eq!((endpoint.most_at_once(), endpoint.requests().len()), (MOST, ROWS));
    ledger::check(&pool, run.control.run.id).await;
}
