//! Requests of tasks that somebody outside of the playing process answers: an outside agent, a worker.

use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

/// Where players hear that a request was answered.
pub const CHANNEL: &str = "groundstate_requests";

/// A request that waits for its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRequest {
    pub task: Uuid,
    /// Its id within the task.
    pub request: i64,
    pub run: Uuid,
    /// Who is to answer, such as `agent`.
    pub kind: String,
    pub body: Value,
}

/// Puts a request where others find it. It may be there already, from a player that died. A task that has ended gets none:
/// the player that asks was given up and does not know it yet.
pub async fn open(db: &mut PgConnection, new: &OpenRequest) -> Result<()> {
    let body = new.body.to_string();
    sqlx::query!(
        "INSERT INTO requests (task_id, request, run_id, kind, body)
         SELECT id, $2::bigint, $3::uuid, $4::text, $5::text::json FROM tasks WHERE id = $1 AND outcome IS NULL FOR SHARE
         ON CONFLICT (task_id, request) DO NOTHING",
        new.task,
        new.request,
        new.run,
        new.kind,
        body
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Requests of a kind that nobody has answered, the oldest first. Those of a cancelled run are wanted no more.
pub async fn waiting(db: &mut PgConnection, kind: &str, limit: i64) -> Result<Vec<OpenRequest>> {
    let rows = sqlx::query!(
        r#"SELECT task_id, request, run_id, requests.kind, body::text AS "body!"
           FROM requests JOIN runs ON runs.id = run_id
           WHERE requests.kind = $1 AND answer IS NULL AND state <> 'cancelled'
           ORDER BY requests.created_at, task_id, request LIMIT $2"#,
        kind,
        limit
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    rows.map(|row| {
        let body = read(row.task_id, "body", &row.body)?;
        Ok(OpenRequest { task: row.task_id, request: row.request, run: row.run_id, kind: row.kind, body })
    })
    .collect()
}

/// Answers a request, and tells its player. False if it was answered before, or is not there.
pub async fn answer(db: &mut PgConnection, task: Uuid, request: i64, answer: &Value) -> Result<bool> {
    let answered = sqlx::query!(
        "WITH answered AS (
             UPDATE requests SET answer = $3::text::json, answered_at = now()
             WHERE task_id = $1 AND request = $2 AND answer IS NULL RETURNING 1
         ) SELECT pg_notify($4, $5) FROM answered",
        task,
        request,
        answer.to_string(),
        CHANNEL,
        task.to_string()
    );
    Ok(!answered.fetch_all(db).await?.is_empty())
}

/// Of these requests, given as task and id, those that were answered.
pub async fn answers(db: &mut PgConnection, of: &[(Uuid, i64)]) -> Result<Vec<((Uuid, i64), Value)>> {
    let (tasks, requests): (Vec<Uuid>, Vec<i64>) = of.iter().copied().unzip();
    let rows = sqlx::query!(
        r#"SELECT task_id, request, answer::text AS "answer!" FROM requests
           JOIN unnest($1::uuid[], $2::bigint[]) AS wanted (task, id) ON task_id = task AND request = id
           WHERE answer IS NOT NULL"#,
        &tasks,
        &requests
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    rows.map(|row| Ok(((row.task_id, row.request), read(row.task_id, "answer", &row.answer)?))).collect()
}

/// Forgets the requests of tasks that have ended.
pub(crate) async fn close(db: &mut PgConnection, tasks: &[Uuid]) -> Result<()> {
    sqlx::query!("DELETE FROM requests WHERE task_id = ANY($1)", tasks).execute(db).await?;
    Ok(())
}

fn read(task: Uuid, column: &'static str, text: &str) -> Result<Value> {
    let bad = |reason: serde_json::Error| BadRow {
        table: "requests",
        column,
        row: task.to_string(),
        reason: reason.to_string(),
    };
    Ok(serde_json::from_str(text).map_err(bad)?)
}
