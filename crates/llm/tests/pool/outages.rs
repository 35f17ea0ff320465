//! Replicas that are gone for a while, or were never there.

use std::time::Duration;

use llm::{EndpointOptions, EndpointSpec, Health, Pool, PoolSpec};

use super::{Act, Fake, MS, ask, ask_all, assert_nothing_leaked, options, pool, spec, until};

#[tokio::test]
async fn an_endpoint_that_was_never_there_is_said_soon() {
    let url = Fake::nobody().await;
    let spec: EndpointSpec = format!("gpt-x@{url}").parse().unwrap();
    let pool = Pool::of_endpoint(spec, options()).unwrap();
    let errors = ask_all(&pool, 0..20).await;
    let said = errors.into_iter().map(|answer| answer.unwrap_err().to_string().replace(&url, "URL"));
    for error in said {
        insta::allow_duplicates! {
            insta::assert_snapshot!(error, @"gpt-x@URL: cannot be reached (Connection refused (os error 111)); check that the server runs and that the base URL is right (attempts: 5)");
        }
    }
}

#[tokio::test]
async fn the_breaker_opens_lets_one_through_and_closes() {
    // Answers once, fails until the test says otherwise.
    let fake = Fake::start(|n| if n == 0 { Act::Reply } else { Act::HangUp }).await;
    let slow = EndpointOptions { outage_wait: 400 * MS, max_outage_wait: 400 * MS, ..options() };
    let pool = std::sync::Arc::new(Pool::new(&spec(&[&fake]), slow).unwrap());
    pool.answer(&ask(), 0).await.unwrap();
    let health = || pool.status().replicas[0].health;
    assert_eq!(health(), Health::Closed);

    let calls: Vec<_> = (0..20)
        .map(|call| {
            let pool = std::sync::Arc::clone(&pool);
            tokio::spawn(async move { pool.answer(&ask(), call).await })
        })
        .collect();
    until("it opens", || health() == Health::Open).await;
    until("all wait", || pool.status().waiting == 20).await;
    let asked = fake.requests();

    let fake = fake.again(|_| Act::ReplyAtGate).await;
    until("it is tried", || fake.requests() == 1).await;
    until("the others wait", || pool.status().waiting == 19).await;
    assert_eq!((health(), pool.status().replicas[0].in_flight), (Health::HalfOpen, 1));
    fake.open_gate(99);
    for call in calls {
        assert!(call.await.unwrap().is_ok());
    }
    assert_eq!(health(), Health::Closed);
    assert!(asked <= 21, "{asked}: nothing is sent to an open breaker");
    fake.open_gate(1);
    assert_nothing_leaked(&pool).await;
}

#[tokio::test]
async fn a_model_that_worked_is_waited_for_until_patience_ends() {
    let fake = Fake::start(|_| Act::Reply).await;
    let options = EndpointOptions { patience: 300 * MS, ..options() };
    let pool = Pool::new(&spec(&[&fake]), options).unwrap();
    pool.answer(&ask(), 0).await.unwrap();
    fake.stop().await;
    let begin = tokio::time::Instant::now();
    let answers = ask_all(&pool, 0..10).await;
    assert!(begin.elapsed() >= Duration::from_millis(300));
    for answer in answers {
        let error = answer.unwrap_err().to_string();
        assert!(error.contains("cannot be reached (Connection refused"), "{error}");
    }
    // Far more than any call has attempts, were they counted.
    let _again = fake.again(|_| Act::Reply).await;
    assert_nothing_leaked(&pool).await;
}

#[tokio::test]
async fn a_restart_costs_no_call() {
    let fake = Fake::start(|_| Act::Reply).await;
    let pool = pool(&[&fake]);
    pool.answer(&ask(), 0).await.unwrap();
    fake.stop().await;
    let restart = async {
        until("all wait, or all but the one that tries", || pool.status().waiting >= 99).await;
        fake.again(|_| Act::Reply).await
    };
    let (answers, _again) = tokio::join!(ask_all(&pool, 0..100), restart);
    assert!(answers.iter().all(Result::is_ok));
}

#[tokio::test]
async fn calls_go_elsewhere_while_a_breaker_is_open() {
    let failing = Fake::start(|_| Act::Status(500)).await;
    let other = Fake::start(|_| Act::Reply).await;
    let slow = EndpointOptions { outage_wait: 60_000 * MS, max_outage_wait: 60_000 * MS, ..options() };
    let pool = Pool::new(&spec(&[&failing, &other]), slow).unwrap();
    for sticky in 0..40 {
        pool.answer(&ask(), sticky).await.unwrap();
    }
    assert!((5..=9).contains(&failing.requests()), "{}", failing.requests());
    let health: Vec<_> = pool.status().replicas.iter().map(|replica| replica.health).collect();
    assert_eq!(health, [Health::Open, Health::Closed]);
}

#[test]
fn a_pool_that_cannot_be_is_refused() {
    let error = |spec: &PoolSpec| Pool::new(spec, EndpointOptions::default()).unwrap_err().to_string();
    assert_eq!(
        error(&PoolSpec::new("m", vec![])),
        "m: replicas: expected at least one base URL, or `workers: true` for a model that workers serve"
    );
    let secret = PoolSpec::new("m", vec!["http://ann:secret@host/v1".into()]);
    assert_eq!(error(&secret), "m: replicas/0: the base URL holds a user name or password, which would be stored");
}
