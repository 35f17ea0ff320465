//! What people ask of runs while they are played.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::response::Response;
use domain::api::{RunState, RunSummary};
use domain::budget::Budget;
use domain::forecast::Forecast;
use domain::price::Price;
use domain::role::Role;
use generation::ConversationRun;
use generation::Player;
use llm::PoolSpec;
use runtime::ModelClients;
use runtime::Options;
use serde_json::Value;
use sqlx::PgPool;
use store::claims::{self, ClaimRequest};
use store::control::{self, ControlError};
use store::players;
use store::projects::{self, Project};
use store::{StoreError, clock, runs};
use tokio_util::sync::CancellationToken;

use crate::support::endpoint::{Endpoint, says, status};
use crate::support::play::{
    HELP, LEASE, TRANSFER, hasty, listeners, planned, planned_as, play_all, player, stories, taken_up, wanted,
};
use crate::support::{agent, ledger, until};

async fn summary(run: &ConversationRun) -> RunSummary {
    runs::summary(&mut run.control.pool.acquire().await.unwrap(), &run.control.run).await.unwrap()
}

/// An endpoint that refuses everybody as long as it is broken, and whether it is.
async fn mended_later(answer: fn(&Value) -> Response) -> (Endpoint, Arc<AtomicBool>) {
    let broken = Arc::new(AtomicBool::new(true));
    let is_broken = Arc::clone(&broken);
    let answer = move |request: &Value| if is_broken.load(Ordering::Relaxed) { status(401) } else { answer(request) };
    (Endpoint::start(answer).await, broken)
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_is_paused_and_goes_on(pool: PgPool) {
    let endpoint = Endpoint::start_slow(Duration::from_millis(30), agent::help).await;
    let run = Arc::new(planned(&pool, &[HELP], 30, 1, &[(Role::Agent, endpoint.model())]).await);
    let mut db = pool.acquire().await.unwrap();
    let (playing, never) = (player(&run, 4), CancellationToken::new());
    let pausing = async {
        until("some were played", async || summary(&run).await.finished > 3).await;
        control::pause(&mut db, run.control.run.id, None).await.unwrap();
    };
    let (played, ()) = tokio::join!(playing.play(&never), pausing);
    played.unwrap();
    let paused = summary(&run).await;
    assert_eq!(paused.state, RunState::Paused);
    assert!(paused.finished < 30, "it was paused in the middle");
    let asked = endpoint.requests().len();
    play_all(taken_up(&run).await, 4).await;
    assert_eq!(endpoint.requests().len(), asked, "nothing is asked while it is paused");

    control::resume(&mut db, run.control.run.id).await.unwrap();
    let run = play_all(taken_up(&run).await, 4).await;
    ledger::check(&pool, run.control.run.id).await;
    let refused = control::pause(&mut db, run.control.run.id, None).await;
    assert!(matches!(refused, Err(StoreError::Refused(ControlError::Ended))));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_is_cancelled_for_good(pool: PgPool) {
    // Nobody would wait for these calls.
    let endpoint = Endpoint::start_slow(Duration::from_mins(10), agent::help).await;
    let run = Arc::new(planned(&pool, &[HELP], 30, 1, &[(Role::Agent, endpoint.model())]).await);
    let mut db = pool.acquire().await.unwrap();
    let (playing, never) = (player(&run, 4), CancellationToken::new());
    let cancelling = async {
        until("models are asked", async || endpoint.requests().len() >= 4).await;
        control::cancel(&mut db, run.control.run.id).await.unwrap();
    };
    let (played, ()) = tokio::join!(playing.play(&never), cancelling);
    played.unwrap();
    assert_eq!(summary(&run).await.state, RunState::Cancelled);
    for change in [
        control::resume(&mut db, run.control.run.id).await,
        control::retry_failed(&mut db, run.control.run.id).await.map(drop),
    ] {
        assert!(matches!(change, Err(StoreError::Refused(ControlError::Cancelled))));
    }
    let player = players::register(&mut db, "here", 1, LEASE).await.unwrap();
    assert_eq!(claims::claim(&mut db, player, &wanted(8)).await.unwrap(), None, "nobody plays it");
}

#[sqlx::test(migrations = "../migrations")]
async fn failures_that_were_not_the_agents_are_played_again_when_asked(pool: PgPool) {
    let (endpoint, broken) = mended_later(agent::help).await;
    let run = play_all(planned(&pool, &[HELP, TRANSFER], 6, 1, &[(Role::Agent, endpoint.model())]).await, 4).await;
    assert_eq!(summary(&run).await.failures, [("infrastructure".to_owned(), 6)].into());
    broken.store(false, Ordering::Relaxed);
    let mut db = pool.acquire().await.unwrap();
    assert_eq!(control::retry_failed(&mut db, run.control.run.id).await.unwrap(), 6);
    assert_eq!(summary(&run).await.state, RunState::Running);
    let run = play_all(taken_up(&run).await, 4).await;
    ledger::check(&pool, run.control.run.id).await;
    let after = summary(&run).await;
    assert_eq!(after.played_again, [("infrastructure".to_owned(), 6)].into());
    assert_eq!(after.finished, 6);
    assert!(stories(&run).await.iter().all(|story| story.planned.attempt == 2));
    // The agent's own failures are data, and stay.
    let agents = after.failures.get("agent").copied().unwrap_or_default();
    assert_eq!(after.accepted + agents, 6);
    assert_eq!(control::retry_failed(&mut db, run.control.run.id).await.unwrap(), 0);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_model_that_answers_nobody_pauses_the_run(pool: PgPool) {
    let (endpoint, broken) = mended_later(agent::help).await;
    let run = planned(&pool, &[HELP], 40, 1, &[(Role::Agent, endpoint.model())]).await;
    let options = Options { concurrency: 4, drain: Duration::ZERO, ..Options::default() };
    let (player, stop) = (Player::new(pool.clone(), ModelClients::new(hasty()), options), CancellationToken::new());
    let people = async {
        let mut db = pool.acquire().await.unwrap();
        until("it is paused", async || summary(&run).await.state == RunState::Paused).await;
        let paused = summary(&run).await;
        let why = paused.paused_because.unwrap();
        assert!(why.starts_with("a model does not answer any more: "), "{why}");
        assert!(why.contains("answered 401") && why.contains("check that the spec names the key"), "{why}");
        assert!(paused.finished < 10, "{} conversations were spoiled", paused.finished);

        // As long as nothing is mended, it is asked once by each conversation that is taken up, and nothing is spoiled.
        let asked = endpoint.requests().len();
        control::resume(&mut db, run.control.run.id).await.unwrap();
        until("it is asked", async || endpoint.requests().len() > asked).await;
        until("it is paused", async || summary(&run).await.state == RunState::Paused).await;
        assert!(summary(&run).await.finished < 10, "what was in flight at the pause was all");

        broken.store(false, Ordering::Relaxed);
        control::resume(&mut db, run.control.run.id).await.unwrap();
        until("it is played", async || summary(&run).await.state == RunState::Finished).await;
        stop.cancel();
        ledger::check(&pool, run.control.run.id).await;
        let spoiled = summary(&run).await.failures.get("infrastructure").copied().unwrap_or_default();
        assert!(spoiled < 10, "{spoiled} were spoiled");
    };
    let (played, ()) = tokio::join!(player.play(&stop), people);
    played.unwrap();
}

#[sqlx::test(migrations = "../migrations")]
async fn what_could_only_not_be_judged_is_judged_again_and_not_played(pool: PgPool) {
    let (judge, broken) = mended_later(|_| says(&agent::verdict().to_string())).await;
    let speaker = Endpoint::start(agent::help).await;
    let models = [(Role::Agent, speaker.model()), (Role::Judge, judge.model())];
    let run = play_all(planned(&pool, &[HELP], 6, 1, &models).await, 4).await;
    let failed = summary(&run).await.failures;
    assert_eq!(failed.values().sum::<i64>(), 6, "{failed:?}");
    let asked = speaker.requests().len();
    broken.store(false, Ordering::Relaxed);
    let mut db = pool.acquire().await.unwrap();
    assert_eq!(control::retry_failed(&mut db, run.control.run.id).await.unwrap(), 6);
    let claims: Vec<(i32, i32)> =
        sqlx::query_as("SELECT first_position, last_position FROM claims").fetch_all(&pool).await.unwrap();
    assert_eq!(claims, [(0, 5)], "neighbours are one claim");
    let run = play_all(taken_up(&run).await, 4).await;
    ledger::check(&pool, run.control.run.id).await;
    assert_eq!(summary(&run).await.accepted, 6);
    assert_eq!(speaker.requests().len(), asked, "the agent was asked nothing again");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_played_again_leaves_room_for_runs_of_the_same_priority(pool: PgPool) {
    let again = planned(&pool, &[HELP], 100, 1, &[]).await.control.run.id;
    let mut db = pool.acquire().await.unwrap();
    let gone = players::register(&mut db, "gone", 1, LEASE).await.unwrap();
    for _ in 0..2 {
        claims::claim(&mut db, gone, &wanted(50)).await.unwrap().unwrap();
    }
    players::leave(&mut db, gone).await.unwrap();
    let new = planned(&pool, &[HELP], 100, 2, &[]).await.control.run.id;
    let player = players::register(&mut db, "here", 1, LEASE).await.unwrap();
    let mut order = Vec::new();
    for _ in 0..4 {
        let claim = claims::claim(&mut db, player, &wanted(50)).await.unwrap().unwrap();
        order.push((claim.run_id, claim.first_position));
    }
    assert_eq!(order, [(again, 0), (new, 0), (again, 50), (new, 50)]);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_cap_of_time_counts_playing_and_no_pauses(pool: PgPool) {
    let run = planned(&pool, &[HELP], 10, 1, &[]).await;
    let id = run.control.run.id;
    let mut db = pool.acquire().await.unwrap();
    assert!(runs::seconds_played(&mut db, id).await.unwrap() < 0.001, "nothing has begun");
    let player = players::register(&mut db, "here", 1, LEASE).await.unwrap();
    claims::claim(&mut db, player, &wanted(4)).await.unwrap().unwrap();
    let earlier = async |shift: &'static str| sqlx::query(shift).execute(&pool).await.unwrap();
    let ran = "UPDATE runs SET running_since = running_since - interval '1 hour'";
    earlier(ran).await;
    control::pause(&mut db, id, None).await.unwrap();
    let hour = 3_600.0;
    let played = async || runs::seconds_played(&mut pool.acquire().await.unwrap(), id).await.unwrap();
    assert!((played().await - hour).abs() < 5.0, "{}", played().await);
    // However long it is paused.
    earlier("UPDATE runs SET started_at = started_at - interval '1 hour'").await;
    assert!((played().await - hour).abs() < 5.0);
    control::resume(&mut db, id).await.unwrap();
    earlier(ran).await;
    assert!((played().await - 2.0 * hour).abs() < 5.0);
    let asked = runs::instructions(&mut db, player, &[id]).await.unwrap();
    assert!((asked[0].played_seconds.unwrap() - 2.0 * hour).abs() < 5.0, "and so it is told to players");
    control::cancel(&mut db, id).await.unwrap();
    assert!((played().await - 2.0 * hour).abs() < 5.0);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_cap_of_time_also_stops_what_asks_no_model(pool: PgPool) {
    let run = Arc::new(planned(&pool, &[HELP], 1_000_000, 1, &[]).await);
    let mut db = pool.acquire().await.unwrap();
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM tasks").fetch_one(&pool).await.unwrap();
    assert_eq!(rows, 0, "rows of a run are written when they begin");
    let second = Budget { seconds: Some(1), ..Budget::default() };
    control::set_budget(&mut db, run.control.run.id, &second).await.unwrap();
    let (player, never) = (player(&run, 8), CancellationToken::new());
    let played = tokio::time::timeout(Duration::from_mins(1), player.play(&never)).await;
    played.expect("it stops by itself").unwrap();
    let stopped = summary(&run).await;
    let because = Some("the budget of time is used up");
    assert_eq!((stopped.state, stopped.paused_because.as_deref()), (RunState::Paused, because));
    assert!(stopped.finished > 0);
}

#[sqlx::test(migrations = "../migrations")]
async fn runs_of_higher_priority_come_first_and_equals_share(pool: PgPool) {
    let mut db = pool.acquire().await.unwrap();
    let low = planned(&pool, &[HELP], 100, 1, &[]).await.control.run.id;
    let other = planned(&pool, &[HELP], 100, 2, &[]).await.control.run.id;
    let high = planned(&pool, &[HELP], 100, 3, &[]).await.control.run.id;
    control::set_priority(&mut db, high, 5).await.unwrap();
    let player = players::register(&mut db, "here", 1, LEASE).await.unwrap();
    let mut order = Vec::new();
    for _ in 0..6 {
        let claim = claims::claim(&mut db, player, &wanted(50)).await.unwrap().unwrap();
        order.push((claim.run_id, claim.first_position));
    }
    assert_eq!(order, [(high, 0), (high, 50), (low, 0), (other, 0), (low, 50), (other, 50)]);
    assert_eq!(claims::claim(&mut db, player, &wanted(50)).await.unwrap(), None);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_project_with_many_and_urgent_runs_takes_nothing_from_another(pool: PgPool) {
    let mut db = pool.acquire().await.unwrap();
    let plain = planned(&pool, &[HELP], 100, 1, &[]).await.control.run.id;
    let urgent = planned(&pool, &[HELP], 100, 2, &[]).await.control.run.id;
    control::set_priority(&mut db, urgent, 5).await.unwrap();
    let other = Project { id: clock::id(), name: "other".into(), title: "Other".into(), created_at: clock::now() };
    assert!(projects::insert(&mut db, &other).await.unwrap());
    let theirs = planned(&pool, &[HELP], 200, 3, &[]).await.control.run.id;
    let moved = sqlx::query("UPDATE runs SET project_id = $1 WHERE id = $2").bind(other.id).bind(theirs);
    moved.execute(&mut *db).await.unwrap();
    let player = players::register(&mut db, "here", 1, LEASE).await.unwrap();
    let mut order = Vec::new();
    for _ in 0..6 {
        order.push(claims::claim(&mut db, player, &wanted(50)).await.unwrap().unwrap().run_id);
    }
    assert_eq!(order, [urgent, theirs, urgent, theirs, plain, theirs]);
}

/// A server that was started without the key of a model stands beside a command that has it.
#[sqlx::test(migrations = "../migrations")]
async fn a_player_without_a_key_leaves_the_run_to_those_who_have_it(pool: PgPool) {
    let run = planned(&pool, &[HELP], 8, 1, &[]).await;
    let keyless = "UPDATE runs SET spec = jsonb_set(spec, '{models,agent}', '\"m@http://127.0.0.1:9/v1@NO_SUCH_KEY\"')";
    sqlx::query(keyless).execute(&pool).await.unwrap();
    let mut db = pool.acquire().await.unwrap();
    let other = players::register(&mut db, "there", 1, LEASE).await.unwrap();
    claims::claim(&mut db, other, &wanted(4)).await.unwrap().unwrap();
    let (player, stop) =
        (Player::new(pool.clone(), ModelClients::new(hasty()), Options::default()), CancellationToken::new());
    let people = async {
        let mut db = pool.acquire().await.unwrap();
        until("it was claimed and given back", async || {
            let left = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM claims WHERE player IS NULL");
            left.fetch_one(&pool).await.unwrap() == 1
        })
        .await;
        let left = claims::claim(&mut db, other, &wanted(4)).await.unwrap().unwrap();
        assert!(left.left_behind && left.positions() == (4..=7), "{left:?}");
        assert_eq!(summary(&run).await.state, RunState::Running);

        players::leave(&mut db, other).await.unwrap();
        until("it is paused, as nobody plays it", async || summary(&run).await.state == RunState::Paused).await;
        let paused = summary(&run).await.paused_because.unwrap();
        assert!(paused.contains("NO_SUCH_KEY"), "{paused}");
        stop.cancel();
    };
    let (played, ()) = tokio::join!(player.play(&stop), people);
    played.unwrap();
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_is_never_played_more_at_once_than_it_may(pool: PgPool) {
    let run = planned(&pool, &[HELP], 100, 1, &[]).await.control.run.id;
    sqlx::query("UPDATE runs SET max_in_flight = 10").execute(&pool).await.unwrap();
    let mut db = pool.acquire().await.unwrap();
    let (a, b) = (
        players::register(&mut db, "a", 1, LEASE).await.unwrap(),
        players::register(&mut db, "b", 2, LEASE).await.unwrap(),
    );
    let first = claims::claim(&mut db, a, &wanted(7)).await.unwrap().unwrap();
    let second = claims::claim(&mut db, b, &wanted(7)).await.unwrap().unwrap();
    assert_eq!((first.positions(), second.positions()), (0..=6, 7..=9));
    assert_eq!(claims::claim(&mut db, a, &wanted(7)).await.unwrap(), None);
    assert!(!claims::done(&mut db, b, first.run_id, &[first.first_position]).await.unwrap());
    let rest = ClaimRequest { only: Some(run), ..wanted(64) };
    assert_eq!(claims::claim(&mut db, b, &rest).await.unwrap(), None, "the claim was not its own");
    assert!(!claims::done(&mut db, a, first.run_id, &[first.first_position]).await.unwrap());
    assert_eq!(claims::claim(&mut db, b, &rest).await.unwrap().unwrap().positions(), 10..=16);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_was_left_behind_is_taken_up_as_far_as_there_is_room(pool: PgPool) {
    let run = planned(&pool, &[HELP], 100, 1, &[]).await.control.run.id;
    let mut db = pool.acquire().await.unwrap();
    let gone = players::register(&mut db, "gone", 1, LEASE).await.unwrap();
    claims::claim(&mut db, gone, &wanted(64)).await.unwrap().unwrap();
    players::leave(&mut db, gone).await.unwrap();
    sqlx::query("UPDATE runs SET max_in_flight = 10").execute(&pool).await.unwrap();
    let other = planned(&pool, &[HELP], 4, 2, &[]).await.control.run.id;
    control::set_priority(&mut db, other, 5).await.unwrap();
    let player = players::register(&mut db, "here", 1, LEASE).await.unwrap();
    let mut taken = Vec::new();
    while let Some(claim) = claims::claim(&mut db, player, &wanted(4)).await.unwrap() {
        taken.push((claim.run_id, claim.positions(), claim.left_behind));
    }
    // What is more urgent comes first, though somebody had begun with the other one.
    assert_eq!(taken, [(other, 0..=3, false), (run, 0..=3, true), (run, 4..=7, true), (run, 8..=9, true)]);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_player_that_was_given_up_while_it_had_nothing_to_do_begins_anew(pool: PgPool) {
    // Neither a heartbeat nor a commit tells it in time.
    let options = Options {
        concurrency: 4,
        lease: Duration::from_hours(1),
        poll: Duration::from_hours(1),
        drain: Duration::ZERO,
        ..Options::default()
    };
    let (player, stop) = (Player::new(pool.clone(), ModelClients::new(hasty()), options), CancellationToken::new());
    let people = async {
        let mut db = pool.acquire().await.unwrap();
        until("it is there", async || !players::list(&mut db).await.unwrap().is_empty()).await;
        let silent = players::list(&mut db).await.unwrap()[0].id;
        players::leave(&mut db, silent).await.unwrap();
        let run = planned(&pool, &[HELP], 3, 1, &[]).await;
        until("it is played", async || summary(&run).await.state == RunState::Finished).await;
        assert!(players::list(&mut db).await.unwrap()[0].id > silent);
        stop.cancel();
        ledger::check(&pool, run.control.run.id).await;
    };
    let (played, ()) = tokio::join!(player.play(&stop), people);
    played.unwrap();
}

#[sqlx::test(migrations = "../migrations")]
async fn a_player_that_takes_a_run_up_again_knows_what_it_had_spent(pool: PgPool) {
    // Each reply costs 18 tokens. Unusable ones are blamed on the infrastructure, and count as well.
    let endpoint = Endpoint::start(agent::help).await;
    let run = Arc::new(planned(&pool, &[HELP], 10, 1, &[(Role::Agent, endpoint.model())]).await);
    let options = Options { concurrency: 2, drain: Duration::ZERO, ..Options::default() };
    let (player, stop) = (Player::new(pool.clone(), ModelClients::new(hasty()), options), CancellationToken::new());
    player.know(Arc::clone(&run));
    let people = async {
        let mut db = pool.acquire().await.unwrap();
        until("it is played", async || summary(&run).await.state == RunState::Finished).await;
        // As if all had been spoiled, and as if no more might be spent.
        sqlx::query("UPDATE tasks SET outcome = 'failed', blame = 'judge'").execute(&pool).await.unwrap();
        let asked = endpoint.requests().len();
        let budget = Budget { tokens: Some(18 * i64::try_from(asked).unwrap()), ..Budget::default() };
        sqlx::query("UPDATE runs SET budget = $1").bind(serde_json::json!(budget)).execute(&pool).await.unwrap();
        until("the player has given the run back", async || Arc::strong_count(&run) == 1).await;
        control::retry_failed(&mut db, run.control.run.id).await.unwrap();
        until("it is paused", async || summary(&run).await.state == RunState::Paused).await;
        assert_eq!(endpoint.requests().len(), asked, "nothing more is asked");
        stop.cancel();
    };
    let (played, ()) = tokio::join!(player.play(&stop), people);
    played.unwrap();
}

#[sqlx::test(migrations = "../migrations")]
async fn a_budget_stops_a_run_and_a_larger_one_lets_it_go_on(pool: PgPool) {
    // Each reply costs 18 tokens.
    let endpoint = Endpoint::start(agent::help).await;
    let run = planned(&pool, &[HELP], 40, 1, &[(Role::Agent, endpoint.model())]).await;
    let mut db = pool.acquire().await.unwrap();
    let id = run.control.run.id;
    let budget = Budget { tokens: Some(18 * 20), ..Budget::default() };
    control::set_budget(&mut db, id, &budget).await.unwrap();
    let run = play_all(taken_up(&run).await, 4).await;
    let stopped = summary(&run).await;
    assert_eq!(
        (stopped.state, stopped.paused_because.as_deref()),
        (RunState::Paused, Some("the budget of tokens is used up"))
    );
    let spent: i64 = stopped.usage.iter().map(|usage| usage.prompt_tokens + usage.completion_tokens).sum();
    assert!((18 * 20..18 * 24).contains(&spent), "calls in flight may go beyond it, no others: {spent}");
    assert_eq!(i64::try_from(endpoint.requests().len()).unwrap() * 18, spent);

    control::set_budget(&mut db, id, &Budget::default()).await.unwrap();
    control::resume(&mut db, id).await.unwrap();
    let run = play_all(taken_up(&run).await, 4).await;
    ledger::check(&pool, run.control.run.id).await;
}

#[expect(clippy::cast_precision_loss, reason = "counts of a small run")]
#[sqlx::test(migrations = "../migrations")]
async fn a_budget_of_money_stops_a_run_and_each_row_has_its_price(pool: PgPool) {
    let endpoint = Endpoint::start(agent::help).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let price = Price { prompt: 1000.0, completion: 5000.0 };
    let run = planned_as(&pool, &[HELP], 40, 1, &[(Role::Agent, "priced".to_owned())], |config| {
        config.pools = vec![PoolSpec { price: Some(price), ..PoolSpec::new("priced", vec![url]) }];
    })
    .await;
    let mut db = pool.acquire().await.unwrap();
    let (id, cap) = (run.control.run.id, 0.5);
    control::set_budget(&mut db, id, &Budget { money: Some(cap), ..Budget::default() }).await.unwrap();
    let run = play_all(taken_up(&run).await, 4).await;
    let stopped = summary(&run).await;
    assert_eq!(stopped.paused_because.as_deref(), Some("the budget of money is used up"));
    let (mut spent, mut each) = (0.0, 0.0);
    for usage in stopped.usage.iter().filter(|usage| usage.model == "priced") {
        let (prompt, completion) = (usage.prompt_tokens as f64, usage.completion_tokens as f64);
        spent += (prompt * price.prompt + completion * price.completion) / 1e6;
        each = spent / usage.calls as f64;
        assert!((usage.cost - spent).abs() < 1e-9, "{usage:?}");
    }
    assert!((cap..cap + 4.0 * each).contains(&spent), "calls in flight may go beyond it, no others: {spent}");

    let forecast = Forecast::of(&stopped, 60.0).unwrap();
    let (rows, played) = (stopped.accepted as f64, stopped.finished as f64);
    assert!((forecast.cost_per_accepted_row.unwrap() - spent / rows).abs() < 1e-9);
    assert!((forecast.cost - spent / played * 40.0).abs() < 1e-9);
    assert!((forecast.seconds - 60.0 / played * 40.0).abs() < 1e-9);
}

#[sqlx::test(migrations = "../migrations")]
async fn budgets_of_conversations_and_time(pool: PgPool) {
    let mut db = pool.acquire().await.unwrap();
    let run = planned(&pool, &[HELP], 40, 1, &[]).await;
    let budget = Budget { conversations: Some(7), ..Budget::default() };
    control::set_budget(&mut db, run.control.run.id, &budget).await.unwrap();
    let run = play_all(taken_up(&run).await, 4).await;
    let stopped = summary(&run).await;
    assert_eq!(stopped.finished, 7);
    assert_eq!(stopped.paused_because.as_deref(), Some("the budget of conversations is used up"));

    let endpoint = Endpoint::start_slow(Duration::from_millis(100), agent::help).await;
    let slow = planned(&pool, &[HELP], 1000, 1, &[(Role::Agent, endpoint.model())]).await;
    let budget = Budget { seconds: Some(1), ..Budget::default() };
    control::set_budget(&mut db, slow.control.run.id, &budget).await.unwrap();
    let slow = play_all(taken_up(&slow).await, 4).await;
    assert_eq!(summary(&slow).await.paused_because.as_deref(), Some("the budget of time is used up"));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_player_hears_of_new_runs_and_plays_all_of_them(pool: PgPool) {
    // It would look by itself only after an hour.
    let options =
        Options { concurrency: 4, poll: Duration::from_hours(1), drain: Duration::ZERO, ..Options::default() };
    let player = Player::new(pool.clone(), ModelClients::new(hasty()), options);
    let stop = CancellationToken::new();
    let people = async {
        until("it listens", async || listeners(&pool).await.len() == 1).await;
        let first = planned(&pool, &[HELP], 3, 1, &[]).await;
        let second = planned_as(&pool, &[TRANSFER], 3, 1, &[], |_| {}).await;
        until("both are played", async || {
            summary(&first).await.state == RunState::Finished && summary(&second).await.state == RunState::Finished
        })
        .await;
        stop.cancel();
        ledger::check(&pool, first.control.run.id).await;
        ledger::check(&pool, second.control.run.id).await;
    };
    let (played, ()) = tokio::join!(player.play(&stop), people);
    played.unwrap();
}
