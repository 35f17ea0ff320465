//! Remarks of people on the steps of conversations.

use chrono::{DateTime, Utc};
use domain::api::Annotation;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

pub struct Row {
    pub id: Uuid,
    pub conversation_id: Uuid,
    pub seq: i32,
    pub text: String,
    pub labels: Vec<String>,
    pub author: String,
    pub created_at: DateTime<Utc>,
    pub resolved_by: Option<String>,
    pub resolved_at: Option<DateTime<Utc>>,
}

impl From<Row> for Annotation {
    fn from(row: Row) -> Self {
        Self {
            id: row.id.to_string(),
            conversation: row.conversation_id.to_string(),
            seq: row.seq.unsigned_abs(),
            text: row.text,
            labels: row.labels,
            author: row.author,
            created_at: row.created_at,
            resolved_by: row.resolved_by,
            resolved_at: row.resolved_at,
        }
    }
}

/// False if the conversation has no such event.
pub async fn insert(db: &mut PgConnection, new: &Row) -> Result<bool> {
    let done = sqlx::query!(
        "INSERT INTO annotations (id, conversation_id, seq, text, labels, author, created_at)
         SELECT $1, $2, $3, $4, $5, $6, $7
         WHERE EXISTS (SELECT FROM events WHERE task_id = $2 AND seq = $3)",
        new.id,
        new.conversation_id,
        new.seq,
        new.text,
        &new.labels,
        new.author,
        new.created_at
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}

/// How many a conversation has.
pub async fn count(db: &mut PgConnection, conversation: Uuid) -> Result<i64> {
    let count =
        sqlx::query_scalar!(r#"SELECT count(*) AS "n!" FROM annotations WHERE conversation_id = $1"#, conversation);
    Ok(count.fetch_one(db).await?)
}

/// Those of a conversation, in the order of its events.
pub async fn of(db: &mut PgConnection, conversation: Uuid) -> Result<Vec<Row>> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT id, conversation_id, seq, text, labels, author, created_at, resolved_by, resolved_at
         FROM annotations WHERE conversation_id = $1 ORDER BY seq, created_at, id",
        conversation
    );
    Ok(rows.fetch_all(db).await?)
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<Row>> {
    let row = sqlx::query_as!(
        Row,
        "SELECT id, conversation_id, seq, text, labels, author, created_at, resolved_by, resolved_at
         FROM annotations WHERE id = $1",
        id
    );
    Ok(row.fetch_optional(db).await?)
}

pub async fn update(db: &mut PgConnection, row: &Row) -> Result<()> {
    sqlx::query!(
        "UPDATE annotations SET text = $2, labels = $3, resolved_by = $4, resolved_at = $5 WHERE id = $1",
        row.id,
        row.text,
        &row.labels,
        row.resolved_by,
        row.resolved_at
    )
    .execute(db)
    .await?;
    Ok(())
}

pub async fn delete(db: &mut PgConnection, id: Uuid) -> Result<()> {
    sqlx::query!("DELETE FROM annotations WHERE id = $1", id).execute(db).await?;
    Ok(())
}

/// The project of an annotation.
pub async fn project(db: &mut PgConnection, id: Uuid) -> Result<Option<Uuid>> {
    let project = sqlx::query_scalar!(
        "SELECT project_id FROM annotations a JOIN tasks c ON c.id = a.conversation_id
             JOIN runs ON runs.id = c.run_id WHERE a.id = $1",
        id
    );
    Ok(project.fetch_optional(db).await?)
}
