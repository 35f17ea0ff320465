//! Several judges: their median counts, and their agreement is known.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use domain::api::ConversationDetail;
use domain::event::EventKind;
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use server::store::runs;
use sqlx::PgPool;

use crate::http::TestApp;
use crate::support::agent::{help, search_help, verdict};
use crate::support::endpoint::{Endpoint, events, says};
use crate::support::play::{HELP, exported, planned_as, play_all, rows, stories};

/// A judge that gives every criterion the same score.
async fn judge(score: u8, goal_achieved: bool) -> Endpoint {
    let mut said = verdict();
    for one in said["scores"].as_array_mut().unwrap() {
        one["score"] = json!(score);
    }
    said["overall"] = json!(score);
    said["goal_achieved"] = json!(goal_achieved);
    Endpoint::start(move |_| says(&said.to_string())).await
}

#[sqlx::test(migrations = "../migrations")]
async fn the_median_counts_and_the_row_says_how_far_they_agree(pool: PgPool) {
    let judges = [judge(9, true).await, judge(2, false).await, judge(8, true).await];
    let player = planned_as(&pool, &[HELP], 1, 1, &[(Role::Judge, judges[0].model())], |config| {
        config.panel = judges[1..].iter().map(|judge| judge.model().parse().unwrap()).collect();
    })
    .await;
    let player = play_all(player, 4).await;
    let story = &stories(&player).await[0];
    assert_eq!(story.outcome, Outcome::Accepted);
    let judged = story.events.iter().filter(|e| matches!(e.kind, EventKind::Judged { .. })).count();
    assert_eq!(judged, 3, "each verdict is an event");
    let row = &rows(&player).await[0]["metadata"];
    assert_eq!((&row["overall"], &row["scores"]["consistency"]), (&json!(8), &json!(8)));
    assert_eq!(row["judge"]["models"], json!(judges.each_ref().map(Endpoint::model)));
    // Distances 7, 1 and 6 on a scale of 10.
    assert!((row["judge"]["agreement"].as_f64().unwrap() - (1.0 - 1.4 / 3.0)).abs() < 1e-9);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_judge_of_the_panel_that_fails_is_named(pool: PgPool) {
    let (good, broken) = (judge(9, true).await, Endpoint::start(|_| says("no verdict")).await);
    let player = planned_as(&pool, &[HELP], 1, 1, &[(Role::Judge, good.model())], |config| {
        config.panel = vec![broken.model().parse().unwrap()];
    })
    .await;
    let player = play_all(player, 4).await;
    stories(&player).await[0].assert_failed(Blame::Judge, "not JSON");
    assert_eq!(exported(&player, false).await.0.rows, 0);
}

#[sqlx::test(migrations = "../migrations")]
async fn the_api_shows_the_median_with_all_who_gave_it(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let judges = [judge(9, true).await, judge(4, true).await, judge(8, true).await];
    let player = planned_as(&pool, &[HELP], 1, 1, &[(Role::Judge, judges[0].model())], |config| {
        config.panel = judges[1..].iter().map(|judge| judge.model().parse().unwrap()).collect();
    })
    .await;
    let player = play_all(player, 4).await;
    let id = stories(&player).await[0].planned.id;
    let detail: ConversationDetail = app.json(&format!("/api/v1/conversations/{id}")).await;
    let verdict = detail.verdict.unwrap();
    assert_eq!((verdict.overall, verdict.panel.len()), (8, 3));
    assert_eq!(detail.summary.overall, Some(8), "the list shows it as well");
}

#[sqlx::test(migrations = "../migrations")]
async fn judges_are_asked_at_once_unless_somebody_minds(pool: PgPool) {
    let mut rows_of = Vec::new();
    for pipelining in [true, false] {
        let judge = Endpoint::start_slow(Duration::from_millis(200), |_| says(&verdict().to_string())).await;
        let model = judge.model();
        let player = planned_as(&pool, &[HELP], 1, 1, &[(Role::Judge, model.clone())], |config| {
            config.panel = vec![model.parse().unwrap(), model.parse().unwrap()];
            config.pipelining = pipelining;
        })
        .await;
        let player = play_all(player, 1).await;
        assert_eq!(stories(&player).await[0].outcome, Outcome::Accepted);
        assert_eq!(judge.requests().len(), 3, "nobody is asked twice");
        assert_eq!(judge.most_at_once(), if pipelining { 3 } else { 1 });
        rows_of.push(rows(&player).await[0]["messages"].clone());
    }
    assert_eq!(rows_of[0], rows_of[1]);
}

/// What the request asks for: a criterion, or the rest.
fn wanted(request: &Value) -> Option<String> {
    let words = request["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    let (_, order) = words.rsplit_once("# This time")?;
    Some(order.split('`').nth(1).unwrap().to_owned())
}

#[sqlx::test(migrations = "../migrations")]
async fn criteria_are_asked_at_once_when_somebody_asks_for_it(pool: PgPool) {
    let judge = Endpoint::start_slow(Duration::from_millis(200), |request| {
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
    let player = play_all(run, 1).await;
    let story = &stories(&player).await[0];
    assert_eq!(story.outcome, Outcome::Accepted);
    let refused = story.events.iter().filter(|e| matches!(e.kind, EventKind::Refused { .. })).count();
    assert_eq!(refused, 1, "a part that is no score is repaired once");
    let parts = judge.requests().len() / 2;
    assert_eq!(judge.most_at_once(), parts);
    let row = &rows(&player).await[0]["metadata"];
    assert_eq!(row["scores"].as_object().unwrap().len() + 1, parts);
    assert_eq!((&row["overall"], &row["scores"]["consistency"]), (&json!(8), &json!(7)));
    let usage = runs::usage(&mut pool.acquire().await.unwrap(), player.run.id).await.unwrap();
    let judged = usage.iter().find(|usage| usage.role == "judge").unwrap();
    assert_eq!((judged.calls, judged.retries), (i64::try_from(2 * parts).unwrap(), 0));
    assert_eq!(judged.prompt_tokens, 11 * judged.calls);
}

/// A reply whose second call comes a good while after the first.
fn thinks_between(first: &Value, second: &Value, wait: Duration) -> Response {
    let call = |index: usize, call: &Value| {
        let function = json!({"name": call["name"], "arguments": call["arguments"].to_string()});
        let calls = json!([{"index": index, "id": format!("id{index}"), "type": "function", "function": function}]);
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}))
    };
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let (first, rest) = (call(0, first), format!("{}data: {end}\n\ndata: [DONE]\n\n", call(1, second)));
    let later = stream::once(async move {
        tokio::time::sleep(wait).await;
        Ok::<_, Infallible>(rest)
    });
    events(Body::from_stream(stream::iter([Ok(first)]).chain(later)))
}

#[sqlx::test(migrations = "../migrations")]
async fn a_tool_is_asked_while_the_agent_still_speaks(pool: PgPool) {
    let search = json!({"name": "search_help", "arguments": {"query": "paying abroad"}});
    let hours = json!({"name": "get_opening_hours", "arguments": {}});
    for pipelining in [true, false] {
        // When the tool was asked, and when the agent had said all.
        let times: Arc<Mutex<Vec<(&str, Instant)>>> = Arc::default();
        let (told, wait) = (Arc::clone(&times), Duration::from_millis(300));
        let (search, hours) = (search.clone(), hours.clone());
        let agent = Endpoint::start(move |request| {
            if request["messages"].to_string().contains(r#""role":"tool""#) {
                return help(request);
            }
            told.lock().unwrap().push(("agent", Instant::now() + wait));
            thinks_between(&search, &hours, wait)
        })
        .await;
        let told = Arc::clone(&times);
        let tool = Endpoint::start(move |_| {
            told.lock().unwrap().push(("tool", Instant::now()));
            says(&search_help().to_string())
        })
        .await;
        let models = [(Role::Agent, agent.model()), (Role::ToolSimulator, tool.model())];
        let run = planned_as(&pool, &[HELP], 1, 1, &models, |config| config.pipelining = pipelining).await;
        let player = play_all(run, 1).await;
        assert_eq!(stories(&player).await[0].outcome, Outcome::Accepted);
        assert_eq!(tool.requests().len(), 1, "it is asked once");
        let at = |who: &str| times.lock().unwrap().iter().find(|(name, _)| *name == who).unwrap().1;
        assert_eq!(at("tool") < at("agent"), pipelining);
    }
}
