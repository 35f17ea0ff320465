//! Pools over replicas that are busy, broken or gone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

mod failures;
mod fake;
mod limits;
mod line;
mod outages;
mod routing;
mod workers;

use std::time::Duration;

use domain::chat::ChatRequest;
use domain::message::Message;
use domain::role::Role;
use futures::future::join_all;
use llm::{Answer, EndpointOptions, ModelError, Pool, PoolSpec};

use fake::{Act, Fake};

const MS: Duration = Duration::from_millis(1);

fn ask() -> ChatRequest {
    ChatRequest {
        role: Role::Agent.into(),
        messages: vec![Message::User { content: "hello".into() }],
        tools: Vec::new(),
        schema: None,
        temperature: 0.7,
        max_tokens: 99,
        seed: 42,
    }
}

fn options() -> EndpointOptions {
    EndpointOptions {
        backoff: MS,
        max_backoff: 5 * MS,
        outage_wait: 5 * MS,
        max_outage_wait: 20 * MS,
        ..EndpointOptions::default()
    }
}

fn spec(replicas: &[&Fake]) -> PoolSpec {
    PoolSpec::new("m", replicas.iter().map(|replica| replica.url.clone()).collect())
}

fn pool(replicas: &[&Fake]) -> Pool {
    Pool::new(&spec(replicas), options()).unwrap()
}

/// Asks with these sticky numbers, all at once.
async fn ask_all(pool: &Pool, sticky: impl IntoIterator<Item = u64>) -> Vec<Result<Answer, ModelError>> {
    let ask = ask();
    join_all(sticky.into_iter().map(|sticky| pool.answer(&ask, sticky))).await
}

/// Waits until something has come about, and fails if it does not.
async fn until(what: &str, mut reached: impl FnMut() -> bool) {
    for _ in 0..5_000 {
        if reached() {
            return;
        }
        tokio::time::sleep(MS).await;
    }
    panic!("never: {what}");
}

/// What is left when nobody asks any more: every slot is free, and takes a new call.
async fn assert_nothing_leaked(pool: &Pool) {
    until("all slots are free", || pool.status().replicas.iter().all(|replica| replica.in_flight == 0)).await;
    assert_eq!(pool.status().waiting, 0);
    assert_eq!(pool.answer(&ask(), 0).await.unwrap().reply.content, "fine");
}
