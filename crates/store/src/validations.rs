//! What validating documents found, each time it was done.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    pub id: Uuid,
    pub project: Uuid,
    /// Hash of the documents.
    pub library: String,
    /// Thresholds, models, pass ratio.
    pub options: Value,
    pub findings: Value,
    pub reviews: Value,
    pub critical: i32,
    pub errors: i32,
    pub warnings: i32,
    pub infos: i32,
    /// Nothing critical and no error.
    pub sound: bool,
    pub created_at: DateTime<Utc>,
}

pub async fn insert(db: &mut PgConnection, new: &Validation) -> Result<()> {
    sqlx::query!(
        "INSERT INTO validations
         (id, project_id, library, options, findings, reviews, critical, errors, warnings, infos, sound, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        new.id,
        new.project,
        new.library,
        new.options,
        new.findings,
        new.reviews,
        new.critical,
        new.errors,
        new.warnings,
        new.infos,
        new.sound,
        new.created_at
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The last validation of these documents.
pub async fn latest(db: &mut PgConnection, library: &str) -> Result<Option<Validation>> {
    let validation = sqlx::query_as!(
        Validation,
        "SELECT id, project_id AS project, library, options, findings, reviews, critical, errors, warnings, infos, sound, created_at
         FROM validations WHERE library = $1 ORDER BY created_at DESC, id DESC LIMIT 1",
        library
    );
    Ok(validation.fetch_optional(db).await?)
}

/// The validations of a project before one, newest first.
pub async fn of_project(
    db: &mut PgConnection,
    project: Uuid,
    before: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Validation>> {
    let validations = sqlx::query_as!(
        Validation,
        "SELECT id, project_id AS project, library, options, findings, reviews, critical, errors, warnings, infos, sound,
                created_at
         FROM validations
         WHERE project_id = $1
           AND ($2::uuid IS NULL OR (created_at, id) < (SELECT created_at, id FROM validations WHERE id = $2))
         ORDER BY created_at DESC, id DESC LIMIT $3",
        project,
        before,
        limit
    );
    Ok(validations.fetch_all(db).await?)
}

/// A validation of a project.
pub async fn get(db: &mut PgConnection, project: Uuid, id: Uuid) -> Result<Option<Validation>> {
    let validation = sqlx::query_as!(
        Validation,
        "SELECT id, project_id AS project, library, options, findings, reviews, critical, errors, warnings, infos, sound,
                created_at
         FROM validations WHERE project_id = $1 AND id = $2",
        project,
        id
    );
    Ok(validation.fetch_optional(db).await?)
}
