//! Answers of agents that come at once and are written together.

use std::collections::HashSet;

use domain::task::OutsideAnswer;
use futures::FutureExt;
use futures::future::join_all;
use server::http::answer_queue::{AnswerQueue, TurnAnswer};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

/// Nobody waits for an answer to it.
const OVER: u32 = 0;
/// The database refuses whatever it is part of.
const BAD: u32 = 7;
const PANICS: u32 = 13;

async fn answer_all(db: &mut PgConnection, answers: &[TurnAnswer]) -> store::Result<HashSet<(Uuid, u32)>> {
    let has = |turn| answers.iter().any(|answer| answer.turn == turn);
    assert!(!has(PANICS), "as it was asked to");
    sqlx::query("SELECT 1 / $1").bind(i32::from(!has(BAD))).execute(db).await?;
    let taken = answers.iter().filter(|answer| answer.turn != OVER);
    Ok(taken.map(|answer| (answer.episode, answer.turn)).collect())
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_refused_or_panics_fails_nothing_else(pool: PgPool) {
    let queue = AnswerQueue::start_with(&pool, |db, answers| answer_all(db, answers).boxed());
    let episode = Uuid::new_v4();
    let answer = |turn| queue.answer(episode, turn, OutsideAnswer::Lost("gone".to_owned()));
    // The writer goes on after each of them.
    for (bad, says) in [(PANICS, "send it again"), (BAD, "a query of the database failed"), (PANICS, "send it again")] {
        let mut taken = join_all([1, bad, OVER, 2].map(answer)).await;
        let refused = taken.remove(1).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
        let taken: Vec<bool> = taken.into_iter().map(Result::unwrap).collect();
        assert_eq!(taken, [true, false, true]);
    }
}
