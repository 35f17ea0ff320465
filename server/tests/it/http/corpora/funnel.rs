//! What each condition of a filter drops.

use std::collections::BTreeMap;

use domain::corpus::Report;
use domain::role::Role;
use serde_json::json;
use sqlx::PgPool;

use super::LIST;
use super::filters::{SCENARIOS, judge};
use crate::http::TestApp;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HELP, planned_as, play_all, played};

/// The first condition that each conversation fails, read from the columns of the database.
const COUNT: &str = "
    WITH facts AS (
        SELECT c.run_id, c.outcome, persona, agreement, overall, c.verified,
               (SELECT (score ->> 'score')::int FROM jsonb_array_elements(verdict -> 'scores') AS score
                WHERE score ->> 'criterion' = 'tool_usage') AS tool_usage
        FROM tasks c JOIN judgings j ON j.run_id = c.run_id AND j.original
             LEFT JOIN verdicts v ON v.conversation_id = c.id AND v.judging_id = j.id
        WHERE c.outcome IS NOT NULL AND NOT superseded
    ), looked_at AS (
        SELECT *, CASE
            WHEN run_id <> ALL($1) THEN 'runs'
            WHEN persona <> ALL($2) THEN 'personas'
            WHEN outcome NOT IN ('accepted', 'failed') THEN 'outcomes'
            WHEN agreement IS NULL OR agreement < 0.8::real THEN 'min_agreement'
            WHEN overall IS NULL OR overall < 5 THEN 'min_overall'
            WHEN tool_usage IS NULL OR tool_usage < 6 THEN 'min_scores.tool_usage'
            WHEN verified IS NOT TRUE THEN 'verified'
        END AS failed FROM facts
    ), best AS (
        SELECT overall FROM looked_at WHERE failed IS NULL ORDER BY overall DESC
        LIMIT (SELECT ceil(count(*) * 0.25) FROM looked_at WHERE failed IS NULL)
    )
    SELECT coalesce(failed, CASE WHEN overall < (SELECT min(overall) FROM best) THEN 'top.overall' ELSE 'found' END),
           count(*)
    FROM looked_at GROUP BY 1";

#[sqlx::test(migrations = "../migrations")]
async fn each_condition_says_what_it_drops(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let judges = [judge(1).await, judge(7).await];
    // One that never does what it should.
    let idle = Endpoint::start(|_| says("I can not say.")).await;
    let mut runs = Vec::new();
    for (agent, n) in [(None, 60), (Some(&idle), 30)] {
        let mut models = vec![(Role::Judge, judges[0].model())];
        models.extend(agent.map(|agent| (Role::Agent, agent.model())));
        let run = planned_as(&pool, &SCENARIOS, n, 3, &models, |config| {
            config.panel = vec![judges[1].model().parse().unwrap()];
        });
        runs.push(play_all(run.await, 8).await.control.run.id);
    }
    played(&pool, &[HELP], 3, 1, &[]).await;
    let personas = "SELECT DISTINCT persona FROM tasks ORDER BY persona";
    let mut personas: Vec<String> = sqlx::query_scalar(personas).fetch_all(&pool).await.unwrap();
    personas.remove(0);

    let filter = json!({
        "runs": runs, "personas": personas, "outcomes": ["accepted", "failed"], "min_agreement": 0.8, "min_overall": 5,
        "min_scores": {"tool_usage": 6}, "verified": true, "top": [{"share": 0.25}]
    });
    let report: Report = app.post(&format!("{LIST}/preview"), &json!({"filter": filter})).await;
    let counted: Vec<(String, i64)> = sqlx::query_as(COUNT).bind(&runs).bind(&personas).fetch_all(&pool).await.unwrap();
    let mut counted: BTreeMap<String, u64> = counted.into_iter().map(|(name, n)| (name, n.unsigned_abs())).collect();

    assert_eq!(report.looked_at, counted.values().sum::<u64>());
    assert_eq!(Some(report.found), counted.remove("found"));
    let conditions: Vec<&str> = report.filter.iter().map(|stage| stage.condition.as_str()).collect();
    let expected =
        ["runs", "personas", "outcomes", "min_agreement", "min_overall", "min_scores.tool_usage", "verified"];
    assert_eq!(conditions, [&expected[..], &["top.overall"]].concat());
    let mut left = report.looked_at;
    for stage in &report.filter {
        assert_eq!(stage.dropped, counted.remove(&stage.condition).unwrap_or_default(), "{}", stage.condition);
        assert!(
            stage.dropped > 0 || ["outcomes", "min_scores.tool_usage"].contains(&stage.condition.as_str()),
            "{stage:?}"
        );
        left -= stage.dropped;
        assert_eq!(stage.left, left, "{}", stage.condition);
    }
    assert_eq!((left, counted.len()), (report.found, 0), "{counted:?}");
    // From there on the steps go on counting.
    let first = &report.funnel[0];
    assert_eq!(first.dropped + first.left, report.found);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_not_asked_for_is_no_condition(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    played(&pool, &[HELP], 3, 1, &[]).await;
    let report: Report = app.post(&format!("{LIST}/preview"), &json!({})).await;
    let stages: Vec<(&str, u64, u64)> =
        report.filter.iter().map(|stage| (stage.condition.as_str(), stage.dropped, stage.left)).collect();
    assert_eq!(stages, [("outcomes", 0, 3)]);
}
