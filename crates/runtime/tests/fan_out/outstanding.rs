//! Requests of one task that are outstanding at the same time.

use sqlx::PgPool;

use crate::support::endpoint::{Act, Endpoint};
use crate::support::kind::Spec;
use crate::support::outside::{Outside, answer, waiting};
use crate::support::play::{attempts, check, kept, planned, play, start, stopped, summary};
use crate::support::task::{Step, number};
use crate::support::until;

#[sqlx::test(migrations = "../../migrations")]
async fn all_questions_of_a_task_are_in_flight_at_once(pool: PgPool) {
    const QUESTIONS: u64 = 12;
    let endpoint = Endpoint::start(|_| Act::Hold).await;
    let _outside = Outside::start(&pool);
    let spec = Spec { questions: QUESTIONS, ..Spec::of(endpoint.model()) };
    let run = planned(&pool, &spec, 1).await;
    let playing = start(&pool, run, 1).await;
    until("all are in flight", async || endpoint.in_flight() == 12).await;
    assert_eq!(kept(&pool, run).await.len(), 0);
    endpoint.behave(|_| Act::Answer);
    stopped(playing).await;
    check(&pool, run).await;
    assert_eq!((endpoint.most_in_flight(), endpoint.asked()), (12, usize::try_from(spec.replies()).unwrap()));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_slow_answer_holds_back_no_other_branch(pool: PgPool) {
    let endpoint =
        Endpoint::start(|prompt| if prompt.starts_with("question 0 ") { Act::Hold } else { Act::Answer }).await;
    let _outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), 1).await;
    let playing = start(&pool, run, 1).await;
    // The others are kept while one is outstanding, and so is what follows from them.
    until("the other branches are done", async || kept(&pool, run).await.len() == 6).await;
    assert_eq!(endpoint.in_flight(), 1);
    endpoint.behave(|_| Act::Answer);
    stopped(playing).await;
    check(&pool, run).await;
    let answered = attempts(&pool, run).await.remove(0).answered();
    assert_eq!(answered[6..8], [Step::Question(0), Step::Check(0)]);
    assert_eq!(endpoint.asked(), 9, "each was asked once");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_slow_task_holds_back_no_other(pool: PgPool) {
    let endpoint = Endpoint::start(|prompt| if prompt.contains("task 0,") { Act::Hold } else { Act::Answer }).await;
    let _outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), 8).await;
    let playing = start(&pool, run, 2).await;
    until("all others have ended", async || summary(&pool, run).await.finished == 7).await;
    endpoint.behave(|_| Act::Answer);
    stopped(playing).await;
    check(&pool, run).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_agent_and_a_job_are_asked_at_once_and_answer_in_any_order(pool: PgPool) {
    for late in ["agent", "job"] {
        let endpoint = Endpoint::start(|_| Act::Answer).await;
        let run = planned(&pool, &Spec::of(endpoint.model()), 1).await;
        let playing = start(&pool, run, 1).await;
        until("both are asked", async || waiting(&pool).await.len() == 2).await;
        let early = waiting(&pool).await.into_iter().find(|request| request.kind != late).unwrap();
        let prompt = early.body["messages"][0]["content"].as_str().unwrap();
        assert!(answer(&pool, &early, &number(prompt).into()).await);
        until("its answer is kept", async || attempts(&pool, run).await[0].answered().len() == 9).await;
        let left = waiting(&pool).await;
        assert_eq!(left.iter().map(|request| request.kind.as_str()).collect::<Vec<_>>(), [late]);
        let _outside = Outside::start(&pool);
        stopped(playing).await;
        check(&pool, run).await;
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn stand_ins_answer_at_once_and_nothing_is_outstanding(pool: PgPool) {
    let run = planned(&pool, &Spec::of_stand_ins(), 50).await;
    play(&pool, run, 8).await;
    check(&pool, run).await;
    assert_eq!(waiting(&pool).await, []);
    assert_eq!(kept(&pool, run).await.len(), 450);
}
