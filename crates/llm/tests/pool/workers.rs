//! Pools whose replicas come and go.

use llm::{Availability, Member, Pool, PoolSpec};

use super::fake::{Act, Fake};
use super::{MS, ask, ask_all, assert_nothing_leaked, options, until};

fn pool() -> Pool {
    Pool::new(&PoolSpec::of_workers("m"), options()).unwrap()
}

fn worker(number: i64, fake: &Fake, standing: Availability) -> Member {
    let url = fake.url.clone();
    Member { worker: number, url, served_as: None, key_env: None, max_in_flight: None, standing }
}

fn follow(pool: &Pool, members: &[Member]) {
    assert!(pool.follow(members).is_empty());
}

#[tokio::test]
async fn calls_wait_until_a_worker_joins() {
    let (pool, fake) = (pool(), Fake::start(|_| Act::Reply).await);
    let join = async {
        until("the call waits", || pool.status().waiting == 1).await;
        follow(&pool, &[worker(1, &fake, Availability::Serving)]);
    };
    let ask = ask();
    let (answer, ()) = tokio::join!(pool.answer(&ask, 1), join);
    assert_eq!(answer.unwrap().attempts, 1);
    assert_nothing_leaked(&pool).await;
}

#[tokio::test]
async fn without_any_worker_patience_ends_and_says_what_to_start() {
    let options = llm::EndpointOptions { patience: 20 * MS, ..options() };
    let pool = Pool::new(&PoolSpec::of_workers("m"), options).unwrap();
    let error = pool.answer(&ask(), 1).await.unwrap_err().to_string();
    assert_eq!(error, "m: is served by no worker; start one with `groundstate worker` (attempts: 0)");
}

#[tokio::test]
async fn what_a_worker_that_leaves_was_asked_another_answers() {
    let (hanging, other) = (Fake::start(|_| Act::Hang).await, Fake::start(|_| Act::Reply).await);
    let pool = pool();
    follow(&pool, &[worker(1, &hanging, Availability::Serving)]);
    let leave = async {
        until("all are asked", || hanging.requests() == 9).await;
        follow(&pool, &[worker(2, &other, Availability::Serving)]);
    };
    let (answers, ()) = tokio::join!(ask_all(&pool, 0..9), leave);
    assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|answer| answer.attempts == 2)), "{answers:?}");
    assert_eq!((other.requests(), pool.status().replicas.len()), (9, 1));
    assert_nothing_leaked(&pool).await;
}

#[tokio::test]
async fn one_that_leaves_ends_what_it_has_begun_and_gets_nothing_new() {
    let (leaving, other) = (Fake::start(|_| Act::ReplyAtGate).await, Fake::start(|_| Act::Reply).await);
    let pool = pool();
    follow(&pool, &[worker(1, &leaving, Availability::Serving)]);
    let leave = async {
        until("it is asked", || leaving.requests() == 1).await;
        follow(&pool, &[worker(1, &leaving, Availability::Leaving), worker(2, &other, Availability::Serving)]);
        assert!(ask_all(&pool, 0..20).await.iter().all(Result::is_ok));
        leaving.open_gate(1);
    };
    let ask = ask();
    let (answer, ()) = tokio::join!(pool.answer(&ask, 1), leave);
    assert_eq!(answer.unwrap().attempts, 1);
    assert_eq!((leaving.requests(), other.requests()), (1, 20));
}

#[tokio::test]
async fn a_lost_one_is_asked_only_where_there_is_nobody_else() {
    let (lost, other) = (Fake::start(|_| Act::Reply).await, Fake::start(|_| Act::Reply).await);
    let pool = pool();
    follow(&pool, &[worker(1, &lost, Availability::Lost), worker(2, &other, Availability::Serving)]);
    assert!(ask_all(&pool, 0..20).await.iter().all(Result::is_ok));
    assert_eq!((lost.requests(), other.requests()), (0, 20));
    // The server was away: nobody has been heard of, and all of them answer.
    follow(&pool, &[worker(1, &lost, Availability::Lost), worker(2, &other, Availability::Lost)]);
    assert!(ask_all(&pool, 0..40).await.iter().all(Result::is_ok));
    assert!(lost.requests() > 0 && other.requests() > 20);
    assert_nothing_leaked(&pool).await;
}

#[tokio::test]
async fn nobody_waits_for_a_lost_one_while_another_serves() {
    let (hanging, other) = (Fake::start(|_| Act::Hang).await, Fake::start(|_| Act::Reply).await);
    let pool = pool();
    follow(&pool, &[worker(1, &hanging, Availability::Serving)]);
    let lose = async {
        until("it is asked", || hanging.requests() == 1).await;
        follow(&pool, &[worker(1, &hanging, Availability::Lost)]);
        follow(&pool, &[worker(1, &hanging, Availability::Lost), worker(2, &other, Availability::Serving)]);
    };
    let ask = ask();
    let (answer, ()) = tokio::join!(pool.answer(&ask, 1), lose);
    assert_eq!(answer.unwrap().attempts, 2);
}

#[tokio::test]
async fn one_that_comes_back_is_as_new() {
    let fake = Fake::start(|_| Act::HangUp).await;
    let pool = Pool::new(&PoolSpec::of_workers("m"), llm::EndpointOptions { patience: 30 * MS, ..options() }).unwrap();
    follow(&pool, &[worker(1, &fake, Availability::Serving)]);
    ask_all(&pool, 0..9).await.iter().for_each(|answer| assert!(answer.is_err()));
    let back = fake.again(|_| Act::Reply).await;
    follow(&pool, &[worker(2, &back, Availability::Serving)]);
    assert_eq!(pool.answer(&ask(), 1).await.unwrap().attempts, 1);
    assert_eq!(pool.status().replicas.len(), 1);
}

#[tokio::test]
async fn a_reply_of_another_model_is_not_taken() {
    let (other, right) = (Fake::start(|_| Act::ReplyAs("mistral")).await, Fake::start(|_| Act::ReplyAs("m")).await);
    let pool = pool();
    follow(&pool, &[worker(1, &other, Availability::Serving), worker(2, &right, Availability::Serving)]);
    let answers = ask_all(&pool, 0..30).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(right.requests(), 30);
    // An endpoint of models.yaml may have more than one name for it.
    let fixed = super::pool(&[&other]);
    assert!(fixed.answer(&ask(), 1).await.is_ok());
}

#[tokio::test]
async fn a_worker_whose_key_is_not_here_is_named_and_the_others_serve() {
    let (locked, open) = (Fake::start(|_| Act::Reply).await, Fake::start(|_| Act::Reply).await);
    let pool = pool();
    let locked = Member { key_env: Some("ENGINE_KEY_OF_NOBODY".into()), ..worker(1, &locked, Availability::Serving) };
    let failed = pool.follow(&[locked, worker(2, &open, Availability::Serving)]);
    assert!(failed[0].to_string().ends_with("ENGINE_KEY_OF_NOBODY, which must hold the key, is not set or empty"));
    assert!(pool.answer(&ask(), 1).await.is_ok());
}

#[tokio::test]
async fn a_worker_is_sent_no_other_variable_than_a_key_of_an_engine() {
    let thief = Fake::start(|_| Act::Reply).await;
    let pool = pool();
    // It is set, here as everywhere.
    let thief = Member { key_env: Some("PATH".into()), ..worker(1, &thief, Availability::Serving) };
    let failed = pool.follow(&[thief]);
    assert!(failed[0].to_string().ends_with("names PATH as its key, and may only name what begins with ENGINE_KEY"));
    assert!(pool.status().replicas.is_empty());
}
