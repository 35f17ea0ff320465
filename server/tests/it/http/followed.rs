//! Following long work over server-sent events.

use std::time::Duration;

use reqwest::header::ACCEPT;
use reqwest::{Method, Response};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::{AssertSqlSafe, PgPool, Postgres, Transaction, query_scalar};

use super::TestApp;

pub const EVENTS: &str = "text/event-stream";

pub async fn follow(app: &TestApp, path: &str, body: &Value) -> Response {
    app.request(Method::POST, path).header(ACCEPT, EVENTS).json(body).send().await.unwrap()
}

/// Names and data of the events, in their order.
pub fn read(text: &str) -> Vec<(&str, &str)> {
    let parts = text.split("\n\n").filter_map(|event| event.split_once('\n'));
    parts.filter_map(|(name, data)| Some((name.strip_prefix("event: ")?, data.strip_prefix("data: ")?))).collect()
}

pub fn data<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap()
}

/// A lock on a table, so that nobody else can read it.
pub struct TableLock {
    pool: PgPool,
    table: &'static str,
    lock: Transaction<'static, Postgres>,
}

impl TableLock {
    pub async fn lock(pool: &PgPool, table: &'static str) -> Self {
        let mut lock = pool.begin().await.unwrap();
        let statement = format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE");
        sqlx::query(AssertSqlSafe(statement)).execute(&mut *lock).await.unwrap();
        Self { pool: pool.clone(), table, lock }
    }

    /// Asks for work that needs the table, and hangs up while it waits for it.
    pub async fn hang_up(&self, app: &TestApp, path: &str, accept: &str) {
        let before = self.waiting().await;
        let asked = app.request(Method::POST, path).header(ACCEPT, accept).json(&serde_json::json!({}));
        let asked = tokio::spawn(async move { asked.send().await?.text().await });
        self.until(|waiting| waiting > before).await;
        assert!(!asked.is_finished(), "{accept}");
        asked.abort();
    }

    pub async fn until(&self, wanted: impl Fn(i64) -> bool) {
        let reached = async {
            while !wanted(self.waiting().await) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), reached).await.unwrap();
    }

    /// How many statements wait for the table.
    async fn waiting(&self) -> i64 {
        let waiting = query_scalar(
            "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'",
        );
        waiting.bind(self.table).fetch_one(&self.pool).await.unwrap()
    }

    pub async fn release(self) {
        self.lock.rollback().await.unwrap();
    }
}
