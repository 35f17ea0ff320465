//! /api/v1/judgings/{judging}

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::api::{JudgingSummary, Page, RunSummary, UsageSummary, VerdictSummary};
use domain::job::{JobKind, JobState};
use llm::PoolSpec;
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::PgPool;
use tokio::time::{sleep, timeout};

use super::TestApp;
use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, says, silence, status};
use crate::support::play::{HELP, played};
use crate::support::{jobs, until};

/// The app, with a model that it can name.
async fn app_with(pool: &PgPool, judge: &Endpoint) -> TestApp {
    let url = judge.model().split_once('@').unwrap().1.to_owned();
    TestApp::with_models(pool, [PoolSpec::new("slow", vec![url])].into_iter().collect()).await
}

/// A judging that has ended.
async fn ended(app: &TestApp, id: &str) -> JudgingSummary {
    let path = format!("/api/v1/judgings/{id}");
    until("the judging has ended", async || app.json::<JudgingSummary>(&path).await.state != "running").await;
    app.json(&path).await
}

/// What judges cost a run.
async fn judged_for(app: &TestApp, run: &str) -> UsageSummary {
    let run: RunSummary = app.json(&format!("/api/v1/runs/{run}")).await;
    let of_judge = |usage: &UsageSummary| usage.role == "judge" && usage.model == "slow";
    run.usage.into_iter().find(of_judge).unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_judging_that_is_cancelled_stops_and_keeps_what_was_judged(pool: PgPool) {
    let asked = Arc::new(AtomicUsize::new(0));
    // One verdict comes; whoever is asked for the others never ends.
    let judge = Endpoint::start(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => says(&verdict().to_string()),
        _ => silence(),
    })
    .await;
    let app = app_with(&pool, &judge).await;
    let run = played(&pool, &[HELP], 4, 1, &[]).await;
    let all = format!("/api/v1/runs/{}/judgings", run.control.run.id);
    let judging: JudgingSummary = app.post(&all, &json!({"models": ["slow"]})).await;
    let path = format!("/api/v1/judgings/{}", judging.id);
    let begun = async {
        while app.json::<JudgingSummary>(&path).await.judged == 0 || judge.requests().len() < 4 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(30), begun).await.unwrap();

    let cancelled: JudgingSummary = app.post(&format!("{path}/cancel"), &json!({})).await;
    assert_eq!((cancelled.state.as_str(), cancelled.judged, cancelled.reason), ("cancelled", 1, None));
    let (status, problem) = app.send(Method::POST, &format!("{path}/cancel"), &json!({})).await;
    assert_eq!((status, problem["detail"].as_str()), (StatusCode::CONFLICT, Some("the judging has ended already")));

    // Whoever did it lets go of it, and nobody takes it up again.
    let job = jobs::of(&pool, JobKind::Judging, judging.id.parse().unwrap()).await;
    assert_eq!(job.state, JobState::Cancelled);
    let now: JudgingSummary = app.json(&path).await;
    assert_eq!((now.state.as_str(), now.judged), ("cancelled", 1));
    let verdicts: Page<VerdictSummary> = app.json(&format!("{path}/verdicts")).await;
    assert_eq!(verdicts.items.iter().map(|one| one.verdict.as_ref().unwrap().overall).collect::<Vec<_>>(), [8]);
    let own: JudgingSummary = app.json(&format!("/api/v1/judgings/{}", run.control.run.own_judging())).await;
    assert_eq!((own.judged, own.original), (4, true), "what was said before stays");
}

/// What judging again costs is the run's, and its budget stops it: it goes on where it stopped once the cap is raised.
#[sqlx::test(migrations = "../migrations")]
async fn a_judging_is_counted_and_meets_the_budget_of_its_run(pool: PgPool) {
    const N: usize = 40;
    let judge = Endpoint::start(|_| says(&verdict().to_string())).await;
    let app = app_with(&pool, &judge).await;
    let run = played(&pool, &[HELP], N, 1, &[]).await.control.run.id.to_string();
    let path = format!("/api/v1/runs/{run}");
    let change = async |budget| app.send(Method::PATCH, &path, &json!({"budget": budget})).await;
    // Each verdict takes 18. The run has ended, and its budget is changed all the same.
    assert_eq!(change(json!({"tokens": 90})).await.0, StatusCode::OK);
    let judging: JudgingSummary = app.post(&format!("{path}/judgings"), &json!({"models": ["slow"]})).await;
    let capped = ended(&app, &judging.id).await;
    let reason = "the budget of tokens is used up; raise that cap of the run, then resume the judging";
    assert_eq!((capped.state.as_str(), capped.reason.as_deref()), ("failed", Some(reason)));
    let asked = judge.requests().len();
    assert!((5..N).contains(&asked), "what was in flight was waited for, and no more was asked: {asked}");
    assert_eq!(capped.judged, i64::try_from(asked).unwrap(), "every verdict that was paid for is kept");
    let spent = judged_for(&app, &run).await;
    assert_eq!(
        (spent.calls, spent.prompt_tokens, spent.completion_tokens),
        (capped.judged, 11 * capped.judged, 7 * capped.judged)
    );

    // It does not help to resume it before that.
    let resume = format!("/api/v1/judgings/{}/resume", judging.id);
    app.post::<JudgingSummary>(&resume, &json!({})).await;
    assert_eq!(ended(&app, &judging.id).await.reason.as_deref(), Some(reason));
    assert_eq!(judge.requests().len(), asked);
    assert_eq!(change(json!({"tokens": 100_000})).await.0, StatusCode::OK);
    let resumed: JudgingSummary = app.post(&resume, &json!({})).await;
    assert_eq!((resumed.state.as_str(), resumed.reason), ("running", None));
    let whole = ended(&app, &judging.id).await;
    assert_eq!((whole.state.as_str(), whole.judged), ("finished", 40));
    assert_eq!(judge.requests().len(), N, "no conversation was judged twice");
    assert_eq!(judged_for(&app, &run).await.calls, 40);
    let (status, _) = app.send(Method::POST, &resume, &json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT, "it is finished");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_judging_whose_endpoint_was_away_is_resumed(pool: PgPool) {
    let works = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&works);
    let judge = Endpoint::start(move |_| match now.load(Ordering::Relaxed) {
        0 => status(500),
        _ => says(&verdict().to_string()),
    })
    .await;
    let app = app_with(&pool, &judge).await;
    let played = played(&pool, &[HELP], 2, 1, &[]).await;
    let run = &played.control.run;
    let all = format!("/api/v1/runs/{}/judgings", run.id);
    let judging: JudgingSummary = app.post(&all, &json!({"models": ["slow"]})).await;
    let failed = ended(&app, &judging.id).await;
    let reason = "2 conversations have no verdict: the endpoint did not answer; resume the judging";
    assert_eq!((failed.state.as_str(), failed.reason.as_deref()), ("failed", Some(reason)));
    works.store(1, Ordering::Relaxed);
    // The endpoint is left alone for a while after it failed so often.
    until("the endpoint is asked again", async || {
        app.post::<JudgingSummary>(&format!("/api/v1/judgings/{}/resume", judging.id), &json!({})).await;
        ended(&app, &judging.id).await.state == "finished"
    })
    .await;
    let whole: JudgingSummary = app.json(&format!("/api/v1/judgings/{}", judging.id)).await;
    assert_eq!((whole.judged, whole.reason), (2, None));
    // The run's own is as far as the run is.
    let (refused, problem) =
        app.send(Method::POST, &format!("/api/v1/judgings/{}/resume", run.own_judging()), &json!({})).await;
    assert_eq!(refused, StatusCode::CONFLICT, "{problem}");
}
