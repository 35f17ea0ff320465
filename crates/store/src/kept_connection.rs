//! The connection of a loop that asks one thing after another.

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};

/// A connection that its loop keeps as long as there is more to ask. To give one back to the pool takes two round trips.
///
/// The pool undoes what a statement or a transaction has begun that was dropped at an await. So where that happens, the connection is
/// released before anything else is asked.
pub struct KeptConnection {
    pool: PgPool,
    db: Option<PoolConnection<Postgres>>,
}

impl KeptConnection {
    pub fn of(pool: &PgPool) -> Self {
        Self { pool: pool.clone(), db: None }
    }

    pub async fn get(&mut self) -> sqlx::Result<&mut PgConnection> {
        match &mut self.db {
            Some(db) => Ok(db),
            none => Ok(none.insert(self.pool.acquire().await?)),
        }
    }

    /// Gives it back to the pool: there is nothing more to ask, or it may be broken.
    pub fn release(&mut self) {
        self.db = None;
    }
}
