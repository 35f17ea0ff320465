//! Worlds that conversations start from, each kept once.

use chrono::{DateTime, Utc};
use domain::patch::Patch;
use engine::World;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

/// Keeps a whole world, if it is not there yet.
pub async fn insert_base(db: &mut PgConnection, hash: &str, world: &World, now: DateTime<Utc>) -> Result<()> {
    insert(db, hash, None, &world.to_json(), now).await
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

/// The world that a conversation starts from; `None` if it is older than the table.
pub async fn initial(db: &mut PgConnection, conversation: Uuid) -> Result<Option<World>> {
    let row = sqlx::query!(
        r#"SELECT w.hash, w.content::text AS "content!", b.content::text AS base
           FROM conversations c JOIN worlds w ON w.hash = c.world LEFT JOIN worlds b ON b.hash = w.base
           WHERE c.id = $1"#,
        conversation
    )
    .fetch_optional(db)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let Some(base) = row.base else { return Ok(Some(World::new(&read(&row.hash, &row.content)?))) };
    let base = World::new(&read(&row.hash, &base)?);
    let patch: Patch = read(&row.hash, &row.content)?;
    let world = base.apply(&patch).map_err(|e| bad(&row.hash, &e))?;
    Ok(Some(World::from_root(world.root().clone())))
}

fn read<T: DeserializeOwned>(hash: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|e| bad(hash, &e).into())
}

fn bad(hash: &str, reason: &impl ToString) -> BadRow {
    BadRow { table: "worlds", column: "content", row: hash.to_owned(), reason: reason.to_string() }
}
