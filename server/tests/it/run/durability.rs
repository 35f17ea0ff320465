//! What is kept is on disk, whatever somebody has told PostgreSQL.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use server::postgres::PrivatePostgres;
use server::store;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

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
