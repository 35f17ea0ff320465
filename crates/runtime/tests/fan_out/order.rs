//! The same seed gives the same rows, in whatever order the answers come.

use std::time::Duration;

use sqlx::PgPool;
use uuid::Uuid;

use crate::support::endpoint::{Act, Endpoint};
use crate::support::kind::Spec;
use crate::support::outside::Outside;
use crate::support::play::{attempts, check, planned, play};
use crate::support::task::{Row, Step};

const TASKS: i32 = 3;

/// How long the answer to a prompt takes if questions are answered in this order.
fn latency(prompt: &str, order: [u64; 4]) -> Act {
    let place = order.iter().position(|index| prompt.starts_with(&format!("question {index} ")));
    place.map_or(Act::Answer, |place| Act::AnswerAfter(Duration::from_millis(150 * place as u64)))
}

async fn rows(pool: &PgPool, run: Uuid) -> Vec<Row> {
    attempts(pool, run).await.iter().map(|attempt| attempt.row().unwrap().clone()).collect()
}

/// The rows of a run whose questions are answered in this order, and the order in which they were kept.
async fn played(pool: &PgPool, order: [u64; 4]) -> (Vec<Row>, Vec<Step>) {
    let endpoint = Endpoint::start(move |prompt| latency(prompt, order)).await;
    let run = planned(pool, &Spec::of(endpoint.model()), TASKS).await;
    play(pool, run, 4).await;
    check(pool, run).await;
    let questions = |step: &Step| matches!(step, Step::Question(_));
    let kept = attempts(pool, run).await[0].answered().into_iter().filter(questions).collect();
    (rows(pool, run).await, kept)
}

#[sqlx::test(migrations = "../../migrations")]
async fn answers_may_come_in_any_order(pool: PgPool) {
    let outside = Outside::start(&pool);
    let (forwards, first) = played(&pool, [0, 1, 2, 3]).await;
    let (backwards, second) = played(&pool, [3, 2, 1, 0]).await;
    drop(outside);
    assert_ne!(first, second, "they did come in another order");
    assert_eq!(forwards, backwards);
    let stand_ins = planned(&pool, &Spec::of_stand_ins(), TASKS).await;
    play(&pool, stand_ins, 1).await;
    assert_eq!(rows(&pool, stand_ins).await, forwards, "nor does it matter who answers");
}
