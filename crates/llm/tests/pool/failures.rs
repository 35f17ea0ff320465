//! Replicas that fail now and then: every call is answered all the same.

use llm::{EndpointOptions, Failure, Pool, PoolSpec};

use super::{Act, Fake, MS, ask, ask_all, assert_nothing_leaked, options, pool, spec};

#[tokio::test]
async fn a_dead_replica_costs_no_call() {
    let alive = Fake::start(|_| Act::Reply).await;
    let spec = PoolSpec::new("m", vec![Fake::nobody().await, alive.url.clone()]);
    // Not even a wait: backing off would take ten seconds.
    let slow = EndpointOptions { backoff: 20_000 * MS, max_backoff: 20_000 * MS, ..options() };
    let pool = Pool::new(&spec, slow).unwrap();
    let answers = ask_all(&pool, 0..50).await;
    assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|answer| answer.attempts <= 2)), "{answers:?}");
    assert_eq!(alive.requests(), 50);
}

#[tokio::test]
async fn mixed_failures_lose_no_call() {
    let fake = Fake::start(|n| match n * 37 % 100 {
        0..6 => Act::Status(500),
        6..12 => Act::Limited("0"),
        12..18 => Act::Hang,
        18..24 => Act::Cut,
        24..30 => Act::Garbage,
        _ => Act::Reply,
    });
    let fake = fake.await;
    let options = EndpointOptions { first_byte_timeout: 100 * MS, ..options() };
    let pool = Pool::new(&spec(&[&fake]), options).unwrap();
    let answers = ask_all(&pool, 0..300).await;
    let attempts: usize = answers.iter().map(|answer| answer.as_ref().unwrap().attempts as usize).sum();
    // Each request is in the attempts of the call that made it.
    assert!(attempts >= fake.requests());
    assert!(attempts > 390, "{attempts}");
    assert_nothing_leaked(&pool).await;
}

#[tokio::test]
async fn a_replica_with_another_key_or_without_the_model_is_passed_over() {
    for status in [401, 403, 404] {
        let refusing = Fake::start(move |_| Act::Status(status)).await;
        let other = Fake::start(|_| Act::ReplyAfter(MS)).await;
        // The refusing one always has a free slot, and must not get the same call twice for it.
        let spec = PoolSpec { max_in_flight: Some(2), ..spec(&[&refusing, &other]) };
        let pool = Pool::new(&spec, options()).unwrap();
        let answers = ask_all(&pool, 0..30).await;
        assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|answer| answer.attempts <= 2)), "{answers:?}");
    }
}

#[tokio::test]
async fn what_the_request_is_to_blame_for_is_not_tried_elsewhere() {
    for status in [400, 422] {
        let fakes = [Fake::start(move |_| Act::Status(status)).await, Fake::start(move |_| Act::Status(status)).await];
        let error = pool(&fakes.each_ref()).answer(&ask(), 1).await.unwrap_err();
        assert_eq!(error.failure, Failure::Refused { status, message: "because".into() });
        assert_eq!(fakes.iter().map(Fake::requests).sum::<usize>(), 1);
    }
}

#[tokio::test]
async fn a_refusal_of_every_replica_is_the_answer() {
    let fakes = [Fake::start(|_| Act::Status(404)).await, Fake::start(|_| Act::Status(404)).await];
    let error = pool(&fakes.each_ref()).answer(&ask(), 1).await.unwrap_err();
    assert_eq!((error.attempts, fakes.each_ref().map(Fake::requests)), (2, [1, 1]));
    assert!(error.to_string().starts_with("m (m@http://127.0.0.1:"), "{error}");
}
