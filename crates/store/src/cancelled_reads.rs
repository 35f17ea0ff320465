//! Reading that ends when nobody waits for it any more.

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};
use tokio::runtime::Handle;

use super::Result;

/// A connection for what takes long to read. If it is dropped before [`Reading::end`], PostgreSQL is told to end what it is
/// at; by itself it would notice only when it has something to send.
pub struct Reading {
    db: PoolConnection<Postgres>,
    pool: PgPool,
    /// The process of PostgreSQL that serves the connection.
    backend: i32,
    ended: bool,
}

impl Reading {
    pub async fn begin(pool: &PgPool) -> Result<Self> {
        let mut db = pool.acquire().await?;
        let backend = sqlx::query_scalar!(r#"SELECT pg_backend_pid() AS "backend!""#).fetch_one(&mut *db).await?;
        Ok(Self { db, pool: pool.clone(), backend, ended: false })
    }

    pub fn db(&mut self) -> &mut PgConnection {
        &mut self.db
    }

    /// All was read: the connection may serve others.
    pub fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        // Nobody else gets the connection, so that nothing but what was read here is ended.
        self.db.close_on_drop();
        let (pool, backend) = (self.pool.clone(), self.backend);
        // Without a runtime the program ends, and its connections with it.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                let Ok(mut db) = pool.acquire().await else { return };
                // What cannot be ended comes to its end by itself.
                drop(sqlx::query_scalar!("SELECT pg_cancel_backend($1)", backend).fetch_one(&mut *db).await);
            });
        }
    }
}
