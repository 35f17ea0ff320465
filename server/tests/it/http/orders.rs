//! POST /api/v1/projects/{project}/runs, and what can be done with a run.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use domain::access::Role;
use domain::api::probe::ModelProbe;
use domain::api::{
    AuditEntry, ConversationSummary, FieldError, JudgingSummary, Page, RunState, RunSummary, RunTerms, VerdictSummary,
};
use domain::forecast::Forecast;
use generation::ConversationRun;
use llm::{PoolSpec, Registry};
use projects::archive::pack;
use reqwest::{Method, Response, StatusCode};
use runtime::ModelClients;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::TestApp;
use super::archive::put;
use crate::support::agent::{help, verdict};
use crate::support::documents::few;
use crate::support::endpoint::{Endpoint, says, status as refuses};
use crate::support::play::{HANDOVER, HELP, hasty, play_all};

const RUNS: &str = "/api/v1/projects/default/runs";

/// The app with a small project, and one model that it knows.
async fn filled(pool: &PgPool, models: &[(&str, &Endpoint)]) -> TestApp {
    let pools = models.iter().map(|(name, endpoint)| {
        let url = endpoint.model().split_once('@').unwrap().1.to_owned();
        PoolSpec::new(*name, vec![url])
    });
    let app = TestApp::with_models(pool, pools.collect::<Registry>()).await;
    let _: Value = put(&app, "", pack(&few()).unwrap(), StatusCode::OK).await;
    app
}

/// Plays a run to its end, or until it pauses.
async fn play(pool: &PgPool, id: &str) {
    let run = ConversationRun::load(pool, id.parse().unwrap(), &ModelClients::new(hasty())).await.unwrap();
    play_all(run, 4).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn an_order_is_stored_played_and_followed(pool: PgPool) {
    let app = filled(&pool, &[]).await.member(Role::Runner).await;
    let order = json!({"scenarios": [HELP, HANDOVER], "n": 6, "seed": 4, "priority": 2, "paused": true});
    let looked: Value = app.post(&format!("{RUNS}/preview"), &order).await;
    assert_eq!((looked["planned"].as_i64(), &looked["scenarios"]), (Some(6), &json!([HELP, HANDOVER])));
    assert_eq!(app.json::<Page<RunSummary>>(RUNS).await.items, []);
    let run: RunSummary = app.post(RUNS, &order).await;
    assert_eq!((run.planned, run.state, run.paused_because.as_deref()), (6, RunState::Paused, Some("not started")));
    let terms: RunTerms = app.json(&format!("/api/v1/runs/{}/config", run.id)).await;
    assert_eq!(terms.config["scenarios"], json!([HELP, HANDOVER]));
    assert_eq!(terms.models, BTreeSet::new(), "all roles follow the script");
    let none = app.problem(&format!("/api/v1/runs/{}/forecast", run.id), StatusCode::CONFLICT).await;
    assert_eq!(none, "nothing of the run has ended yet, so nothing can be forecast");
    let resumed: RunSummary = app.post(&format!("/api/v1/runs/{}/resume", run.id), &json!({})).await;
    assert_eq!(resumed.state, RunState::Running);
    // Who follows hears of the end, and nothing after it.
    let progress = format!("/api/v1/runs/{}/progress", run.id);
    let (told, ()) = tokio::join!(app.text(&progress), play(&pool, &run.id));
    let events: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(events.last(), Some(&"end"), "{told}");
    assert!(events[..events.len() - 1].iter().all(|event| *event == "progress"), "{told}");
    let last = told.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap();
    let last: RunSummary = serde_json::from_str(last).unwrap();
    assert_eq!((last.finished, last.accepted, last.state), (6, 6, RunState::Finished));
    let forecast: Forecast = app.json(&format!("/api/v1/runs/{}/forecast", run.id)).await;
    assert_eq!((forecast.accepted_rows, forecast.cost), (6.0, 0.0));
    let (status, problem) = app.send(Method::POST, &format!("/api/v1/runs/{}/pause", run.id), &json!({})).await;
    assert_eq!((status, problem["detail"].as_str()), (StatusCode::CONFLICT, Some("the run has ended")));
}

/// Follows a run, having seen its event `seen` last.
async fn follow(app: &TestApp, run: &str, seen: Option<&str>) -> Response {
    let request = app.request(Method::GET, &format!("/api/v1/runs/{run}/progress"));
    let request = seen.into_iter().fold(request, |request, seen| request.header("last-event-id", seen));
    request.send().await.unwrap()
}

/// The next event: its name, its id, and how the run is.
async fn next_event(by: &mut Response) -> Option<(String, String, RunSummary)> {
    let mut text = String::new();
    while !text.ends_with("\n\n") {
        text += std::str::from_utf8(&by.chunk().await.unwrap()?).unwrap();
    }
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    Some((field("event: ").to_owned(), field("id: ").to_owned(), serde_json::from_str(field("data: ")).unwrap()))
}

/// All events, until the server says no more.
async fn all_events(by: &mut Response) -> Vec<(String, String, RunSummary)> {
    let mut all = Vec::new();
    while let Some(event) = next_event(by).await {
        all.push(event);
    }
    all
}

#[sqlx::test(migrations = "../migrations")]
async fn who_hangs_up_and_comes_back_misses_nothing_and_hears_nothing_twice(pool: PgPool) {
    let slow = Endpoint::start_slow(Duration::from_millis(40), help).await;
    let app = filled(&pool, &[("slow", &slow)]).await;
    let order = json!({"scenarios": [HELP], "n": 24, "forecast": 4, "models": {"agent": "slow"}});
    let run: RunSummary = app.post(RUNS, &order).await;
    let mut first = follow(&app, &run.id, None).await;
    let (_, begun, now) = next_event(&mut first).await.unwrap();
    assert_eq!((now.finished, now.state), (0, RunState::Running));
    drop(first);

    // What happened in the meantime is told at once.
    play(&pool, &run.id).await;
    let mut second = follow(&app, &run.id, Some(&begun)).await;
    let (name, paused, before) = next_event(&mut second).await.unwrap();
    assert_eq!((name.as_str(), before.state), ("progress", RunState::Paused));
    assert!((4..24).contains(&before.finished), "{}", before.finished);
    drop(second);

    // Nothing has happened since, so there is nothing to tell until something does.
    let mut third = follow(&app, &run.id, Some(&paused)).await;
    let silent = tokio::time::timeout(Duration::from_millis(1200), third.chunk()).await;
    assert!(silent.is_err(), "it was told twice: {silent:?}");
    // That it is paused for another reason is something.
    sqlx::query("UPDATE runs SET paused_because = 'somebody asked'").execute(&pool).await.unwrap();
    let (_, again, now) = next_event(&mut third).await.unwrap();
    assert_eq!(now.paused_because.as_deref(), Some("somebody asked"));
    let _: RunSummary = app.post(&format!("/api/v1/runs/{}/resume", run.id), &json!({})).await;
    let (all, ()) = tokio::join!(all_events(&mut third), play(&pool, &run.id));
    let mut ids = BTreeSet::from([begun, paused, again]);
    assert!(all.iter().all(|(_, id, _)| ids.insert(id.clone())), "told twice: {all:?}");
    let finished = [before.finished].into_iter().chain(all.iter().map(|(_, _, now)| now.finished));
    assert!(finished.is_sorted(), "{all:?}");
    let (name, ended, last) = all.last().unwrap();
    assert_eq!((name.as_str(), last.finished, last.state), ("end", 24, RunState::Finished));

    // A browser comes back by itself, and must hear that there is nothing more to wait for.
    let mut late = follow(&app, &run.id, Some(ended)).await;
    assert_eq!(next_event(&mut late).await.map(|(name, _, _)| name).as_deref(), Some("end"));
    assert_eq!(next_event(&mut late).await, None);
}

#[sqlx::test(migrations = "../migrations")]
async fn whoever_follows_hears_of_changes_twice_a_second_at_most(pool: PgPool) {
    let app = filled(&pool, &[]).await;
    let run: RunSummary = app.post(RUNS, &json!({"scenarios": [HELP], "n": 1, "paused": true})).await;
    let path = format!("/api/v1/runs/{}", run.id);
    let since = Instant::now();
    let mut following = follow(&app, &run.id, None).await;
    let changing = async {
        let mut priority = 0;
        while since.elapsed() < Duration::from_millis(1800) {
            priority += 1;
            let (status, _) = app.send(Method::PATCH, &path, &json!({"priority": priority})).await;
            assert_eq!(status, StatusCode::OK);
        }
        app.post::<RunSummary>(&format!("{path}/cancel"), &json!({})).await
    };
    let (all, cancelled) = tokio::join!(all_events(&mut following), changing);
    assert_eq!(all.last().map(|(name, _, last)| (name.as_str(), last)), Some(("end", &cancelled)));
    let most = since.elapsed().as_millis() / 500 + 1;
    assert!(all.len() > 1 && all.len() as u128 <= most, "{} events, {most} at most", all.len());
}

#[sqlx::test(migrations = "../migrations")]
async fn what_the_agent_did_not_spoil_is_played_again_when_asked(pool: PgPool) {
    let broken = Arc::new(AtomicBool::new(true));
    let answers = Arc::clone(&broken);
    let answer = move |request: &Value| if answers.load(Ordering::Relaxed) { refuses(401) } else { help(request) };
    let endpoint = Endpoint::start(answer).await;
    let app = filled(&pool, &[("local", &endpoint)]).await;
    let order = json!({"scenarios": [HELP], "n": 4, "retries": 0, "models": {"agent": "local"}});
    let run: RunSummary = app.post(RUNS, &order).await;
    play(&pool, &run.id).await;
    let path = format!("/api/v1/runs/{}", run.id);
    let spoiled: RunSummary = app.json(&path).await;
    let all = [("infrastructure".to_owned(), 4)].into();
    assert_eq!((spoiled.state, &spoiled.failures), (RunState::Finished, &all));
    let retry = format!("{path}/retry");
    assert_eq!(app.member(Role::Author).await.send(Method::POST, &retry, &json!({})).await.0, StatusCode::FORBIDDEN);

    broken.store(false, Ordering::Relaxed);
    let again: RunSummary = app.post(&retry, &json!({})).await;
    assert_eq!((again.state, again.finished, again.finished_at), (RunState::Running, 0, None));
    assert_eq!((&again.failures, &again.played_again), (&[].into(), &all));
    play(&pool, &run.id).await;
    let mended: RunSummary = app.json(&path).await;
    assert_eq!((mended.state, mended.finished, mended.accepted), (RunState::Finished, 4, 4));
    // Where nothing was spoiled, nothing is played again.
    let still: RunSummary = app.post(&retry, &json!({})).await;
    assert_eq!(still, mended);
    let log: Page<AuditEntry> = app.json("/api/v1/audit").await;
    let retries = log.items.iter().filter(|entry| entry.action == "POST /api/v1/runs/{run}/retry");
    let counted: Vec<&Value> = retries.map(|entry| &entry.detail["conversations"]).collect();
    assert_eq!(counted, [&json!(0), &json!(4)], "newest first");
}

#[sqlx::test(migrations = "../migrations")]
async fn an_order_that_is_sent_twice_is_one_run(pool: PgPool) {
    let app = filled(&pool, &[]).await;
    let other = app.member(Role::Runner).await;
    let send = async |app: &TestApp, key: &str, n: usize| {
        let body = json!({"scenarios": [HELP], "n": n, "paused": true});
        let answer = app.request(Method::POST, RUNS).header("idempotency-key", key).json(&body).send().await.unwrap();
        let replayed = answer.headers().contains_key("idempotency-replayed");
        (answer.status(), replayed, answer.json::<Value>().await.unwrap())
    };
    let runs = async || app.json::<Page<RunSummary>>(RUNS).await.items.len();
    let (status, replayed, first) = send(&app, "one", 3).await;
    assert_eq!((status, replayed, first["planned"].as_i64()), (StatusCode::CREATED, false, Some(3)));
    assert_eq!(send(&app, "one", 3).await, (StatusCode::CREATED, true, first));
    let (status, _, problem) = send(&app, "one", 4).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(problem["detail"], "this Idempotency-Key was used for another request; use a new one");
    assert_eq!(runs().await, 1);
    // Keys are of whoever asks.
    assert!(!send(&other, "one", 3).await.1);
    // Both at once: the second waits for no answer, and makes no run.
    let (a, b) = tokio::join!(send(&app, "two", 3), send(&app, "two", 3));
    let (done, late) = if a.0 == StatusCode::CREATED && !a.1 { (a, b) } else { (b, a) };
    assert_eq!((done.0, done.1), (StatusCode::CREATED, false));
    assert!(late.0 == StatusCode::CONFLICT || (late.1 && late.2 == done.2), "{late:?}");
    assert_eq!(runs().await, 3);
    // Who may no longer order a run is not told again what was answered, either.
    assert!(send(&other, "one", 3).await.1);
    sqlx::query("UPDATE memberships SET role = 'viewer' WHERE role = 'runner'").execute(&pool).await.unwrap();
    let (status, replayed, _) = send(&other, "one", 3).await;
    assert_eq!((status, replayed), (StatusCode::FORBIDDEN, false));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_forecast_pauses_and_the_run_goes_on(pool: PgPool) {
    let app = filled(&pool, &[]).await;
    let run: RunSummary = app.post(RUNS, &json!({"scenarios": [HELP], "n": 40, "forecast": 2})).await;
    play(&pool, &run.id).await;
    let path = format!("/api/v1/runs/{}", run.id);
    let paused: RunSummary = app.json(&path).await;
    assert_eq!(paused.state, RunState::Paused);
    assert!((2..40).contains(&paused.finished), "{}", paused.finished);
    let forecast: Forecast = app.json(&format!("{path}/forecast")).await;
    assert_eq!((forecast.finished, forecast.planned), (paused.finished, 40));
    let _: RunSummary = app.post(&format!("{path}/resume"), &json!({})).await;
    play(&pool, &run.id).await;
    assert_eq!(app.json::<RunSummary>(&path).await.finished, 40);
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
#[sqlx::test(migrations = "../migrations")]
async fn a_run_is_played_by_no_more_at_once_than_was_ordered(pool: PgPool) {
    let endpoint = Endpoint::start_slow(Duration::from_millis(50), help).await;
    let app = filled(&pool, &[("house", &endpoint)]).await;
    let order = json!({"scenarios": [HELP], "n": 12, "models": {"agent": "house"}, "max_in_flight": 3});
    let run: RunSummary = app.post(RUNS, &order).await;
    play(&pool, &run.id).await;
    assert_eq!(endpoint.most_at_once(), 3, "there are 12, and the player takes more");
    let path = format!("/api/v1/runs/{}", run.id);
    let done: RunSummary = app.json(&path).await;
    assert_eq!(done.finished, 12);
    // The forecast of a run that has ended is what it took.
    let forecast: Forecast = app.json(&format!("{path}/forecast")).await;
    let agent = done.usage.iter().find(|usage| usage.role == "agent").unwrap();
    let tokens = (agent.prompt_tokens + agent.completion_tokens) as f64;
    assert!((forecast.tokens - tokens).abs() < 0.5 && tokens > 0.0, "{} and {tokens}", forecast.tokens);
    assert!((forecast.tokens_per_accepted_row.unwrap() - tokens / 12.0).abs() < 0.5);
    let took = (done.finished_at.unwrap() - done.started_at.unwrap()).num_milliseconds() as f64 / 1_000.0;
    assert!((forecast.seconds - took).abs() < 0.5, "{} and {took}", forecast.seconds);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_forecast_leaves_the_cap_that_was_ordered(pool: PgPool) {
    let app = filled(&pool, &[]).await;
    let order = json!({"scenarios": [HELP], "n": 40, "forecast": 2, "budget": {"conversations": 6}});
    let run: RunSummary = app.post(RUNS, &order).await;
    let path = format!("/api/v1/runs/{}", run.id);
    play(&pool, &run.id).await;
    assert_eq!(app.json::<RunSummary>(&path).await.finished, 2);
    let _: RunSummary = app.post(&format!("{path}/resume"), &json!({})).await;
    play(&pool, &run.id).await;
    let capped: RunSummary = app.json(&path).await;
    assert_eq!((capped.state, capped.finished), (RunState::Paused, 6));
    let (status, answer) = app.send(Method::POST, &format!("{path}/resume"), &json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT, "it would play nothing");
    assert!(answer["detail"].as_str().unwrap().contains("raise that cap first"), "{answer}");
    let raised = json!({"budget": {"conversations": 8}});
    let (status, _) = app.send(Method::PATCH, &path, &raised).await;
    assert_eq!(status, StatusCode::OK);
    let _: RunSummary = app.post(&format!("{path}/resume"), &json!({})).await;
    play(&pool, &run.id).await;
    assert_eq!(app.json::<RunSummary>(&path).await.finished, 8);
}

#[sqlx::test(migrations = "../migrations")]
async fn users_put_things_as_the_order_weighs_it(pool: PgPool) {
    let app = filled(&pool, &[]).await;
    let order = json!({"scenarios": [HELP, HANDOVER], "n": 12, "complexity": {"vague": 2.0, "simple": 1.0}});
    let run: RunSummary = app.post(RUNS, &order).await;
    play(&pool, &run.id).await;
    let found: Page<ConversationSummary> = app.json(&format!("/api/v1/runs/{}/conversations", run.id)).await;
    let mut complexities: Vec<_> = found.items.iter().map(|found| found.complexity.as_str()).collect();
    complexities.sort_unstable();
    complexities.dedup();
    assert_eq!((found.items.len(), complexities), (12, vec!["simple", "vague"]));
}

#[sqlx::test(migrations = "../migrations")]
async fn each_conversation_is_played_as_often_as_ordered_and_exported_as_a_group(pool: PgPool) {
    let app = filled(&pool, &[]).await;
    let order = json!({"scenarios": [HELP, HANDOVER], "n": 2, "samples": 3});
    let looked: Value = app.post(&format!("{RUNS}/preview"), &order).await;
    assert_eq!(looked["planned"], 6);
    let run: RunSummary = app.post(RUNS, &order).await;
    assert_eq!(run.planned, 6);
    let terms: RunTerms = app.json(&format!("/api/v1/runs/{}/config", run.id)).await;
    assert_eq!(terms.config["samples"], 3);
    play(&pool, &run.id).await;
    let found: Page<ConversationSummary> = app.json(&format!("/api/v1/runs/{}/conversations", run.id)).await;
    let scenarios: Vec<&str> = found.items.iter().map(|found| found.scenario.as_str()).collect();
    assert_eq!(scenarios, [[HELP; 3], [HANDOVER; 3]].concat());
    let spec = json!({"source": {"run": {"id": run.id}}, "profile": "groups"});
    let preview: Value = app.post("/api/v1/projects/default/exports/preview", &spec).await;
    let group = &preview["record"];
    assert_eq!(group["group_id"], format!("{}/0", run.id));
    let rewards: Vec<&Value> = group["completions"].as_array().unwrap().iter().map(|one| &one["reward"]).collect();
    assert_eq!(rewards, [1; 3]);
    assert_eq!(group["dead"], true, "whoever follows the script does always the same");
}

#[sqlx::test(migrations = "../migrations")]
async fn every_mistake_of_an_order_has_its_place(pool: PgPool) {
    let app = filled(&pool, &[]).await;
    let wrong = json!({
        "playbooks": ["retail_bnk"], "personas": ["nobody"], "n": 0, "samples": 1001, "retries": 101, "max_in_flight": 0,
        "models": {"agent": "gpt-x", "judge": "x@http://169.254.169.254/v1"}, "panel": ["scripted"],
        "complexity": {"vague": 0.0}, "temperatures": {"agent": 3.5}, "max_tokens": {"judge": 0}, "budget": {"money": -1.0}, "forecast": 0,
    });
    let (status, answer) = app.send(Method::POST, RUNS, &wrong).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let errors: Vec<FieldError> = serde_json::from_value(answer["errors"].clone()).unwrap();
    let mut places: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
    places.sort_unstable();
    let expected = [
        "/budget/money",
        "/complexity/vague",
        "/forecast",
        "/max_in_flight",
        "/max_tokens/judge",
        "/models",
        "/models/judge",
        "/n",
        "/panel",
        "/personas",
        "/playbooks",
        "/retries",
        "/samples",
        "/temperatures/agent",
    ];
    assert_eq!(places, expected, "{answer}");
    for (body, pointer) in [
        (json!({"n": "many"}), "/n"),
        (json!({"nn": 3}), "/nn"),
        (json!({"samples": 0}), "/samples"),
        (json!({"n": 50_000_001, "samples": 2}), "/n"),
        (json!({"complexity": {"vage": 1.0}}), "/complexity"),
        (json!({"models": {"king": "scripted"}}), "/models"),
        (json!({"scenarios": []}), "/scenarios"),
        (json!({"scenarios": ["'; DROP TABLE runs; --"]}), "/scenarios"),
    ] {
        assert!(app.refused(RUNS, &body).await[0].0.starts_with(pointer), "{body}");
    }
    assert_eq!(app.json::<Page<RunSummary>>(RUNS).await.items, [], "nothing was stored");
}

/// Whatever is asked, little is done and little is answered.
#[sqlx::test(migrations = "../migrations")]
async fn an_order_that_names_too_much_is_refused_before_it_is_looked_at(pool: PgPool) {
    let app = filled(&pool, &[]).await;
    let names = |n: usize| (0..n).map(|n| format!("unknown_{n}")).collect::<Vec<_>>();
    let by_name = |n: usize, value: Value| names(n).into_iter().map(|name| (name, value.clone())).collect::<Value>();
    let fault = |tools: Vec<String>, calls: usize| json!({"kind": "timeout", "tools": tools, "calls": vec![1; calls]});
    let begun = std::time::Instant::now();
    for (order, pointer) in [
        (json!({"scenarios": names(20_001)}), "/scenarios"),
        (json!({"playbooks": names(1_001)}), "/playbooks"),
        (json!({"personas": names(1_001)}), "/personas"),
        (json!({"panel": names(51)}), "/panel"),
        (json!({"sub_agents": by_name(1_001, json!("scripted"))}), "/sub_agents"),
        (json!({"faults": vec![fault(vec![], 1); 1_001]}), "/faults"),
        (json!({"faults": [fault(names(301), 1)]}), "/faults/0/tools"),
        (json!({"faults": [fault(vec![], 1_001)]}), "/faults/0/calls"),
        (json!({"scenarios": [HELP, HELP]}), "/scenarios/1"),
        (json!({"playbooks": ["retail_bank", "retail_bank"]}), "/playbooks/1"),
        (json!({"personas": ["a", "a"]}), "/personas/1"),
        (json!({"panel": ["a", "a"]}), "/panel/1"),
        (json!({"models": {"agent": "x".repeat(201)}}), "/models/agent"),
        (json!({"variant": "x".repeat(201)}), "/variant"),
        (json!({"scenarios": ["x".repeat(201)]}), "/scenarios/0"),
    ] {
        for path in [RUNS.to_owned(), format!("{RUNS}/preview")] {
            let refused = app.refused(&path, &order).await;
            assert_eq!(refused.iter().map(|(at, _)| at.as_str()).collect::<Vec<_>>(), [pointer], "{refused:?}");
        }
    }
    for (order, at, last) in [
        (json!({"scenarios": names(20_000)}), "/scenarios", "and 19900 more problems, not listed"),
        (json!({"personas": names(1_000)}), "/personas", "and 900 more problems, not listed"),
        (json!({"sub_agents": by_name(1_000, json!("scripted"))}), "/sub_agents", "and 900 more problems, not listed"),
        (json!({"faults": [fault(names(300), 1)]}), "/faults/0", "and 200 more problems, not listed"),
    ] {
        let (status, answer) = app.send(Method::POST, &format!("{RUNS}/preview"), &order).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        let errors = answer["errors"].as_array().unwrap();
        assert!((100..=102).contains(&errors.len()), "{at}: {}", errors.len());
        assert!(errors[0]["pointer"].as_str().unwrap().starts_with(at), "{}", errors[0]);
        assert!(errors.iter().any(|error| error["detail"] == last), "{at}: {}", errors.last().unwrap());
        assert!(answer.to_string().len() < 500_000, "{at}: {}", answer.to_string().len());
    }
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    let large = json!({"variant": "x".repeat(3 << 20)});
    let (status, _) = app.send(Method::POST, &format!("{RUNS}/preview"), &large).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(app.json::<Page<RunSummary>>(RUNS).await.items, [], "nothing was stored");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_fault_has_a_probability(pool: PgPool) {
    let app = filled(&pool, &[]).await;
    for wrong in [json!(-5), json!(1.5), json!(1e308)] {
        let order = json!({"faults": [{"kind": "timeout", "probability": wrong}]});
        let refused = app.refused(RUNS, &order).await;
        assert_eq!(refused[0].0, "/faults/0");
        assert!(refused[0].1.starts_with("expected a probability from 0 to 1"), "{refused:?}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_panel_has_different_judges(pool: PgPool) {
    let endpoint = Endpoint::start(|_| says("ready")).await;
    let app = filled(&pool, &[("strict", &endpoint), ("kind", &endpoint)]).await;
    let refused = app.refused(RUNS, &json!({"models": {"judge": "strict"}, "panel": ["kind", "strict"]})).await;
    assert_eq!(refused, [("/panel".to_owned(), "`strict` judges already".to_owned())]);
    let run: RunSummary = app.post(RUNS, &json!({"scenarios": [HELP], "n": 1})).await;
    let judgings = format!("/api/v1/runs/{}/judgings", run.id);
    let many: Vec<String> = (0..40_000).map(|n| format!("judge{n}")).collect();
    for (models, pointer) in [(json!(many), "/models"), (json!(["strict", "strict"]), "/models/1")] {
        assert_eq!(app.refused(&judgings, &json!({"models": models})).await[0].0, pointer);
    }
}

/// Who may start runs and judgings does not thereby say where the server connects to.
#[sqlx::test(migrations = "../migrations")]
async fn models_are_named_and_never_addressed(pool: PgPool) {
    let app = filled(&pool, &[]).await;
    let run: RunSummary = app.post(RUNS, &json!({"scenarios": [HELP], "n": 1})).await;
    let judgings = format!("/api/v1/runs/{}/judgings", run.id);
    let address = "x@http://169.254.169.254/v1";
    for (path, body, pointer) in [
        (RUNS, json!({"models": {"agent": address}}), "/models/agent"),
        (RUNS, json!({"panel": [address]}), "/panel/0"),
        (RUNS, json!({"playbooks": ["retail_bank"], "sub_agents": {"finance": address}}), "/sub_agents/finance"),
        (judgings.as_str(), json!({"models": [address]}), "/models/0"),
    ] {
        let refused = app.refused(path, &body).await;
        let found = refused.iter().find(|(at, _)| at == pointer);
        let detail = &found.unwrap_or_else(|| panic!("{pointer} in {refused:?}")).1;
        assert!(detail.starts_with("name a model of the registry"), "{detail}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_project_without_documents_says_what_to_do(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let refused = app.refused(RUNS, &json!({})).await;
    assert!(refused[0].1.contains("the project has no documents yet"), "{refused:?}");
}

#[sqlx::test(migrations = "../migrations")]
async fn priorities_budgets_and_the_end(pool: PgPool) {
    let app = filled(&pool, &[]).await;
    let run: RunSummary = app.post(RUNS, &json!({"scenarios": [HELP], "n": 3})).await;
    let path = format!("/api/v1/runs/{}", run.id);
    let (status, changed) = app.send(Method::PATCH, &path, &json!({"priority": -5, "budget": {"tokens": 1000}})).await;
    assert_eq!((status, changed["priority"].as_i64()), (StatusCode::OK, Some(-5)));
    let (status, problem) = app.send(Method::PATCH, &path, &json!({"budget": {"tokens": 0}})).await;
    assert_eq!(
        (status, problem["errors"][0]["pointer"].as_str()),
        (StatusCode::UNPROCESSABLE_ENTITY, Some("/budget/tokens"))
    );
    let cancelled: RunSummary = app.post(&format!("{path}/cancel"), &json!({})).await;
    assert_eq!(cancelled.state, RunState::Cancelled);
    let (status, _) = app.send(Method::POST, &format!("{path}/resume"), &json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_is_judged_again_in_the_background(pool: PgPool) {
    let mut strict = verdict();
    strict["overall"] = json!(3);
    let endpoint = Endpoint::start(move |_| says(&strict.to_string())).await;
    let app = filled(&pool, &[("strict", &endpoint)]).await;
    let run: RunSummary = app.post(RUNS, &json!({"scenarios": [HELP], "n": 3})).await;
    play(&pool, &run.id).await;
    let judgings = format!("/api/v1/runs/{}/judgings", run.id);
    assert_eq!(app.refused(&judgings, &json!({"models": ["nobody"]})).await[0].0, "/models/0");
    let judging: JudgingSummary = app.post(&judgings, &json!({"models": ["strict"]})).await;
    assert_eq!((judging.state.as_str(), judging.conversations), ("running", 3));
    let path = format!("/api/v1/judgings/{}", judging.id);
    let mut now = judging;
    for _ in 0..100 {
        if now.state != "running" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        now = app.json(&path).await;
    }
    assert_eq!((now.state.as_str(), now.judged, now.models), ("finished", 3, vec!["strict".to_owned()]));
    let verdicts: Page<VerdictSummary> = app.json(&format!("{path}/verdicts?limit=2")).await;
    assert_eq!((verdicts.items.len(), verdicts.next.as_deref()), (2, Some("1")));
    let one = &verdicts.items[0];
    assert_eq!(one.verdict.as_ref().unwrap().overall, 3);
    let all: Vec<VerdictSummary> = app.json(&format!("/api/v1/conversations/{}/verdicts", one.conversation_id)).await;
    assert_eq!(all.iter().map(|v| v.judging_id == now.id).collect::<Vec<_>>(), [true, false], "the first one stays");
    assert_eq!(app.json::<Vec<JudgingSummary>>(&judgings).await.len(), 2);
    let (status, _) = app.send(Method::POST, &format!("{path}/cancel"), &json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT);
}

/// What a model failed is said before a run spends money on it, to whom it concerns.
#[sqlx::test(migrations = "../migrations")]
async fn runs_are_warned_by_what_a_model_failed(pool: PgPool) {
    let endpoint = Endpoint::start(|_| says("ready")).await;
    let app = filled(&pool, &[("local", &endpoint)]).await;
    let warnings = async |order: Value| {
        let preview: Value = app.post(&format!("{RUNS}/preview"), &order).await;
        serde_json::from_value::<Vec<String>>(preview["warnings"].clone()).unwrap()
    };
    let agent = json!({"models": {"agent": "local"}, "agent_style": "function_calling"});
    assert_eq!(warnings(json!({})).await, [""; 0], "what is scripted needs no probe");
    assert_eq!(
        warnings(agent.clone()).await,
        ["local was never probed; `groundstate models check local` says what it can"]
    );
    let _: ModelProbe = app.post("/api/v1/models/local/probe", &json!({})).await;
    let calls = warnings(agent).await;
    assert!(calls.iter().any(|warning| warning.contains("failed its check `tool_call`")), "{calls:?}");
    let react = warnings(json!({"models": {"agent": "local"}, "agent_style": "react"})).await;
    assert_eq!(react, [""; 0], "it can talk, and nothing else is needed");
    let judge = warnings(json!({"models": {"judge": "local"}})).await;
    assert!(judge.iter().any(|warning| warning.contains("failed its check `json_schema`")), "{judge:?}");
}
