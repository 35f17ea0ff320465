//! What does not depend on each other is asked at once, unless somebody minds.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use domain::event::EventKind;
use domain::outcome::Outcome;
use domain::role::Role;
use futures::{StreamExt, stream};
use generation::ConversationRun;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{control, runs};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::support::agent::{THOUGHT, help, search_help, verdict};
use crate::support::endpoint::{Endpoint, calls, events, says};
use crate::support::play::{HELP, planned_as, play_all, player, rows, stories};
use crate::support::{library, until};

/// Long enough to be asked the next thing meanwhile, if anybody did not wait for the answer.
const LATENCY: Duration = Duration::from_millis(100);

/// Plays a run to its end. The endpoint answers nothing before it is asked so many things: if they were asked one after
/// another, they would wait for ever.
async fn played(run: ConversationRun, held: &Endpoint, asks: usize) -> Arc<ConversationRun> {
    let run = Arc::new(run);
    let (player, never) = (player(&run, 1), CancellationToken::new());
    let answering = async {
        until("all are asked at once", async || held.requests().len() >= asks).await;
        held.release();
    };
    let (played, ()) = tokio::join!(player.play(&never), answering);
    played.unwrap();
    assert_eq!(stories(&run).await[0].outcome, Outcome::Accepted);
    run
}

fn is_first(request: &Value) -> bool {
    !request["messages"].to_string().contains(r#""role":"tool""#)
}

/// Asks two things of a tool that a model simulates, and one of another.
fn searches_twice(request: &Value) -> Response {
    let search = |query: &str| ("search_help", json!({"query": query}));
    let all = [search("paying abroad"), search("cash abroad"), ("get_opening_hours", json!({}))];
    if is_first(request) { calls(&all, THOUGHT) } else { help(request) }
}

#[sqlx::test(migrations = "../migrations")]
async fn reads_of_one_turn(pool: PgPool) {
    let agent = Endpoint::start(searches_twice).await;
    let mut messages = Vec::new();
    for pipelining in [true, false] {
        let tool = Endpoint::start_held(LATENCY, |_| says(&search_help().to_string())).await;
        let models = [(Role::Agent, agent.model()), (Role::ToolSimulator, tool.model())];
        let run = planned_as(&pool, &[HELP], 1, 1, &models, |config| config.pipelining = pipelining).await;
        let at_once = if pipelining { 2 } else { 1 };
        let run = played(run, &tool, at_once).await;
        assert_eq!((tool.requests().len(), tool.most_at_once()), (2, at_once), "nothing is asked twice");
        messages.push(rows(&run).await[0]["messages"].clone());
    }
    assert_eq!(messages[0], messages[1]);
}

#[sqlx::test(migrations = "../migrations")]
async fn judges_of_a_panel(pool: PgPool) {
    let mut messages = Vec::new();
    for pipelining in [true, false] {
        let judge = Endpoint::start_held(LATENCY, |_| says(&verdict().to_string())).await;
        let model = judge.model();
        let run = planned_as(&pool, &[HELP], 1, 1, &[(Role::Judge, model.clone())], |config| {
            config.panel = vec![model.parse().unwrap(), model.parse().unwrap()];
            config.pipelining = pipelining;
        })
        .await;
        let at_once = if pipelining { 3 } else { 1 };
        let run = played(run, &judge, at_once).await;
        assert_eq!((judge.requests().len(), judge.most_at_once()), (3, at_once), "nobody is asked twice");
        messages.push(rows(&run).await[0]["messages"].clone());
    }
    assert_eq!(messages[0], messages[1]);
}

#[sqlx::test(migrations = "../migrations")]
async fn judges_that_were_asked_before_a_pause_are_heard(pool: PgPool) {
    let judge = Endpoint::start_held(LATENCY, |_| says(&verdict().to_string())).await;
    let model = judge.model();
    let run = planned_as(&pool, &[HELP], 1, 1, &[(Role::Judge, model.clone())], |config| {
        config.panel = vec![model.parse().unwrap(), model.parse().unwrap()];
    })
    .await;
    let run = Arc::new(run);
    let (player, never) = (player(&run, 1), CancellationToken::new());
    let pausing = async {
        until("all are asked", async || judge.requests().len() == 3).await;
        control::pause(&mut pool.acquire().await.unwrap(), run.control.run.id, None).await.unwrap();
        until("the player knows", async || run.control.may_ask().is_err()).await;
        judge.release();
    };
    let (played, ()) = tokio::join!(player.play(&never), pausing);
    played.unwrap();
    let mut db = pool.acquire().await.unwrap();
    let usage = runs::usage(&mut db, run.control.run.id).await.unwrap();
    let calls: i64 = usage.iter().filter(|usage| usage.role.starts_with("judge")).map(|usage| usage.calls).sum();
    assert_eq!((judge.requests().len(), calls), (3, 3), "all that was asked is counted");
    let ended = "SELECT count(*) FROM tasks WHERE outcome = 'accepted'";
    assert_eq!(sqlx::query_scalar::<_, i64>(ended).fetch_one(&pool).await.unwrap(), 1, "and nothing is asked twice");
}

/// What the request asks for: a criterion, or the rest.
fn wanted(request: &Value) -> Option<String> {
    let words = request["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    let (_, order) = words.rsplit_once("# This time")?;
    Some(order.split('`').nth(1).unwrap().to_owned())
}

#[sqlx::test(migrations = "../migrations")]
async fn criteria_of_a_verdict_when_somebody_asks_for_it(pool: PgPool) {
    let judge = Endpoint::start_held(Duration::ZERO, |request| {
        says(&match wanted(request).as_deref() {
            Some("overall") => json!({"overall": 8, "rationale": "well done", "goal_achieved": true}).to_string(),
            // Only once, and then as it should be.
            Some("consistency") if !request.to_string().contains("That was refused") => "seven".to_owned(),
            Some("consistency") => json!({"score": 7, "rationale": "r"}).to_string(),
            Some(_) => json!({"score": 9, "rationale": "r"}).to_string(),
            None => verdict().to_string(),
        })
    })
    .await;
    let models = [(Role::Judge, judge.model())];
    let run = planned_as(&pool, &[HELP], 1, 1, &models, |config| config.criteria_apart = true).await;
    let parts = library().judges["default"].spec.criteria.len() + 1;
    let run = played(run, &judge, parts).await;
    let story = &stories(&run).await[0];
    let refused = story.events.iter().filter(|e| matches!(e.kind, EventKind::Refused { .. })).count();
    assert_eq!(refused, 1, "a part that is no score is repaired once");
    assert_eq!((judge.requests().len(), judge.most_at_once()), (2 * parts, parts));
    let row = &rows(&run).await[0]["metadata"];
    assert_eq!(row["scores"].as_object().unwrap().len() + 1, parts);
    assert_eq!((&row["overall"], &row["scores"]["consistency"]), (&json!(8), &json!(7)));
    let usage = runs::usage(&mut pool.acquire().await.unwrap(), run.control.run.id).await.unwrap();
    let judged = usage.iter().find(|usage| usage.role == "judge").unwrap();
    assert_eq!((judged.calls, judged.retries), (i64::try_from(2 * parts).unwrap(), 0));
    assert_eq!(judged.prompt_tokens, 11 * judged.calls);
}

/// A reply whose second call comes when `more` says so.
fn thinks_between(calls: [Value; 2], more: impl Future<Output = ()> + Send + 'static) -> Response {
    let part = |index: usize| {
        let function = json!({"name": calls[index]["name"], "arguments": calls[index]["arguments"].to_string()});
        let calls = json!([{"index": index, "id": format!("id{index}"), "type": "function", "function": function}]);
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}))
    };
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let (first, rest) = (part(0), format!("{}data: {end}\n\ndata: [DONE]\n\n", part(1)));
    let later = stream::once(async move {
        more.await;
        Ok::<_, Infallible>(rest)
    });
    events(Body::from_stream(stream::iter([Ok(first)]).chain(later)))
}

#[sqlx::test(migrations = "../migrations")]
async fn a_tool_while_the_agent_still_speaks(pool: PgPool) {
    for pipelining in [true, false] {
        // Who was done first: the agent speaks on only when the tool was asked, if that does not wait for the whole reply.
        let done: Arc<Mutex<Vec<&str>>> = Arc::default();
        let asked = Arc::new(Notify::new());
        let (told, hears) = (Arc::clone(&done), Arc::clone(&asked));
        let agent = Endpoint::start(move |request| {
            if !is_first(request) {
                return help(request);
            }
            let (told, hears) = (Arc::clone(&told), Arc::clone(&hears));
            let search = json!({"name": "search_help", "arguments": {"query": "paying abroad"}});
            thinks_between([search, json!({"name": "get_opening_hours", "arguments": {}})], async move {
                if pipelining {
                    hears.notified().await;
                }
                told.lock().unwrap().push("agent");
            })
        })
        .await;
        let (told, tells) = (Arc::clone(&done), Arc::clone(&asked));
        let tool = Endpoint::start(move |_| {
            told.lock().unwrap().push("tool");
            tells.notify_one();
            says(&search_help().to_string())
        })
        .await;
        let models = [(Role::Agent, agent.model()), (Role::ToolSimulator, tool.model())];
        let run = planned_as(&pool, &[HELP], 1, 1, &models, |config| config.pipelining = pipelining).await;
        let run = play_all(run, 1).await;
        assert_eq!(stories(&run).await[0].outcome, Outcome::Accepted);
        let order = if pipelining { ["tool", "agent"] } else { ["agent", "tool"] };
        assert_eq!(*done.lock().unwrap(), order, "it is asked once");
    }
}
