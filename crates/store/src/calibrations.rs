//! How far judges agree with people.

use chrono::{DateTime, Utc};
use domain::calibration::CalibrationReport;
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
    pub project_id: Uuid,
    /// Whose verdicts were compared; `None` of those from before.
    pub judging_id: Option<Uuid>,
    /// Who asked for it, by name; empty: a command.
    pub created_by: String,
    pub created_at: DateTime<Utc>,
}

pub async fn insert(db: &mut PgConnection, new: &Calibration) -> Result<()> {
    let report = serde_json::to_string(&new.report).map_err(|e| bad("calibrations", new.id, &e))?;
    sqlx::query!(
        "INSERT INTO calibrations
             (id, judge, judge_versions, models, report, project_id, judging_id, created_by, created_at)
         VALUES ($1, $2, $3, $4, $5::text::json, $6, $7, $8, $9)",
        new.id,
        new.judge,
        &new.judge_versions,
        new.models,
        report,
        new.project_id,
        new.judging_id,
        new.created_by,
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

struct Row {
    id: Uuid,
    judge: String,
    judge_versions: Vec<String>,
    models: Value,
    report: String,
    project_id: Uuid,
    judging_id: Option<Uuid>,
    created_by: String,
    created_at: DateTime<Utc>,
}

impl Row {
    fn calibration(self) -> Result<Calibration> {
        let report = serde_json::from_str(&self.report).map_err(|e| bad("calibrations", self.id, &e))?;
        let Self { id, judge, judge_versions, models, project_id, judging_id, created_by, created_at, .. } = self;
        Ok(Calibration { id, judge, judge_versions, models, report, project_id, judging_id, created_by, created_at })
    }
}

/// The newest calibration in a project of the judge of this name that these models played.
pub async fn of(db: &mut PgConnection, project: Uuid, judge: &str, models: &Value) -> Result<Option<Calibration>> {
    let models = panel(models);
    let row = sqlx::query_as!(
        Row,
        r#"SELECT id, judge, judge_versions, models, report::text AS "report!", project_id, judging_id, created_by,
                  created_at
           FROM calibrations WHERE project_id = $1 AND judge = $2 AND models = $3
           ORDER BY created_at DESC, id DESC LIMIT 1"#,
        project,
        judge,
        models
    );
    row.fetch_optional(db).await?.map(Row::calibration).transpose()
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<Calibration>> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT id, judge, judge_versions, models, report::text AS "report!", project_id, judging_id, created_by,
                  created_at
           FROM calibrations WHERE id = $1"#,
        id
    );
    row.fetch_optional(db).await?.map(Row::calibration).transpose()
}

/// Those of a project before one, newest first.
pub async fn list(db: &mut PgConnection, project: Uuid, before: Option<Uuid>, limit: i64) -> Result<Vec<Calibration>> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT id, judge, judge_versions, models, report::text AS "report!", project_id, judging_id, created_by,
                  created_at
           FROM calibrations WHERE project_id = $1 AND ($2::uuid IS NULL
               OR (created_at, id) < (SELECT created_at, id FROM calibrations WHERE id = $2))
           ORDER BY created_at DESC, id DESC LIMIT $3"#,
        project,
        before,
        limit
    );
    rows.fetch_all(db).await?.into_iter().map(Row::calibration).collect()
}

/// The project of a calibration.
pub async fn project(db: &mut PgConnection, id: Uuid) -> Result<Option<Uuid>> {
    Ok(sqlx::query_scalar!("SELECT project_id FROM calibrations WHERE id = $1", id).fetch_optional(db).await?)
}

fn bad(table: &'static str, row: Uuid, reason: &impl ToString) -> BadRow {
    BadRow { table, column: "report", row: row.to_string(), reason: reason.to_string() }
}
