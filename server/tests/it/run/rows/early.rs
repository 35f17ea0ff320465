//! What is asked early, while a reply before it still comes: in time, paid for, and bounded, whatever the reply turns out to be.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use domain::api::RunState;
use domain::api::workflows::RowTrace;
use domain::budget::Budget;
use futures::{StreamExt, stream};
use serde_json::json;
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::time::timeout;

use super::{answer, ordered, outputs, played, prompt, reply, summary, topics, traced};
use crate::support::endpoint::{Endpoint, events, says};
use crate::support::ledger;

/// An event with a part of a reply.
fn delta(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}))
}

#[sqlx::test(migrations = "../migrations")]
async fn what_follows_from_the_first_item_is_asked_while_the_reply_still_comes(pool: PgPool) {
    let (verdicts, judged) = watch::channel(0);
    let verdicts = Arc::new(verdicts);
    let endpoint = Endpoint::start(move |request| {
        let text = reply(request);
        if text.starts_with("yes") {
            verdicts.send_modify(|n| *n += 1);
        }
        if !prompt(request).starts_with("outline") {
            return says(&text);
        }
        // Its last lines come when the claims of its first section are judged.
        let (first, rest) = text.split_once('\n').map(|(first, rest)| (format!("{first}\n"), rest.to_owned())).unwrap();
        let mut judged = judged.clone();
        let begun = stream::iter([Ok::<_, Infallible>(delta(&first))]);
        let later = stream::once(async move {
            let _ = judged.wait_for(|n| *n >= 2).await;
            let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                             "usage": {"prompt_tokens": 1, "completion_tokens": 9}});
            Ok(format!("{}data: {end}\n\ndata: [DONE]\n\n", delta(&rest)))
        });
        events(Body::from_stream(begun.chain(later)))
    })
    .await;
    let run = ordered(&pool, &endpoint, topics(1), Budget::default()).await;
    let run = timeout(Duration::from_mins(1), played(run)).await.expect("the outline comes to its end");
    let rows = outputs(&pool, &run).await;
    assert_eq!(rows[0].output.as_ref().unwrap()["sections"].as_array().unwrap().len(), 3);
    assert_eq!(endpoint.requests().len(), 10, "nothing was asked twice");
    ledger::check(&pool, run.control.run.id).await;
    streamed_in_time(&traced(&pool, &run, 0).await);
}

/// What follows from the beginning of the outline was asked before the outline was whole.
fn streamed_in_time(row: &RowTrace) {
    let timing = |step: &str| {
        let found = row.requests.iter().find(|request| request.step == step).unwrap_or_else(|| panic!("no {step}"));
        found.timing.unwrap()
    };
    assert_eq!((row.requests.len(), row.requests[0].step.as_str(), row.attempt), (10, "outline", 1));
    let (outline, first) = (timing("outline"), timing("sections[0].checked[0].verdict"));
    let whole = outline.asked + i64::try_from(outline.answered).unwrap();
    assert!(!outline.early && first.early && first.asked > outline.asked && first.asked <= whole, "{row:?}");
    assert!(outline.sent <= outline.first_byte && outline.first_byte < Some(outline.answered), "{outline:?}");
}

/// A reply breaks off, and the next attempt says something else.
#[sqlx::test(migrations = "../migrations")]
async fn what_followed_from_a_reply_that_broke_off_is_paid_for_and_not_used(pool: PgPool) {
    let plain = Endpoint::start(answer).await;
    let whole = played(ordered(&pool, &plain, topics(1), Budget::default()).await).await;

    let (verdicts, judged) = watch::channel(0);
    let (verdicts, outlines) = (Arc::new(verdicts), Arc::new(AtomicUsize::new(0)));
    let endpoint = Endpoint::start(move |request| {
        if prompt(request).starts_with("judge broken") {
            verdicts.send_modify(|n| *n += 1);
        }
        if !prompt(request).starts_with("outline") || outlines.fetch_add(1, Ordering::Relaxed) > 0 {
            return answer(request);
        }
        let mut judged = judged.clone();
        let begun = stream::iter([Ok(delta("broken part\n"))]);
        let breaks = stream::once(async move {
            let _ = judged.wait_for(|n| *n >= 2).await;
            Err(io::Error::other("pulled the plug"))
        });
        events(Body::from_stream(begun.chain(breaks)))
    })
    .await;
    let run = ordered(&pool, &endpoint, topics(1), Budget::default()).await;
    let run = timeout(Duration::from_mins(1), played(run)).await.expect("the outline is asked for again");
    assert_eq!(outputs(&pool, &run).await, outputs(&pool, &whole).await, "the reply that came to its end counts");
    let asked = endpoint.requests();
    let of_broken: Vec<&str> = asked.iter().map(prompt).filter(|prompt| prompt.contains("broken part")).collect();
    assert_eq!(of_broken.len(), 1 + 2, "its claims and their verdicts: {of_broken:?}");
    assert_eq!(asked.len(), 2 + 3 + 6 + of_broken.len(), "nothing else was asked twice");
    let usage = summary(&pool, &run).await.usage;
    let calls: i64 = usage.iter().map(|usage| usage.calls).sum();
    let retries: i64 = usage.iter().map(|usage| usage.retries).sum();
    assert_eq!((calls, retries), (1 + 3 + 6 + 3, 1), "{usage:?}");
    let tokens: i64 = usage.iter().map(|usage| usage.completion_tokens).sum();
    assert_eq!(tokens, 7 * calls, "each reply takes seven");
    ledger::check(&pool, run.control.run.id).await;
}

/// Items that a split reply and a map may have, as nothing else is said.
const MOST_ITEMS: usize = 1_000;

/// A million lines. Those behind the first 1,500 come when so many items as there may be were asked about.
fn million(mut claims: watch::Receiver<usize>) -> Response {
    let lines = |from: usize, to: usize| -> String {
        (from..to).map(|n| format!("million part {n} {}\n", "of a long line ".repeat(6))).collect()
    };
    let begun = stream::iter([delta(&lines(0, 1_500))]);
    let asked = stream::once(async move {
        let _ = claims.wait_for(|n| *n >= MOST_ITEMS).await;
        delta(&lines(1_500, 1_600))
    });
    let later = stream::iter((1_600..1_000_000).step_by(100).map(move |n| delta(&lines(n, n + 100))));
    events(Body::from_stream(begun.chain(asked).chain(later).map(Ok::<_, Infallible>)))
}

/// A reply without end, and without an item that is whole.
fn without_end() -> Response {
    events(Body::from_stream(stream::repeat_with(|| Ok::<_, Infallible>(delta(&"and so on ".repeat(400))))))
}

#[sqlx::test(migrations = "../migrations")]
async fn replies_without_end_end_their_rows_and_no_others(pool: PgPool) {
    let (claims, claimed) = watch::channel(0);
    let claims = Arc::new(claims);
    let endpoint = Endpoint::start(move |request| match prompt(request) {
        "outline endless" => without_end(),
        "outline million" => million(claimed.clone()),
        other => {
            if other.starts_with("claims million") {
                claims.send_modify(|n| *n += 1);
            }
            answer(request)
        }
    })
    .await;
    let mut rows = topics(4);
    for (row, topic) in rows.iter_mut().zip(["endless", "million"]) {
        row.insert("topic".to_owned(), json!(topic));
    }
    let run = ordered(&pool, &endpoint, rows, Budget::default()).await;
    let run = timeout(Duration::from_mins(2), played(run)).await.expect("all rows come to an end");
    let rows = outputs(&pool, &run).await;
    let ended: Vec<&str> = rows.iter().map(|row| row.ended.as_str()).collect();
    assert_eq!(ended, ["invalid_reply", "too_many_items", "finished", "finished"], "{rows:?}");
    assert!(rows[0].reason.starts_with("outline: ") && rows[0].reason.contains("said more than any reply needs"));
    assert!(rows[1].reason.ends_with("at most 1000"), "{}", rows[1].reason);
    let now = summary(&pool, &run).await;
    assert_eq!((now.state, now.accepted, now.finished), (RunState::Finished, 2, 4));

    // However much a reply says, only so much of it is asked about early as a row may hold.
    let asked = endpoint.requests();
    let of = |beginning: &str| asked.iter().filter(|request| prompt(request).starts_with(beginning)).count();
    assert_eq!((of("outline million"), of("claims million")), (1, MOST_ITEMS));
    assert!(of("judge million") <= 2 * MOST_ITEMS);
    assert_eq!((of("outline endless"), of("claims endless")), (2, 0), "it is asked for once more");
    assert_eq!(of("claims topic") + of("judge topic"), 2 * (3 + 6));
    ledger::check(&pool, run.control.run.id).await;
}
