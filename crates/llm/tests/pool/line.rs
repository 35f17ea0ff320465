//! Waiting for a slot.

use std::time::Duration;

use futures::future::join_all;
use llm::{EndpointOptions, Pool, PoolSpec};

use super::{Act, Fake, MS, ask, ask_all, assert_nothing_leaked, options, spec, until};

fn one_at_a_time(replicas: &[&Fake], options: EndpointOptions) -> Pool {
    Pool::new(&PoolSpec { max_in_flight: Some(1), ..spec(replicas) }, options).unwrap()
}

#[tokio::test]
async fn waiting_in_line_never_times_out() {
    let fake = Fake::start(|_| Act::ReplyAfter(25 * MS)).await;
    let short = 500 * MS;
    let options = EndpointOptions {
        first_byte_timeout: short,
        idle_timeout: short,
        total_timeout: short,
        connect_timeout: short,
        patience: Duration::ZERO,
        max_attempts: 1,
        ..options()
    };
    let pool = one_at_a_time(&[&fake], options);
    // The last one waits for several times the timeouts.
    let answers = ask_all(&pool, 0..60).await;
    assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|answer| answer.attempts == 1)));
    assert_eq!(fake.most_running(), 1);
}

#[tokio::test]
async fn thousands_wait_and_each_gets_a_turn() {
    let fake = Fake::start(|_| Act::ReplyAtGate).await;
    let pool = one_at_a_time(&[&fake], options());
    let opening = async {
        until("all but one wait", || pool.status().waiting == 999).await;
        fake.open_gate(1_000);
    };
    let (answers, ()) = tokio::join!(ask_all(&pool, 0..1_000), opening);
    assert!(answers.iter().all(Result::is_ok));
    assert_nothing_leaked_after(&pool, &fake).await;
}

#[tokio::test]
async fn calls_that_are_dropped_give_their_slots_and_places_back() {
    let fakes = [Fake::start(|_| Act::ReplyAtGate).await, Fake::start(|_| Act::ReplyAfter(MS)).await];
    let pool = std::sync::Arc::new(one_at_a_time(&fakes.each_ref(), options()));
    let tasks = (0..200_u64).map(|call| {
        let pool = std::sync::Arc::clone(&pool);
        tokio::spawn(async move {
            // Some are dropped while they wait, some while they are answered, and some are answered.
            let limit = Duration::from_millis(call % 97 * 10);
            tokio::time::timeout(limit, pool.answer(&ask(), call)).await.is_ok_and(|answer| answer.is_ok())
        })
    });
    let answered = join_all(tasks).await.into_iter().filter(|done| *done.as_ref().unwrap()).count();
    assert!(answered > 0 && answered < 200, "{answered}");
    fakes[0].open_gate(999);
    assert_nothing_leaked(&pool).await;
}

async fn assert_nothing_leaked_after(pool: &Pool, fake: &Fake) {
    fake.open_gate(1);
    assert_nothing_leaked(pool).await;
}
