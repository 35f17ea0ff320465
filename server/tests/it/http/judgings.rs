//! /api/v1/judgings/{judging}

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::api::{JudgingSummary, Page, VerdictSummary};
use llm::PoolSpec;
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::PgPool;
use store::judgings;
use tokio::time::{sleep, timeout};

use super::TestApp;
use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, says, silence};
use crate::support::play::{HELP, played};

#[sqlx::test(migrations = "../migrations")]
async fn a_judging_that_is_cancelled_stops_and_keeps_what_was_judged(pool: PgPool) {
    let asked = Arc::new(AtomicUsize::new(0));
    // One verdict comes; whoever is asked for the others never ends.
    let judge = Endpoint::start(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => says(&verdict().to_string()),
        _ => silence(),
    })
    .await;
    let url = judge.model().split_once('@').unwrap().1.to_owned();
    let app = TestApp::with_models(&pool, [PoolSpec::new("slow", vec![url])].into_iter().collect()).await;
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

    // Whoever did it lets go of it, and asks nothing more.
    let mut other = pool.acquire().await.unwrap();
    let id = judging.id.parse().unwrap();
    let free = async {
        while !judgings::take(&mut other, id).await.unwrap() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(30), free).await.unwrap();
    assert_eq!(judge.requests().len(), 4);
    assert!(judgings::running(&mut other).await.unwrap().is_empty(), "nobody takes it up again");
    let now: JudgingSummary = app.json(&path).await;
    assert_eq!((now.state.as_str(), now.judged), ("cancelled", 1));
    let verdicts: Page<VerdictSummary> = app.json(&format!("{path}/verdicts")).await;
    assert_eq!(verdicts.items.iter().map(|one| one.verdict.as_ref().unwrap().overall).collect::<Vec<_>>(), [8]);
    let own: JudgingSummary = app.json(&format!("/api/v1/judgings/{}", run.control.run.own_judging())).await;
    assert_eq!((own.judged, own.original), (4, true), "what was said before stays");
}
