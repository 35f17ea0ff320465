//! What nobody needs any more is deleted.

use sqlx::{Connection as _, PgConnection};

use super::objects::Objects;
use super::{clock, discarded_objects, uploads};

/// Deletes uploads that have expired, and objects that are discarded; several processes may do so at once.
///
/// # Errors
/// The database or the storage; what is left is deleted the next time.
pub async fn sweep(db: &mut PgConnection, objects: &Objects) -> anyhow::Result<()> {
    let mut tx = db.begin().await?;
    uploads::expire(&mut tx, clock::now()).await?;
    tx.commit().await?;
    discarded_objects::delete(db, objects).await
}
