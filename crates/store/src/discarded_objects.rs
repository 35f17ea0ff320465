//! Objects that nothing in the database names any more. A transaction that deletes what named them writes them down here, and
//! they are deleted after it.

use sqlx::PgConnection;

use super::Result;
use super::objects::Objects;

/// Those whose paths begin so will be deleted.
pub async fn discard(tx: &mut PgConnection, prefix: &str) -> Result<()> {
    sqlx::query!("INSERT INTO discarded_objects (prefix) VALUES ($1) ON CONFLICT DO NOTHING", prefix)
        .execute(tx)
        .await?;
    Ok(())
}

/// Until this transaction ends, nothing is swept: a backup copies objects that its snapshot names, and others may discard
/// them meanwhile. Take the snapshot afterwards. Another backup waits here.
pub async fn hold(tx: &mut PgConnection) -> Result<()> {
    sqlx::query!("SELECT FROM pg_advisory_xact_lock(hashtext('discarded_objects'))").execute(tx).await?;
    Ok(())
}

/// Deletes all that are discarded; several processes may do so at once.
///
/// # Errors
/// The database or the storage; what is left is deleted the next time.
pub async fn delete(db: &mut PgConnection, objects: &Objects) -> anyhow::Result<()> {
    let prefixes = sqlx::query_scalar!("SELECT prefix FROM discarded_objects ORDER BY discarded_at LIMIT 1000");
    let prefixes = prefixes.fetch_all(&mut *db).await?;
    // After the prefixes were read: the snapshot of a backup that begins now names none of them.
    if is_held(db).await? {
        return Ok(());
    }
    for prefix in prefixes {
        objects.delete_below(&prefix).await?;
        sqlx::query!("DELETE FROM discarded_objects WHERE prefix = $1", prefix).execute(&mut *db).await?;
    }
    Ok(())
}

async fn is_held(db: &mut PgConnection) -> Result<bool> {
    let free =
        sqlx::query_scalar!(r#"SELECT pg_try_advisory_xact_lock_shared(hashtext('discarded_objects')) AS "free!""#);
    Ok(!free.fetch_one(db).await?)
}
