//! /api/v1/runs/{run}/analytics, /api/v1/runs/{run}/comparison, /api/v1/corpora/{corpus}/analytics

use domain::api::{CorpusAnalytics, RunAnalytics, RunComparison};
use domain::role::Role;
use reqwest::StatusCode;
use server::clock;
use server::store::projects;
use sqlx::PgPool;

use super::TestApp;
use crate::support::endpoint::nobody;
use crate::support::play::{HANDOVER, HELP, TRANSFER, played, stories};

#[sqlx::test(migrations = "../migrations")]
async fn a_run_in_numbers(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP, TRANSFER, HANDOVER], 12, 1, &[]).await;
    let path = format!("/api/v1/runs/{}/analytics", run.run.id);
    let RunAnalytics { analytics, cost } = app.json(&path).await;
    assert_eq!(analytics.conversations, 12);
    assert_eq!(analytics.outcomes.iter().map(|outcome| outcome.count).sum::<u64>(), 12);
    let accepted = analytics.accepted.unwrap();
    assert_eq!((accepted.count, accepted.of), (12, 12));
    assert_eq!(analytics.scores.len(), 9, "eight criteria and overall");
    // PostgreSQL computes the same from the documents.
    let (mean, deviation): (f64, f64) = sqlx::query_as(
        "SELECT avg((verdict ->> 'overall')::float8), stddev_samp((verdict ->> 'overall')::float8) FROM verdicts",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    let overall = &analytics.scores["overall"];
    assert!((overall.mean - mean).abs() < 1e-9 && (overall.deviation.unwrap() - deviation).abs() < 1e-9);
    let scenarios = &analytics.groups["scenario"];
    assert_eq!((scenarios.distinct, scenarios.groups[0].accepted.of), (3, 4));
    assert_eq!(analytics.groups["turns"].groups.iter().map(|group| group.accepted.of).sum::<u64>(), 12);
    assert!(analytics.groups["tool"].groups.iter().any(|group| group.value == "search_help"));
    assert_eq!(analytics.correlations.scores.len(), 9);
    assert_eq!((cost.total, cost.per_accepted), (0.0, Some(0.0)));

    let RunAnalytics { analytics, .. } = app.json(&format!("{path}?scenario={HELP}")).await;
    assert_eq!(analytics.conversations, 4);
    app.problem(&format!("{path}?sort=overall"), StatusCode::BAD_REQUEST).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn what_the_agent_did_not_do_is_counted_apart(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP], 3, 1, &[(Role::Judge, nobody().await)]).await;
    let RunAnalytics { analytics, cost } = app.json(&format!("/api/v1/runs/{}/analytics", run.run.id)).await;
    let outcomes: Vec<(&str, u64)> = analytics.outcomes.iter().map(|o| (o.outcome.as_str(), o.count)).collect();
    assert_eq!(outcomes, [("infrastructure", 3)]);
    assert_eq!((analytics.accepted, analytics.scores.len(), cost.per_accepted), (None, 0, None));
}

#[sqlx::test(migrations = "../migrations")]
async fn two_runs_beside_each_other(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let one = played(&pool, &[HELP], 6, 1, &[]).await.run.id;
    let other = played(&pool, &[TRANSFER], 8, 1, &[]).await.run.id;
    let path = format!("/api/v1/runs/{one}/comparison");
    let found: RunComparison = app.json(&format!("{path}?with={other}")).await;
    let accepted = found.comparison.rates["accepted"];
    assert_eq!((accepted.one.of, accepted.other.of), (6, 8));
    assert!(!accepted.gap.significant && accepted.gap.interval.low < 0.0 && accepted.gap.interval.high > 0.0);
    assert_eq!((found.comparison.means["turns"].one_n, found.comparison.means["turns"].other_n), (6, 8));

    assert_eq!(app.problem(&path, StatusCode::BAD_REQUEST).await, "`with`: name the other run");
    app.problem(&format!("{path}?with=x"), StatusCode::BAD_REQUEST).await;
    app.problem(&format!("{path}?with={}", clock::id()), StatusCode::NOT_FOUND).await;
    // A run of another project is none that could be compared with.
    sqlx::query("INSERT INTO projects (id, name, title, created_at) VALUES ($1, 'theirs', 'Theirs', now())")
        .bind(clock::id())
        .execute(&pool)
        .await
        .unwrap();
    let moved = "UPDATE runs SET project_id = (SELECT id FROM projects WHERE name = 'theirs') WHERE id = $1";
    sqlx::query(moved).bind(other).execute(&pool).await.unwrap();
    app.problem(&format!("{path}?with={other}"), StatusCode::NOT_FOUND).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_corpus_in_numbers(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP, TRANSFER], 10, 1, &[]).await;
    let corpus = clock::id();
    let insert = "INSERT INTO corpora (id, project_id, name, spec, state, created_by, created_at)
                  VALUES ($1, $2, 'mine', '{\"filter\": {}}', 'building', 'me', now())";
    sqlx::query(insert).bind(corpus).bind(projects::DEFAULT).execute(&pool).await.unwrap();
    for (ordinal, story) in (0..).zip(stories(&run).await) {
        let split = if ordinal < 6 { Some("train") } else { Some("golden") }.filter(|_| ordinal != 9);
        let row = "INSERT INTO corpus_rows (corpus_id, ordinal, run_id, conversation_id, split, dropped_by)
                   VALUES ($1, $2, $3, $4, $5, CASE WHEN $5 IS NULL THEN 'limit' END)";
        let row = sqlx::query(row).bind(corpus).bind(ordinal).bind(run.run.id).bind(story.planned.id).bind(split);
        row.execute(&pool).await.unwrap();
    }
    let path = format!("/api/v1/corpora/{corpus}/analytics");
    assert_eq!(app.problem(&path, StatusCode::CONFLICT).await, "the corpus is not ready");
    sqlx::query("UPDATE corpora SET state = 'ready'").execute(&pool).await.unwrap();
    let found: CorpusAnalytics = app.json(&path).await;
    assert_eq!((found.train, found.golden, found.analytics.conversations), (6, 3, 9));
    let gap = found.gaps["overall"];
    assert_eq!((gap.one_n, gap.other_n), (6, 3));
    app.problem(&format!("/api/v1/corpora/{}/analytics", clock::id()), StatusCode::NOT_FOUND).await;
}
