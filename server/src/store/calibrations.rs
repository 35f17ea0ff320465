//! Ratings by people, and how far judges agree with them.

use chrono::{DateTime, Utc};
use domain::calibration::{CalibrationReport, Rating};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    pub id: Uuid,
    pub judge: String,
    pub judge_versions: Vec<String>,
    /// Who judged.
    pub models: Value,
    pub report: CalibrationReport,
    pub created_at: DateTime<Utc>,
}

/// Keeps what a person said of a conversation, in place of what that person said before.
pub async fn rate(db: &mut PgConnection, conversation: Uuid, rating: &Rating, now: DateTime<Utc>) -> Result<()> {
    let scores = serde_json::to_value(&rating.scores).map_err(|e| bad("human_ratings", conversation, &e))?;
    sqlx::query!(
        "INSERT INTO human_ratings (conversation_id, rater, scores, goal_achieved, created_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (conversation_id, rater)
         DO UPDATE SET scores = EXCLUDED.scores, goal_achieved = EXCLUDED.goal_achieved, created_at = EXCLUDED.created_at",
        conversation,
        rating.rater,
        scores,
        rating.goal_achieved,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}

pub async fn insert(db: &mut PgConnection, new: &Calibration) -> Result<()> {
    let report = serde_json::to_string(&new.report).map_err(|e| bad("calibrations", new.id, &e))?;
    sqlx::query!(
        "INSERT INTO calibrations (id, judge, judge_versions, models, report, created_at)
         VALUES ($1, $2, $3, $4, $5::text::json, $6)",
        new.id,
        new.judge,
        &new.judge_versions,
        new.models,
        report,
        new.created_at
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Who judged, whatever the order.
pub fn panel(models: &Value) -> Value {
    let mut models: Vec<Value> = models.as_array().cloned().unwrap_or_default();
    models.sort_by_key(ToString::to_string);
    Value::Array(models)
}

/// The newest calibration of the judge of this name that these models played.
pub async fn of(db: &mut PgConnection, judge: &str, models: &Value) -> Result<Option<Calibration>> {
    let models = panel(models);
    let row = sqlx::query!(
        r#"SELECT id, judge, judge_versions, models, report::text AS "report!", created_at FROM calibrations
           WHERE judge = $1 AND models = $2 ORDER BY created_at DESC, id DESC LIMIT 1"#,
        judge,
        models
    )
    .fetch_optional(db)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let report = serde_json::from_str(&row.report).map_err(|e| bad("calibrations", row.id, &e))?;
    let (judge, judge_versions, models) = (row.judge, row.judge_versions, row.models);
    Ok(Some(Calibration { id: row.id, judge, judge_versions, models, report, created_at: row.created_at }))
}

fn bad(table: &'static str, row: Uuid, reason: &impl ToString) -> BadRow {
    BadRow { table, column: "report", row: row.to_string(), reason: reason.to_string() }
}
