//! How many requests a replica is given at once.

use std::time::Instant;

use llm::{EndpointOptions, Pool, PoolSpec};

use super::{Act, Fake, MS, ask, ask_all, options, pool, spec, until};

#[tokio::test]
async fn the_limit_grows_while_it_is_reached_up_to_its_maximum() {
    let fake = Fake::start(|_| Act::ReplyAfter(MS)).await;
    let spec = PoolSpec { start_in_flight: 2, max_in_flight: Some(12), ..spec(&[&fake]) };
    let pool = Pool::new(&spec, options()).unwrap();
    for sticky in 0..10 {
        pool.answer(&ask(), sticky).await.unwrap();
    }
    assert_eq!(pool.status().replicas[0].limit, 2, "one at a time says nothing about more");
    assert!(ask_all(&pool, 0..100).await.iter().all(Result::is_ok));
    assert_eq!(pool.status().replicas[0].limit, 12);
    assert!(fake.most_running() <= 12, "{}", fake.most_running());
}

#[tokio::test]
async fn a_rate_limit_rests_the_replica_and_shrinks_its_limit_once() {
    // Ten at once: all are refused, and nothing more is sent until the time is up.
    let fake = Fake::start(|n| if (1..11).contains(&n) { Act::Limited("0.3") } else { Act::Reply }).await;
    let pool = pool(&[&fake]);
    pool.answer(&ask(), 0).await.unwrap();
    let begin = Instant::now();
    let answers = ask_all(&pool, 0..10).await;
    assert!(begin.elapsed() >= 300 * MS);
    assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|answer| answer.attempts == 2)), "{answers:?}");
    let status = pool.status();
    assert_eq!((status.replicas[0].limit, status.replicas[0].ok, status.replicas[0].failed), (11, 11, 10));
    assert_eq!(status.replicas[0].health, llm::Health::Closed, "who answers is there");
}

#[tokio::test]
async fn another_replica_takes_over_for_one_that_rests() {
    let resting = Fake::start(|_| Act::Limited("60")).await;
    let other = Fake::start(|_| Act::Reply).await;
    let pool = pool(&[&resting, &other]);
    let answers = ask_all(&pool, 0..20).await;
    assert!(answers.iter().all(Result::is_ok));
    let asked = resting.requests();
    assert!((1..=16).contains(&asked));
    assert!(ask_all(&pool, 0..20).await.iter().all(|answer| answer.as_ref().unwrap().attempts == 1));
    assert_eq!(resting.requests(), asked, "it is left alone");
}

#[tokio::test]
async fn a_busy_endpoint_never_makes_a_call_fail() {
    // Three of four are turned away, for much longer than any call has attempts, and the first ones all.
    let fake = Fake::start(|n| if n > 20 && n % 4 == 0 { Act::Reply } else { Act::Limited("0") }).await;
    let options = EndpointOptions { max_attempts: 2, ..options() };
    let pool = Pool::new(&spec(&[&fake]), options).unwrap();
    let answers = ask_all(&pool, 0..40).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
}

#[tokio::test]
async fn slow_first_bytes_are_setbacks() {
    let fake = Fake::start(|_| Act::ReplyAfter(20 * MS)).await;
    let spec = PoolSpec { slow_after_seconds: Some(0.005), ..spec(&[&fake]) };
    let pool = Pool::new(&spec, options()).unwrap();
    for expected in [11, 7, 4] {
        pool.answer(&ask(), 0).await.unwrap();
        assert_eq!(pool.status().replicas[0].limit, expected);
    }
    assert!(pool.status().replicas[0].first_byte_ms.is_some_and(|ms| ms >= 20.0));
}

#[tokio::test]
async fn errors_and_silence_shrink_the_limit_and_replies_grow_it_again() {
    for failing in [Act::Status(500), Act::Hang] {
        let fake = Fake::start(move |n| if n == 1 { failing } else { Act::ReplyAtGate }).await;
        let options = EndpointOptions { first_byte_timeout: 2_000 * MS, ..options() };
        let pool = Pool::new(&spec(&[&fake]), options).unwrap();
        let limit = || pool.status().replicas[0].limit;
        fake.open_gate(1);
        pool.answer(&ask(), 0).await.unwrap();
        assert_eq!(limit(), 16);
        let looking = async {
            until("it is asked again", || fake.requests() == 3).await;
            assert_eq!(limit(), 11, "{failing:?}");
            fake.open_gate(99);
        };
        let ask = ask();
        let (answer, ()) = tokio::join!(pool.answer(&ask, 0), looking);
        assert_eq!(answer.unwrap().attempts, 2);
        // More than three rounds of as many as it takes at once.
        assert!(ask_all(&pool, 0..60).await.iter().all(Result::is_ok));
        assert!(limit() > 11, "{}", limit());
    }
}
