//! The ledger of a run that has ended.

use sqlx::PgPool;
use store::ledger;
use uuid::Uuid;

pub async fn check(pool: &PgPool, run: Uuid) {
    let broken = ledger::broken(&mut pool.acquire().await.unwrap(), run).await.unwrap();
    assert!(broken.is_empty(), "{broken:?}");
}
