//! /api/v1/runs/{run}/analytics, /api/v1/runs/{run}/comparison, /api/v1/corpora/{corpus}/analytics

mod by_sql;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::api::{CorpusAnalytics, RunAnalytics, RunComparison};
use domain::price::Price;
use domain::role::Role;
use llm::PoolSpec;
use reqwest::StatusCode;
use serde_json::Value;
use sqlx::PgPool;
use store::clock;
use store::projects;
use uuid::Uuid;

use super::TestApp;
use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, nobody, says};
use crate::support::play::{HANDOVER, HELP, TRANSFER, planned_as, play_all, played, stories};

#[sqlx::test(migrations = "../migrations")]
async fn a_run_in_numbers(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP, TRANSFER, HANDOVER], 12, 1, &[]).await;
    let path = format!("/api/v1/runs/{}/analytics", run.control.run.id);
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
    let run = played(&pool, &[HELP], 3, 1, &[(Role::Judge, nobody())]).await;
    let RunAnalytics { analytics, cost } = app.json(&format!("/api/v1/runs/{}/analytics", run.control.run.id)).await;
    let outcomes: Vec<(&str, u64)> = analytics.outcomes.iter().map(|o| (o.outcome.as_str(), o.count)).collect();
    assert_eq!(outcomes, [("infrastructure", 3)]);
    assert_eq!((analytics.accepted, analytics.scores.len(), cost.per_accepted), (None, 0, None));
}

#[sqlx::test(migrations = "../migrations")]
async fn two_runs_beside_each_other(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let one = played(&pool, &[HELP], 6, 1, &[]).await.control.run.id;
    let other = played(&pool, &[TRANSFER], 8, 1, &[]).await.control.run.id;
    let path = format!("/api/v1/runs/{one}/comparison");
    let found: RunComparison = app.json(&format!("{path}?with={other}")).await;
    let accepted = found.comparison.rates["accepted"];
    assert_eq!((accepted.one.of, accepted.other.of), (6, 8));
    assert!(!accepted.gap.significant && accepted.gap.interval.low < 0.0 && accepted.gap.interval.high > 0.0);
    assert_eq!((found.comparison.means["turns"].one_n, found.comparison.means["turns"].other_n), (6, 8));

    assert_eq!(app.problem(&path, StatusCode::BAD_REQUEST).await, "`with`: missing field `with`");
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
    let insert = "INSERT INTO corpora (id, project_id, name, spec, created_by, created_at)
                  VALUES ($1, $2, 'mine', '{\"filter\": {}}', 'me', now())";
    sqlx::query(insert).bind(corpus).bind(projects::DEFAULT).execute(&pool).await.unwrap();
    for (ordinal, story) in (0..).zip(stories(&run).await) {
        let split = if ordinal < 6 { Some("train") } else { Some("golden") }.filter(|_| ordinal != 9);
        let row = "INSERT INTO corpus_rows (corpus_id, ordinal, run_id, conversation_id, split, dropped_by)
                   VALUES ($1, $2, $3, $4, $5, CASE WHEN $5 IS NULL THEN 'limit' END)";
        let row =
            sqlx::query(row).bind(corpus).bind(ordinal).bind(run.control.run.id).bind(story.planned.id).bind(split);
        row.execute(&pool).await.unwrap();
    }
    let path = format!("/api/v1/corpora/{corpus}/analytics");
    assert_eq!(app.problem(&path, StatusCode::CONFLICT).await, "the corpus is not ready");
    sqlx::query("UPDATE corpora SET manifest_hash = 'hash'").execute(&pool).await.unwrap();
    let found: CorpusAnalytics = app.json(&path).await;
    assert_eq!((found.train, found.golden, found.analytics.conversations), (6, 3, 9));
    let gap = found.gaps["overall"];
    assert_eq!((gap.one_n, gap.other_n), (6, 3));
    app.problem(&format!("/api/v1/corpora/{}/analytics", clock::id()), StatusCode::NOT_FOUND).await;
}

/// Verdicts of all kinds, in turn.
fn said(n: usize) -> Value {
    const OVERALL: [usize; 8] = [9, 4, 8, 7, 10, 3, 8, 7];
    let overall = OVERALL[n % 8];
    let score = |i: usize| match i {
        // Goes with the overall score; goes its own way; never changes.
        0..4 => (overall + n * (i + 2) % 4).min(10),
        4..7 => (n * (2 * i + 5) + i) % 11,
        _ => 9,
    };
    let mut verdict = verdict();
    verdict["overall"] = overall.into();
    verdict["goal_achieved"] = (n % 7 != 3).into();
    let scores = verdict["scores"].as_array_mut().unwrap().iter_mut().enumerate();
    scores.for_each(|(i, given)| given["score"] = score(i).into());
    verdict
}

/// A run that a model judged, which said this first; a call costs so much.
struct Judged {
    id: Uuid,
    cost: f64,
    all: Vec<Uuid>,
}

impl Judged {
    async fn play(pool: &PgPool, scenarios: &[&str], n: usize, first: usize, price: Price) -> Self {
        let next = Arc::new(AtomicUsize::new(first));
        let judge = Endpoint::start(move |_| says(&said(next.fetch_add(1, Ordering::Relaxed)).to_string())).await;
        let url = judge.model().split_once('@').unwrap().1.to_owned();
        let models = [(Role::Judge, "priced".to_owned())];
        let run = planned_as(pool, scenarios, n, 1, &models, |config| {
            config.pools = vec![PoolSpec { price: Some(price), ..PoolSpec::new("priced", vec![url]) }];
        });
        let id = play_all(run.await, 4).await.control.run.id;
        // What the endpoint says that it read and wrote, in tokens.
        let calls = f64::from(u32::try_from(judge.requests().len()).unwrap());
        let cost = calls * (11.0 * price.prompt + 7.0 * price.completion) / 1e6;
        let all = "SELECT id FROM tasks WHERE run_id = $1 ORDER BY position";
        Self { id, cost, all: sqlx::query_scalar(all).bind(id).fetch_all(pool).await.unwrap() }
    }

    /// What was accepted in a run that is in the tables.
    async fn per_accepted(&self, pool: &PgPool) -> f64 {
        let accepted = "SELECT (count(*) FILTER (WHERE outcome = 'accepted' AND NOT superseded))::float8
                        FROM tasks WHERE run_id = $1";
        self.cost / sqlx::query_scalar::<_, f64>(accepted).bind(self.id).fetch_one(pool).await.unwrap()
    }

    /// Of what the agent failed in, one is blamed on each of the others, one has not ended, and the rest was not as the
    /// verifier wants it. What was played first was played twice.
    async fn spoil(&self, pool: &PgPool) {
        let spoil = "
            WITH failed AS (
                SELECT id, row_number() OVER (ORDER BY position) AS n FROM tasks WHERE run_id = $1 AND blame = 'agent'
            )
            UPDATE tasks c SET verified = n % 2 = 0,
                blame = CASE n WHEN 1 THEN 'simulated_user' WHEN 2 THEN 'tool_simulator' WHEN 3 THEN 'judge'
                               WHEN 4 THEN 'infrastructure' WHEN 5 THEN NULL ELSE blame END,
                outcome = CASE WHEN n <> 5 THEN outcome END, ending = CASE WHEN n <> 5 THEN ending END,
                finished_at = CASE WHEN n <> 5 THEN finished_at END
            FROM failed WHERE failed.id = c.id";
        assert!(sqlx::query(spoil).bind(self.id).execute(pool).await.unwrap().rows_affected() > 8);
        let twice = "
            WITH copies AS (
                INSERT INTO tasks
                SELECT (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'superseded', true))).*
                FROM tasks c WHERE id = $1 RETURNING id
            )
            INSERT INTO verdicts SELECT (jsonb_populate_record(v, jsonb_build_object('conversation_id', copies.id))).*
            FROM verdicts v CROSS JOIN copies WHERE conversation_id = $1";
        sqlx::query(twice).bind(self.all[0]).execute(pool).await.unwrap();
    }
}

const CHEAP: Price = Price { prompt: 100.0, completion: 700.0 };
const DEAR: Price = Price { prompt: 1000.0, completion: 5000.0 };

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[sqlx::test(migrations = "../migrations")]
async fn every_table_is_what_postgresql_computes(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = Judged::play(&pool, &[HELP, TRANSFER, HANDOVER], 48, 0, DEAR).await;
    run.spoil(&pool).await;
    by_sql::prepare(&pool).await;
    by_sql::choose(&pool, "all", &run.all).await;
    let path = format!("/api/v1/runs/{}/analytics", run.id);
    let RunAnalytics { analytics, cost } = app.json(&path).await;
    by_sql::check(&pool, "all", &analytics).await;

    // That would be little if nothing differed.
    assert_eq!(analytics.conversations, 48);
    let outcomes: Vec<&str> = analytics.outcomes.iter().map(|told| told.outcome.as_str()).collect();
    let blamed = ["accepted", "agent", "infrastructure", "judge", "simulated_user", "tool_simulator", "unfinished"];
    assert_eq!(outcomes, blamed);
    for (kind, told) in &analytics.groups {
        assert!(told.distinct > 1, "{kind}");
        assert!(told.groups.iter().any(|group| (1..group.accepted.of).contains(&group.accepted.count)), "{kind}");
    }
    assert!(analytics.rates.values().all(|rate| (1..rate.of).contains(&rate.count)), "{:?}", analytics.rates);
    let absent = analytics.correlations.pearson.iter().flatten().filter(|cell| cell.is_none()).count();
    assert_eq!(absent, 17, "of the criterion that never changes, with each and each with it");

    assert!(cost.total > 1.0);
    assert_near(cost.total, run.cost);
    assert_near(cost.per_accepted.unwrap(), run.per_accepted(&pool).await);

    let some = "SELECT id FROM tasks WHERE run_id = $1 AND scenario = $2";
    let some: Vec<Uuid> = sqlx::query_scalar(some).bind(run.id).bind(TRANSFER).fetch_all(&pool).await.unwrap();
    by_sql::choose(&pool, "some", &some).await;
    let found: RunAnalytics = app.json(&format!("{path}?scenario={TRANSFER}")).await;
    by_sql::check(&pool, "some", &found.analytics).await;
    assert_eq!(found.cost, cost);
}

#[sqlx::test(migrations = "../migrations")]
async fn two_sets_differ_by_what_postgresql_computes(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let one = Judged::play(&pool, &[HELP, TRANSFER], 40, 0, DEAR).await;
    one.spoil(&pool).await;
    let other = Judged::play(&pool, &[TRANSFER, HANDOVER], 24, 5, CHEAP).await;
    by_sql::prepare(&pool).await;
    by_sql::choose(&pool, "one", &one.all).await;
    by_sql::choose(&pool, "other", &other.all).await;
    let found: RunComparison = app.json(&format!("/api/v1/runs/{}/comparison?with={}", one.id, other.id)).await;
    by_sql::check_comparison(&pool, "one", "other", &found.comparison).await;
    assert_eq!(found.comparison.means.len(), 11, "nine scores and two lengths");
    assert_near(found.per_accepted.unwrap(), one.per_accepted(&pool).await);
    assert_near(found.with_per_accepted.unwrap(), other.per_accepted(&pool).await);

    // A corpus of most of both; every third row is golden.
    let corpus = clock::id();
    let insert = "INSERT INTO corpora (id, project_id, name, spec, manifest_hash, created_by, created_at)
                  VALUES ($1, $2, 'mine', '{\"filter\": {}}', 'hash', 'me', now())";
    sqlx::query(insert).bind(corpus).bind(projects::DEFAULT).execute(&pool).await.unwrap();
    let rows = "INSERT INTO corpus_rows (corpus_id, ordinal, run_id, conversation_id, split, dropped_by)
                SELECT $1, n, run_id, id, CASE WHEN n % 10 = 9 THEN NULL WHEN n % 3 = 0 THEN 'golden' ELSE 'train' END,
                       CASE WHEN n % 10 = 9 THEN 'limit' END
                FROM (SELECT id, run_id, row_number() OVER (ORDER BY id) AS n FROM tasks WHERE NOT superseded) AS c";
    sqlx::query(rows).bind(corpus).execute(&pool).await.unwrap();
    let kept = "INSERT INTO chosen SELECT whole, conversation_id FROM corpus_rows CROSS JOIN unnest(ARRAY[split, 'kept']) AS whole
                WHERE split IS NOT NULL";
    sqlx::query(kept).execute(&pool).await.unwrap();
    let found: CorpusAnalytics = app.json(&format!("/api/v1/corpora/{corpus}/analytics")).await;
    by_sql::check(&pool, "kept", &found.analytics).await;
    by_sql::check_gaps(&pool, "train", "golden", &found.gaps).await;
    let counts = "SELECT count(*) FILTER (WHERE split = 'train'), count(*) FILTER (WHERE split = 'golden'),
                         (count(*) FILTER (WHERE split IS NOT NULL AND run_id = $1))::float8,
                         (count(*) FILTER (WHERE split IS NOT NULL AND run_id = $2))::float8 FROM corpus_rows";
    let (train, golden, of_one, of_other): (i64, i64, f64, f64) =
        sqlx::query_as(counts).bind(one.id).bind(other.id).fetch_one(&pool).await.unwrap();
    assert_eq!((found.train, found.golden), (train.unsigned_abs(), golden.unsigned_abs()));
    let cost = of_one * one.per_accepted(&pool).await + of_other * other.per_accepted(&pool).await;
    assert_near(found.cost, cost);
}
