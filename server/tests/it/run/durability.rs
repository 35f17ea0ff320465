//! What is kept is on disk, whatever somebody has told PostgreSQL.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use futures::FutureExt;
use server::postgres::PrivatePostgres;
use sqlx::error::DatabaseError;
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool};
use tokio::time::timeout;

use crate::support::database_url;

/// What a process of ours works with where somebody has set `synchronous_commit` so for this.
async fn used(postgres: &PrivatePostgres, whose: &str, set: &str) -> String {
    let mut db = PgConnection::connect(postgres.url()).await.unwrap();
    for statement in ["ALTER DATABASE groundstate RESET ALL", "ALTER ROLE groundstate RESET ALL"] {
        sqlx::raw_sql(statement).execute(&mut db).await.unwrap();
    }
    let statement = format!("ALTER {whose} groundstate SET synchronous_commit = {set}");
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut db).await.unwrap();
    db.close().await.unwrap();
    let pool = store::open(postgres.url()).await.unwrap();
    let used = sqlx::query_scalar("SELECT current_setting('synchronous_commit')").fetch_one(&pool).await.unwrap();
    pool.close().await;
    used
}

#[tokio::test]
async fn commits_wait_for_the_disk_though_the_database_or_the_role_is_told_not_to() {
    // One for users: for tests nothing is written through, and then there is nothing to wait for.
    let dir = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    let postgres = PrivatePostgres::start(dir.path()).await.unwrap();
    for whose in ["DATABASE", "ROLE"] {
        for (set, expected) in [("off", "on"), ("local", "on"), ("on", "on"), ("remote_apply", "remote_apply")] {
            assert_eq!(used(&postgres, whose, set).await, expected, "{whose} {set}");
        }
    }
    postgres.stop().await;
}

#[tokio::test]
async fn where_nothing_is_written_through_nobody_waits() {
    let postgres = PrivatePostgres::throwaway().await.unwrap();
    assert_eq!(used(&postgres, "DATABASE", "off").await, "off");
    postgres.stop().await;
}

#[tokio::test]
async fn a_postgresql_that_is_full_for_a_moment_is_asked_again() {
    let postgres = PrivatePostgres::throwaway().await.unwrap();
    let pool = store::open(postgres.url()).await.unwrap();
    sqlx::raw_sql("CREATE ROLE guest LOGIN CONNECTION LIMIT 1 IN ROLE groundstate").execute(&pool).await.unwrap();
    let url = postgres.url().replacen("groundstate", "guest", 1);
    let held = PgConnection::connect(&url).await.unwrap();
    let refused = PgConnection::connect(&url).await.unwrap_err();
    assert_eq!(refused.as_database_error().and_then(DatabaseError::code).as_deref(), Some("53300"), "{refused}");
    let mut opening = tokio::spawn(async move { store::open(&url).await.map(drop) });
    assert!(timeout(Duration::from_millis(300), &mut opening).await.is_err(), "it does not wait");
    held.close().await.unwrap();
    opening.await.unwrap().unwrap();
    pool.close().await;
    postgres.stop().await;
}

/// What a process of the database does, seen by another one.
async fn state(pool: &PgPool, process: i32) -> String {
    let state = sqlx::query_scalar("SELECT state FROM pg_stat_activity WHERE pid = $1").bind(process);
    state.fetch_one(pool).await.unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_request_that_goes_away_while_it_begins_leaves_no_transaction_to_the_next(witness: PgPool) {
    let pool = store::open(&database_url(&witness)).await.unwrap();
    for statement in ["SELECT 1", "SELECT 1 / 0"] {
        let mut db = pool.acquire().await.unwrap();
        let process: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut *db).await.unwrap();
        // Now and then PostgreSQL answers before anybody can go away.
        let mut answer = None;
        let goes_away = (0..1000).any(|_| {
            answer = db.begin().now_or_never().map(|begun| begun.map(drop));
            answer.is_none()
        });
        assert!(goes_away, "it always answers at once: {answer:?}");
        // By the time that this is answered, it has begun.
        let _ = sqlx::raw_sql(statement).execute(&mut *db).await;
        assert!(state(&witness, process).await.starts_with("idle in transaction"), "it leaves nothing behind");
        drop(db);
        // Whoever waits for all of them waits until it is back.
        let all = futures::future::join_all((0..pool.options().get_max_connections()).map(|_| pool.acquire())).await;
        assert!(all.iter().all(Result::is_ok));
        let still = sqlx::query_scalar("SELECT state FROM pg_stat_activity WHERE pid = $1").bind(process);
        let still: Option<String> = still.fetch_optional(&witness).await.unwrap();
        assert!(still.as_deref().is_none_or(|state| state == "idle"), "{statement}: {still:?}");
    }
    pool.close().await;
}
