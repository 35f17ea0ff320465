//! Worlds that conversations start from, each kept once.

use chrono::{DateTime, Utc};
use domain::patch::Patch;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

/// Keeps a whole world, if it is not there yet.
pub async fn insert_base(db: &mut PgConnection, hash: &str, world: &Value, now: DateTime<Utc>) -> Result<()> {
    insert(db, hash, None, world, now).await
}

/// Keeps what makes a world out of its base, if it is not there yet.
pub async fn insert_on_base(
    db: &mut PgConnection,
    hash: &str,
    base: &str,
    patch: &Patch,
    now: DateTime<Utc>,
) -> Result<()> {
    insert(db, hash, Some(base), patch, now).await
}

async fn insert(
    db: &mut PgConnection,
    hash: &str,
    base: Option<&str>,
    content: &impl Serialize,
    now: DateTime<Utc>,
) -> Result<()> {
    let content = serde_json::to_string(content).map_err(|e| bad(hash, &e))?;
    sqlx::query!(
        "INSERT INTO worlds (hash, base, content, created_at) VALUES ($1, $2, $3::text::json, $4)
         ON CONFLICT (hash) DO NOTHING",
        hash,
        base,
        content,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}

/// A world as it is stored: a whole base, and the patches that lead from it to the world, in order.
pub struct StoredWorld {
    pub base: Value,
    pub patches: Vec<Patch>,
}

/// The world that a conversation starts from; `None` if it is older than the table.
pub async fn initial(db: &mut PgConnection, conversation: Uuid) -> Result<Option<StoredWorld>> {
    // A base may itself be kept as the patch on another one: it was once the world of a scenario.
    let rows = sqlx::query!(
        r#"WITH RECURSIVE chain AS (
               SELECT w.hash, w.base, w.content, 0 AS depth
               FROM tasks c JOIN worlds w ON w.hash = c.world WHERE c.id = $1
             UNION ALL
               SELECT w.hash, w.base, w.content, chain.depth + 1 FROM chain JOIN worlds w ON w.hash = chain.base
           )
           SELECT hash AS "hash!", content::text AS "content!" FROM chain ORDER BY depth DESC"#,
        conversation
    )
    .fetch_all(db)
    .await?;
    let Some((base, patches)) = rows.split_first() else { return Ok(None) };
    Ok(Some(StoredWorld {
        base: read(&base.hash, &base.content)?,
        patches: patches.iter().map(|row| read(&row.hash, &row.content)).collect::<Result<_>>()?,
    }))
}

fn read<T: DeserializeOwned>(hash: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|e| bad(hash, &e).into())
}

fn bad(hash: &str, reason: &impl ToString) -> BadRow {
    BadRow { table: "worlds", column: "content", row: hash.to_owned(), reason: reason.to_string() }
}
