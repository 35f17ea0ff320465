//! /api/v1/projects/{project}/jobs and /api/v1/jobs

use domain::access::Role;
use domain::api::documents::ValidationDetail;
use domain::api::{BuildState, CorpusSummary, ExportSummary, JobSummary, JudgingSummary, Page};
use domain::job::{JobKind, JobState};
use domain::progress::JobProgress;
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use super::TestApp;
use super::archive::filled;
use crate::support::play::{HELP, played};
use crate::support::{jobs, until};

const DEFAULT: &str = "/api/v1/projects/default";

/// Of whatever kind a job is, it tells in the same words and numbers how far it is.
#[sqlx::test(migrations = "../migrations")]
async fn jobs_of_all_kinds_tell_alike_how_far_they_are(pool: PgPool) {
    let app = filled(&pool).await;
    let run = played(&pool, &[HELP], 2, 1, &[]).await.control.run.id;
    let spec = json!({"source": {"run": {"id": run}}, "profile": "canonical"});
    let export: ExportSummary = app.post(&format!("{DEFAULT}/exports"), &spec).await;
    let corpus: CorpusSummary =
        app.post(&format!("{DEFAULT}/corpora"), &json!({"name": "c", "spec": {"split": {"golden": 0}}})).await;
    let waiting: Page<JobSummary> = app.json(&format!("{DEFAULT}/jobs")).await;
    let of = |job: &JobSummary| (job.kind, job.state, job.doing.clone());
    let queued = |kind| (kind, JobState::Queued, None);
    assert_eq!(
        waiting.items.iter().map(of).collect::<Vec<_>>(),
        [queued(JobKind::Corpus), queued(JobKind::Export)],
        "the newest first"
    );
    let built = async |kind, id: &str| jobs::done(&pool, app.files(), kind, id.parse().unwrap()).await;
    built(JobKind::Export, &export.id).await;
    built(JobKind::Corpus, &corpus.id).await;
    let judging: JudgingSummary = app.post(&format!("/api/v1/runs/{run}/judgings"), &json!({})).await;
    let validation: ValidationDetail = app.post(&format!("{DEFAULT}/validations"), &json!({})).await;
    let all = async || app.json::<Page<JobSummary>>(&format!("{DEFAULT}/jobs")).await.items;
    until("all have ended", async || all().await.iter().all(|job| job.state == JobState::Finished)).await;
    let mut found: Vec<_> = all().await;
    found.sort_by_key(|job| job.kind);
    let doing = |job: &JobSummary| job.doing.clone().unwrap();
    assert_eq!(
        found.iter().map(|job| (job.kind, job.subject.clone(), doing(job))).collect::<Vec<_>>(),
        [
            (JobKind::Export, export.id.clone(), JobProgress::new("pack", 2, Some(2))),
            (JobKind::Corpus, corpus.id.clone(), JobProgress::new("keep", 0, Some(2))),
            (JobKind::Judging, judging.id, JobProgress::new("judge", 2, Some(2))),
            (JobKind::Validation, validation.summary.id, JobProgress::new("compare", 0, None)),
        ]
    );
    let reports: Vec<_> = found.iter().map(|job| job.report.clone().unwrap()).collect();
    let bytes = app.json::<ExportSummary>(&format!("/api/v1/exports/{}", export.id)).await.bytes;
    let train = app.json::<Page<CorpusSummary>>(&format!("{DEFAULT}/corpora")).await.items[0].train;
    assert_eq!(
        reports,
        [
            json!({"rows": 2, "bytes": bytes}),
            json!({"train": train, "golden": 0}),
            json!({"judged": 2, "without_verdict": 0, "usage": {"prompt_tokens": 0, "completion_tokens": 0}}),
            json!({"sound": true}),
        ]
    );
    assert_eq!(found[2].run.as_deref(), Some(run.to_string().as_str()), "it counts to the run");
    assert!(found.iter().all(|job| job.created_by == "root" && job.started_at <= job.finished_at));
    let one: JobSummary = app.json(&format!("/api/v1/jobs/{}", found[0].id)).await;
    assert_eq!(one, found[0]);
    let first: Page<JobSummary> = app.json(&format!("{DEFAULT}/jobs?limit=1")).await;
    let rest: Page<JobSummary> = app.json(&format!("{DEFAULT}/jobs?after={}", first.next.unwrap())).await;
    assert_eq!((first.items[0].kind, rest.items.len()), (JobKind::Validation, 3));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_cancelled_as_a_job_is_cancelled(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP], 1, 1, &[]).await.control.run.id;
    let spec = json!({"source": {"run": {"id": run}}, "profile": "canonical"});
    let export: ExportSummary = app.post(&format!("{DEFAULT}/exports"), &spec).await;
    let corpus: CorpusSummary = app.post(&format!("{DEFAULT}/corpora"), &json!({"name": "c"})).await;
    let (viewer, nothing) = (app.member(Role::Viewer).await, json!(null));
    for (kind, subject) in [(JobKind::Export, &export.id), (JobKind::Corpus, &corpus.id)] {
        let job = format!("/api/v1/jobs/{}", jobs::of(&pool, kind, subject.parse().unwrap()).await.id);
        assert_eq!(viewer.send(Method::DELETE, &job, &nothing).await.0, StatusCode::FORBIDDEN);
        let (status, cancelled) = app.send(Method::DELETE, &job, &nothing).await;
        assert_eq!((status, cancelled["state"].as_str()), (StatusCode::OK, Some("cancelled")));
        let (status, problem) = app.send(Method::DELETE, &job, &nothing).await;
        assert_eq!((status, problem["detail"].as_str()), (StatusCode::CONFLICT, Some("the job is cancelled already")));
    }
    let export: ExportSummary = app.json(&format!("/api/v1/exports/{}", export.id)).await;
    let corpus: CorpusSummary = app.json::<Page<CorpusSummary>>(&format!("{DEFAULT}/corpora")).await.items.remove(0);
    assert_eq!((export.state, corpus.state), (BuildState::Cancelled, BuildState::Cancelled));
    let missing = format!("/api/v1/jobs/{}", Uuid::nil());
    assert_eq!(app.send(Method::DELETE, &missing, &nothing).await.0, StatusCode::NOT_FOUND);
}

/// A job ends for good: nothing that is told of it later counts, whoever says it.
#[sqlx::test(migrations = "../migrations")]
async fn a_job_that_has_ended_does_not_change(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let corpus: CorpusSummary = app.post(&format!("{DEFAULT}/corpora"), &json!({"name": "c"})).await;
    app.post::<CorpusSummary>(&format!("/api/v1/corpora/{}/cancel", corpus.id), &json!({})).await;
    for change in ["state = 'queued', finished_at = NULL", "done = 7", "reason = 'other'"] {
        let statement = format!("UPDATE jobs SET {change}");
        let refused = sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&pool).await;
        assert!(refused.unwrap_err().to_string().contains("does not change"), "{change}");
    }
}
