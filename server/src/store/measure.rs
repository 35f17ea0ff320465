//! What benchmarks ask.

use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

/// Bytes that the database takes on disk, indexes and all.
pub async fn size(db: &mut PgConnection) -> Result<i64> {
    let size = sqlx::query_scalar!(r#"SELECT pg_database_size(current_database()) AS "size!""#);
    Ok(size.fetch_one(db).await?)
}

/// What users, agents and tools said in a run.
pub async fn messages(db: &mut PgConnection, run: Uuid) -> Result<i64> {
    let messages = sqlx::query_scalar!(
        r#"SELECT count(*) AS "messages!" FROM conversations c JOIN events e ON conversation_id = c.id
           WHERE run_id = $1 AND (event -> 'event' -> 'user_spoke' IS NOT NULL
               OR event -> 'event' -> 'agent_spoke' IS NOT NULL OR event -> 'event' -> 'tool_answered' IS NOT NULL)"#,
        run
    );
    Ok(messages.fetch_one(db).await?)
}

/// Conversations that nobody has claimed yet.
pub async fn left_to_begin(db: &mut PgConnection, run: Uuid) -> Result<i32> {
    let left = sqlx::query_scalar!(r#"SELECT planned - next_position AS "left!" FROM runs WHERE id = $1"#, run);
    Ok(left.fetch_one(db).await?)
}

/// The process of PostgreSQL that serves this connection.
pub async fn backend(db: &mut PgConnection) -> Result<i32> {
    let pid = sqlx::query_scalar!(r#"SELECT pg_backend_pid() AS "pid!""#);
    Ok(pid.fetch_one(db).await?)
}
