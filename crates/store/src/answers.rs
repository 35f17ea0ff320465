//! Answers of workflows: runs of one row that somebody waits for.

use domain::api::workflows::AnswerTimes;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

/// The attempt that stands for the only row of a run, once it has begun.
pub async fn attempt(db: &mut PgConnection, run: Uuid) -> Result<Option<Uuid>> {
    let query = sqlx::query_scalar!("SELECT id FROM tasks WHERE run_id = $1 AND position = 0 AND NOT superseded", run);
    Ok(query.fetch_optional(db).await?)
}

/// Of a workflow of a project: those of the last 24 hours.
pub async fn times(db: &mut PgConnection, project: Uuid, workflow: &str) -> Result<AnswerTimes> {
    let times = sqlx::query!(
        r#"SELECT count(tasks.finished_at) AS "ended!", count(*) FILTER (WHERE tasks.outcome = 'accepted') AS "accepted!",
               count(*) FILTER (WHERE runs.finished_at IS NULL AND runs.state = 'running') AS "in_progress!",
               percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM tasks.finished_at - runs.created_at)::float8) AS p50,
               percentile_cont(0.9) WITHIN GROUP (ORDER BY extract(epoch FROM tasks.finished_at - runs.created_at)::float8) AS p90,
               percentile_cont(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM tasks.finished_at - runs.created_at)::float8) AS p99
           FROM runs LEFT JOIN tasks ON run_id = runs.id AND NOT superseded
           WHERE project_id = $1 AND runs.kind = 'answer' AND playbook = $2 AND created_at > now() - interval '24 hours'"#,
        project,
        workflow
    );
    let times = times.fetch_one(db).await?;
    Ok(AnswerTimes {
        ended: times.ended,
        accepted: times.accepted,
        in_progress: times.in_progress,
        p50_seconds: times.p50,
        p90_seconds: times.p90,
        p99_seconds: times.p99,
    })
}
