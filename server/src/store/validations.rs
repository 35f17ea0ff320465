//! What validating documents found, each time it was done.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    pub id: Uuid,
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
         (id, library, options, findings, reviews, critical, errors, warnings, infos, sound, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        new.id,
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
        "SELECT id, library, options, findings, reviews, critical, errors, warnings, infos, sound, created_at
         FROM validations WHERE library = $1 ORDER BY created_at DESC, id DESC LIMIT 1",
        library
    );
    Ok(validation.fetch_optional(db).await?)
}
