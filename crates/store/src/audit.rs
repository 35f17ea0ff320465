//! Who changed what.

use std::slice;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

#[derive(Debug, Clone)]
pub struct Entry {
    pub at: DateTime<Utc>,
    pub actor: String,
    pub token: Option<String>,
    pub project_id: Option<Uuid>,
    pub action: String,
    pub subject: String,
    pub detail: Value,
}

pub async fn insert(db: &mut PgConnection, entry: &Entry) -> Result<()> {
    insert_all(db, slice::from_ref(entry)).await
}

pub async fn insert_all(db: &mut PgConnection, entries: &[Entry]) -> Result<()> {
    let texts = |of: fn(&Entry) -> String| entries.iter().map(of).collect::<Vec<_>>();
    sqlx::query!(
        "INSERT INTO audit_log (at, actor, token, project_id, action, subject, detail)
         SELECT * FROM unnest($1::timestamptz[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::jsonb[])",
        &entries.iter().map(|entry| entry.at).collect::<Vec<_>>(),
        &texts(|entry| entry.actor.clone()),
        &entries.iter().map(|entry| entry.token.clone()).collect::<Vec<_>>() as &[Option<String>],
        &entries.iter().map(|entry| entry.project_id).collect::<Vec<_>>() as &[Option<Uuid>],
        &texts(|entry| entry.action.clone()),
        &texts(|entry| entry.subject.clone()),
        &entries.iter().map(|entry| entry.detail.clone()).collect::<Vec<_>>()
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Entries before one, newest first: of a project, or of all and of what belongs to none.
pub async fn list(db: &mut PgConnection, project: Option<Uuid>, before: i64, limit: i64) -> Result<Vec<(i64, Entry)>> {
    let rows = sqlx::query!(
        "SELECT id, at, actor, token, project_id, action, subject, detail FROM audit_log
         WHERE ($1::uuid IS NULL OR project_id = $1) AND id < $2 ORDER BY id DESC LIMIT $3",
        project,
        before,
        limit
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows
        .map(|row| {
            let entry = Entry {
                at: row.at,
                actor: row.actor,
                token: row.token,
                project_id: row.project_id,
                action: row.action,
                subject: row.subject,
                detail: row.detail,
            };
            (row.id, entry)
        })
        .collect())
}
