//! Runs that are paused and go on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::api::RunState;
use sqlx::PgPool;
use store::control;

use crate::support::endpoint::{Act, Endpoint};
use crate::support::kind::Spec;
use crate::support::outside::{Outside, answer_all, waiting};
use crate::support::play::{
    attempts, check, check_ledger, counted, kept, planned, play, start, stopped, summary, until_state,
};
use crate::support::task::Step;
use crate::support::until;

#[sqlx::test(migrations = "../../migrations")]
async fn calls_in_flight_are_waited_for_and_nothing_more_is_asked(pool: PgPool) {
    let endpoint = Endpoint::start(|_| Act::Hold).await;
    let outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), 5).await;
    let mut db = pool.acquire().await.unwrap();
    let playing = start(&pool, run, 2).await;
    until("two tasks ask all their questions", async || endpoint.in_flight() == 8).await;
    control::pause(&mut db, run, None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!playing.is_finished(), "it waits for what is in flight");
    endpoint.behave(|_| Act::Answer);
    stopped(playing).await;
    assert_eq!(summary(&pool, run).await.state, RunState::Paused);
    assert_eq!((endpoint.asked(), kept(&pool, run).await.len()), (8, 8), "all that was in flight is kept");

    control::resume(&mut db, run).await.unwrap();
    drop(db);
    play(&pool, run, 2).await;
    check(&pool, run).await;
    assert_eq!(endpoint.asked(), kept(&pool, run).await.len(), "nothing was asked twice");
    assert_eq!(counted(&pool, run).await, endpoint.asked());
    assert_eq!(outside.answered().await.len(), 10);
}

#[sqlx::test(migrations = "../../migrations")]
async fn somebody_outside_is_not_waited_for(pool: PgPool) {
    let endpoint = Endpoint::start(|_| Act::Answer).await;
    let run = planned(&pool, &Spec::of(endpoint.model()), 3).await;
    let mut db = pool.acquire().await.unwrap();
    let playing = start(&pool, run, 4).await;
    until("agents and jobs are asked", async || waiting(&pool).await.len() == 6).await;
    control::pause(&mut db, run, None).await.unwrap();
    stopped(playing).await;
    assert_eq!(summary(&pool, run).await.state, RunState::Paused);
    let held: i64 =
        sqlx::query_scalar("SELECT count(*) FROM claims WHERE player IS NOT NULL").fetch_one(&pool).await.unwrap();
    assert_eq!(held, 0, "others can go on at once");

    // Whoever is outside need not know that the run is paused.
    assert_eq!(answer_all(&pool).await.len(), 6);
    let asked = endpoint.asked();
    control::resume(&mut db, run).await.unwrap();
    drop(db);
    play(&pool, run, 4).await;
    check(&pool, run).await;
    assert_eq!(endpoint.asked(), asked + 3, "only the summaries were missing");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_call_in_flight_is_waited_for_though_another_task_waits_for_somebody_outside(pool: PgPool) {
    let endpoint = Endpoint::start(|prompt| if prompt.contains("task 1,") { Act::Hold } else { Act::Answer }).await;
    let run = planned(&pool, &Spec::of(endpoint.model()), 2).await;
    let mut db = pool.acquire().await.unwrap();
    let playing = start(&pool, run, 2).await;
    until("one task waits outside, one for a model", async || {
        waiting(&pool).await.len() == 2 && endpoint.in_flight() == 4
    })
    .await;
    control::pause(&mut db, run, None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!playing.is_finished());
    endpoint.behave(|_| Act::Answer);
    stopped(playing).await;
    let answered = attempts(&pool, run).await[1].answered();
    assert_eq!(answered.len(), 4, "{answered:?}");
    assert!(answered.iter().all(|step| matches!(step, Step::Question(_))), "{answered:?}");

    control::resume(&mut db, run).await.unwrap();
    drop(db);
    let _outside = Outside::start(&pool);
    play(&pool, run, 2).await;
    check(&pool, run).await;
    assert_eq!(endpoint.asked(), kept(&pool, run).await.len());
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_run_that_goes_on_in_the_same_process_waits_for_the_same_requests(pool: PgPool) {
    let endpoint = Endpoint::start(|prompt| if prompt.contains("task 1,") { Act::Hold } else { Act::Answer }).await;
    let run = planned(&pool, &Spec::of(endpoint.model()), 2).await;
    let mut db = pool.acquire().await.unwrap();
    let playing = start(&pool, run, 2).await;
    until("one task waits outside, one for a model", async || {
        waiting(&pool).await.len() == 2 && endpoint.in_flight() == 4
    })
    .await;
    let before = waiting(&pool).await;
    // The call in flight keeps the player, which lets the other task go.
    control::pause(&mut db, run, None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    control::resume(&mut db, run).await.unwrap();
    drop(db);
    assert_eq!(waiting(&pool).await, before);
    endpoint.behave(|_| Act::Answer);
    let outside = Outside::start(&pool);
    stopped(playing).await;
    check(&pool, run).await;
    assert_eq!(outside.answered().await.len(), 4);
    assert_eq!(endpoint.asked(), kept(&pool, run).await.len());
}

/// A model that answers nobody pauses its run.
#[sqlx::test(migrations = "../../migrations")]
async fn other_calls_of_a_task_are_waited_for_when_a_model_is_out_of_order(pool: PgPool) {
    // Each task loses its first question; the others are in flight meanwhile.
    let endpoint =
        Endpoint::start(|prompt| if prompt.starts_with("question 0 ") { Act::Refuse } else { Act::Hold }).await;
    let run = planned(&pool, &Spec::of(endpoint.model()), 12).await;
    let mut db = pool.acquire().await.unwrap();
    let playing = start(&pool, run, 1).await;
    until_state(&pool, run, RunState::Paused).await;
    let because = summary(&pool, run).await.paused_because.unwrap();
    assert!(because.starts_with("a model does not answer any more: "), "{because}");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!playing.is_finished(), "it waits for what is in flight");
    let asked = endpoint.asked();
    endpoint.behave(|prompt| if prompt.starts_with("question 0 ") { Act::Refuse } else { Act::Answer });
    stopped(playing).await;
    let last = attempts(&pool, run).await.pop().unwrap();
    let mut answered = last.answered();
    answered.sort();
    assert_eq!(answered, [1, 2, 3].map(Step::Question), "task {}", last.position);
    assert_eq!(endpoint.asked(), asked, "nothing more is asked");

    endpoint.behave(|_| Act::Answer);
    control::resume(&mut db, run).await.unwrap();
    let _outside = Outside::start(&pool);
    play(&pool, run, 4).await;
    check_ledger(&pool, run).await;
    let spoiled = summary(&pool, run).await.failures;
    assert_eq!(spoiled, [("infrastructure".to_owned(), i64::from(last.position))].into());
    assert_eq!(control::retry_failed(&mut db, run).await.unwrap(), i64::from(last.position));
    drop(db);
    play(&pool, run, 4).await;
    check(&pool, run).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_call_that_was_made_before_the_pause_and_lost_after_it_does_not_pause_the_run_again(pool: PgPool) {
    let endpoint =
        Endpoint::start(|prompt| if prompt.starts_with("question 0 ") { Act::Refuse } else { Act::Hold }).await;
    let run = planned(&pool, &Spec::of(endpoint.model()), 12).await;
    let mut db = pool.acquire().await.unwrap();
    let playing = start(&pool, run, 1).await;
    until_state(&pool, run, RunState::Paused).await;
    until("the other questions are in flight", async || endpoint.in_flight() == 3).await;
    control::resume(&mut db, run).await.unwrap();
    // Until the player has heard of it.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let asked = endpoint.asked();
    let held = AtomicUsize::new(3);
    let take = move || held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
    endpoint.behave(move |_| if take() { Act::Refuse } else { Act::Answer });
    let _outside = Outside::start(&pool);
    stopped(playing).await;
    let ended = summary(&pool, run).await;
    assert_eq!(ended.state, RunState::Finished, "{:?}", ended.paused_because);
    let failed: i64 = ended.failures.values().sum();
    assert_eq!(
        (ended.finished, ended.accepted),
        (12, 12 - failed),
        "what was lost before the resumption is asked again"
    );
    assert_eq!(failed, 9, "each was lost before the pause");
    assert!(endpoint.asked() > asked);
    check_ledger(&pool, run).await;
}
