//! Tasks that somebody else than the agent spoiled, played again with what was good of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use sqlx::PgPool;
use store::control;

use crate::support::endpoint::{Act, Endpoint};
use crate::support::kind::Spec;
use crate::support::outside::{Outside, answer, waiting};
use crate::support::play::{Attempt, attempts, check, check_ledger, kept, planned, play, start, stopped, summary};
use crate::support::task::{EventKind, STUCK, Step};
use crate::support::until;

fn with_retries(endpoint: &Endpoint, retries: u32) -> Spec {
    Spec { retries, ..Spec::of(endpoint.model()) }
}

/// The second attempt begins with the events of the first one that were good.
fn assert_begins_with(second: &Attempt, first: &Attempt) {
    assert_eq!((first.superseded, second.superseded), (true, false));
    assert_eq!(second.number, first.number + 1);
    let good = usize::try_from(first.keep_through.unwrap() + 1).unwrap();
    assert_eq!(good, first.events.len() - 2, "all but its failure and its end");
    assert_eq!(second.events[..good], first.events[..good]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_spoiled_task_is_played_again_from_its_last_good_event(pool: PgPool) {
    let endpoint =
        Endpoint::start(|prompt| if prompt.starts_with("question 2 ") { Act::Hold } else { Act::Answer }).await;
    let _outside = Outside::start(&pool);
    let run = planned(&pool, &with_retries(&endpoint, 1), 1).await;
    let playing = start(&pool, run, 1).await;
    until("all but one branch are done", async || kept(&pool, run).await.len() == 6).await;
    let spoiled = AtomicBool::new(false);
    endpoint.behave(move |prompt| {
        let spoils = prompt.starts_with("question 2 ") && !spoiled.swap(true, Ordering::Relaxed);
        if spoils { Act::Say("no idea") } else { Act::Answer }
    });
    stopped(playing).await;
    check(&pool, run).await;
    let [first, second] = attempts(&pool, run).await.try_into().ok().unwrap();
    assert_begins_with(&second, &first);
    let spoiled = &first.events[first.events.len() - 2].kind;
    let reason = r#""no idea" is no number"#.to_owned();
    assert_eq!(*spoiled, EventKind::Spoiled { blame: "extractor".to_owned(), reason });
    assert_eq!(second.answered()[6..8], [Step::Question(2), Step::Check(2)]);
    assert_eq!(summary(&pool, run).await.played_again, [("extractor".to_owned(), 1)].into());
    assert_eq!(endpoint.asked(), 10, "only the spoiled question was asked again");
}

#[sqlx::test(migrations = "../../migrations")]
async fn agents_and_jobs_are_not_asked_again_when_a_later_step_was_spoiled(pool: PgPool) {
    let spoiled = Arc::new(AtomicBool::new(false));
    let endpoint = Endpoint::start(move |prompt| {
        let spoils = prompt.starts_with("summary") && !spoiled.swap(true, Ordering::Relaxed);
        if spoils { Act::Say("no idea") } else { Act::Answer }
    })
    .await;
    let outside = Outside::start(&pool);
    let run = planned(&pool, &with_retries(&endpoint, 1), 1).await;
    play(&pool, run, 1).await;
    check(&pool, run).await;
    let [first, second] = attempts(&pool, run).await.try_into().ok().unwrap();
    assert_begins_with(&second, &first);
    assert_eq!(endpoint.asked(), 10, "only the summary was asked again");
    let answered = outside.answered().await;
    assert_eq!(answered.len(), 2);
    assert!(answered.iter().all(|request| request.task == first.id));
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_limit_is_kept_and_the_last_attempt_counts(pool: PgPool) {
    let endpoint =
        Endpoint::start(|prompt| if prompt.starts_with("summary of task 0,") { Act::Say("?") } else { Act::Answer })
            .await;
    let _outside = Outside::start(&pool);
    let run = planned(&pool, &with_retries(&endpoint, 2), 2).await;
    play(&pool, run, 2).await;
    check_ledger(&pool, run).await;
    let ended = summary(&pool, run).await;
    assert_eq!((ended.finished, ended.accepted), (2, 1));
    assert_eq!(ended.failures, [("writer".to_owned(), 1)].into());
    assert_eq!(ended.played_again, [("writer".to_owned(), 2)].into());
    let numbers: Vec<_> = attempts(&pool, run).await.iter().map(|one| (one.position, one.number)).collect();
    assert_eq!(numbers, [(0, 1), (0, 2), (0, 3), (1, 1)]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_was_spoiled_is_played_again_when_somebody_asks_for_it(pool: PgPool) {
    let endpoint =
        Endpoint::start(|prompt| if prompt.starts_with("check 1 ") { Act::Say("?") } else { Act::Answer }).await;
    let _outside = Outside::start(&pool);
    let run = planned(&pool, &with_retries(&endpoint, 0), 6).await;
    play(&pool, run, 4).await;
    check_ledger(&pool, run).await;
    assert_eq!(summary(&pool, run).await.failures, [("checker".to_owned(), 6)].into());

    endpoint.behave(|_| Act::Answer);
    let (before, asked) = (kept(&pool, run).await, endpoint.asked());
    let mut db = pool.acquire().await.unwrap();
    assert_eq!(control::retry_failed(&mut db, run).await.unwrap(), 6);
    play(&pool, run, 4).await;
    check(&pool, run).await;
    assert_eq!(summary(&pool, run).await.played_again, [("checker".to_owned(), 6)].into());
    let all = attempts(&pool, run).await;
    for pair in all.chunks(2) {
        assert_begins_with(&pair[1], &pair[0]);
    }
    let again = |prompt: &&String| before.iter().any(|heading| prompt.starts_with(heading));
    assert_eq!(endpoint.prompts()[asked..].iter().find(again), None, "it had been answered and kept");
    assert_eq!(control::retry_failed(&mut db, run).await.unwrap(), 0);
}

/// What the agent fails is data; what a worker fails is not.
#[sqlx::test(migrations = "../../migrations")]
async fn a_failure_of_the_agent_stays_and_one_of_a_job_does_not(pool: PgPool) {
    let endpoint = Endpoint::start(|_| Act::Answer).await;
    let run = planned(&pool, &with_retries(&endpoint, 1), 2).await;
    let playing = start(&pool, run, 2).await;
    until("agents and jobs are asked", async || waiting(&pool).await.len() == 4).await;
    let mut order = waiting(&pool).await;
    order.sort_by_key(|request| (request.task, request.kind.clone()));
    // Of one task the agent gives up, of the other one the job breaks.
    for (request, said) in [(&order[0], "I give up"), (&order[3], "out of memory")] {
        assert!(answer(&pool, request, &json!(said)).await);
    }
    until("one is played again", async || attempts(&pool, run).await.len() == 3).await;
    let _outside = Outside::start(&pool);
    stopped(playing).await;
    check_ledger(&pool, run).await;
    let ended = summary(&pool, run).await;
    assert_eq!(ended.failures, [("agent".to_owned(), 1)].into());
    assert_eq!(ended.played_again, [("job".to_owned(), 1)].into());
    assert_eq!(ended.accepted, 1);
    assert_eq!(control::retry_failed(&mut pool.acquire().await.unwrap(), run).await.unwrap(), 0);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_task_that_waits_for_nothing_is_given_up(pool: PgPool) {
    let run = planned(&pool, &Spec { questions: STUCK, retries: 3, ..Spec::of_stand_ins() }, 2).await;
    play(&pool, run, 2).await;
    let attempts = attempts(&pool, run).await;
    assert_eq!(attempts.len(), 2, "nor is it played again");
    let reason = "it waits for nothing, and has not ended".to_owned();
    let given_up = EventKind::Spoiled { blame: "infrastructure".to_owned(), reason };
    assert!(attempts.iter().all(|attempt| attempt.events[1].kind == given_up));
    assert_eq!(summary(&pool, run).await.finished, 2);
}
