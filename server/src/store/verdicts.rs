//! What judges said.

use chrono::{DateTime, Utc};
use domain::verdict::Verdict;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

pub struct NewVerdict<'a> {
    pub conversation: Uuid,
    /// Version of the judge's folder.
    pub judge_version: &'a str,
    /// Who played the judge.
    pub model: &'a str,
    pub verdict: &'a Verdict,
}

pub async fn insert(db: &mut PgConnection, new: &NewVerdict<'_>, now: DateTime<Utc>) -> Result<()> {
    let body = serde_json::to_value(new.verdict).map_err(|e| bad(new.conversation, &e))?;
    sqlx::query!(
        "INSERT INTO verdicts (conversation_id, judge, judge_version, model, overall, goal_achieved, verdict, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        new.conversation,
        new.verdict.judge,
        new.judge_version,
        new.model,
        i16::from(new.verdict.overall),
        new.verdict.goal_achieved,
        body,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Mean score of each criterion over a run, in no particular order, with how many verdicts there are.
pub async fn means(db: &mut PgConnection, run: Uuid) -> Result<Vec<(String, f64)>> {
    let rows = sqlx::query!(
        r#"SELECT score ->> 'criterion' AS "criterion!", avg((score ->> 'score')::float8) AS "mean!"
           FROM verdicts JOIN conversations ON conversations.id = conversation_id,
                jsonb_array_elements(verdict -> 'scores') AS score
           WHERE run_id = $1 GROUP BY 1"#,
        run
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| (row.criterion, row.mean)).collect())
}

fn bad(conversation: Uuid, reason: &impl ToString) -> BadRow {
    BadRow { table: "verdicts", column: "verdict", row: conversation.to_string(), reason: reason.to_string() }
}
