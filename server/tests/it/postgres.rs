//! The private PostgreSQL against the real one: these tests need PostgreSQL installed, as all of the server's do.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use server::postgres::PrivatePostgres;
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

/// Readable by PostgreSQL's user too, who is not root.
fn data_dir() -> TempDir {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap()
}

async fn connect(postgres: &PrivatePostgres) -> PgConnection {
    PgConnection::connect(postgres.url()).await.unwrap()
}

fn postmaster_pid(data_dir: &Path) -> Option<u32> {
    let text = fs::read_to_string(data_dir.join("postgres/data/postmaster.pid")).ok()?;
    text.lines().next()?.parse().ok()
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(30), "waited too long until {what}");
        sleep(Duration::from_millis(20));
    }
}

/// An orphan that has ended stays a zombie until init looks after it.
fn gone(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "))
}

#[tokio::test]
async fn data_are_kept_over_a_restart_and_nothing_runs_in_between() {
    let dir = data_dir();
    let postgres = PrivatePostgres::start(dir.path()).await.unwrap();
    let pid = postmaster_pid(dir.path()).unwrap();
    let mut connection = connect(&postgres).await;
    sqlx::raw_sql("CREATE TABLE kept AS SELECT 'ä' AS letter").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    postgres.stop().await;
    assert!(gone(pid), "PostgreSQL runs after stop");

    let postgres = PrivatePostgres::start(dir.path()).await.unwrap();
    let mut connection = connect(&postgres).await;
    let letter: String = sqlx::query_scalar("SELECT letter FROM kept").fetch_one(&mut connection).await.unwrap();
    assert_eq!(letter, "ä");
    postgres.stop().await;
}

#[tokio::test]
async fn two_users_share_it_and_the_last_one_stops_it() {
    let dir = data_dir();
    let first = PrivatePostgres::start(dir.path()).await.unwrap();
    let second = PrivatePostgres::start(dir.path()).await.unwrap();
    let pid = postmaster_pid(dir.path()).unwrap();
    first.stop().await;
    let mut connection = connect(&second).await;
    let one: i32 = sqlx::query_scalar("SELECT 1").fetch_one(&mut connection).await.unwrap();
    assert_eq!(one, 1);
    second.stop().await;
    wait_until("PostgreSQL is gone", || gone(pid));
}

#[tokio::test]
async fn one_that_is_killed_starts_again_with_its_data() {
    let dir = data_dir();
    let postgres = PrivatePostgres::start(dir.path()).await.unwrap();
    let killed = postmaster_pid(dir.path()).unwrap();
    let mut connection = connect(&postgres).await;
    sqlx::query("CREATE TABLE kept AS SELECT 7 AS number").execute(&mut connection).await.unwrap();
    assert!(Command::new("kill").args(["-KILL", &killed.to_string()]).status().unwrap().success());
    wait_until("another one runs", || postmaster_pid(dir.path()).is_some_and(|pid| pid != killed));
    let begun = Instant::now();
    let mut connection = loop {
        match PgConnection::connect(postgres.url()).await {
            Ok(connection) => break connection,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(30), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let number: i32 = sqlx::query_scalar("SELECT number FROM kept").fetch_one(&mut connection).await.unwrap();
    assert_eq!(number, 7);
    let again = postmaster_pid(dir.path()).unwrap();
    postgres.stop().await;
    wait_until("PostgreSQL is gone", || gone(again));
}

#[tokio::test]
async fn a_throwaway_leaves_nothing() {
    let postgres = PrivatePostgres::throwaway().await.unwrap();
    let mut connection = connect(&postgres).await;
    let place: String =
        sqlx::query_scalar("SELECT current_setting('data_directory')").fetch_one(&mut connection).await.unwrap();
    let place = Path::new(&place).parent().and_then(Path::parent).unwrap();
    assert!(place.exists());
    postgres.stop().await;
    assert!(!place.exists(), "{} is left", place.display());
}

fn holder(data_dir: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_groundstate"))
        .args(["db", "exec", "--data-dir"])
        .arg(data_dir)
        .args(["--", "sleep", "20"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_process_leaves_no_postgresql() {
    let dir = data_dir();
    let mut holder = holder(dir.path());
    wait_until("PostgreSQL is up", || postmaster_pid(dir.path()).is_some());
    let pid = postmaster_pid(dir.path()).unwrap();
    holder.kill().unwrap();
    holder.wait().unwrap();
    wait_until("PostgreSQL is gone", || gone(pid));
}

#[tokio::test]
async fn a_server_whose_watchdog_was_killed_is_taken_over_by_the_next_start() {
    let dir = data_dir();
    let postgres = PrivatePostgres::start(dir.path()).await.unwrap();
    let orphan = postmaster_pid(dir.path()).unwrap();
    let watchdog = fs::read_to_string(format!("/proc/{orphan}/stat")).unwrap();
    let watchdog = watchdog.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap();
    for guard in fs::read_to_string(format!("/proc/{watchdog}/task/{watchdog}/children")).unwrap().split_whitespace() {
        if guard != orphan.to_string() {
            assert!(Command::new("kill").args(["-KILL", guard, watchdog]).status().unwrap().success());
        }
    }
    drop(postgres);

    let postgres = PrivatePostgres::start(dir.path()).await.unwrap();
    wait_until("the orphan is gone", || gone(orphan));
    connect(&postgres).await;
    postgres.stop().await;
}

#[test]
fn db_exec_sets_the_url_and_returns_the_status_of_its_command() {
    let script = "test \"${DATABASE_URL#postgres://}\" != \"$DATABASE_URL\" && exit 7";
    let status = Command::new(env!("CARGO_BIN_EXE_groundstate"))
        .args(["db", "exec", "--throwaway", "--", "sh", "-c", script])
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(7));
}

#[test]
fn a_place_that_postgresql_cannot_reach_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_groundstate"))
        .args(["db", "exec", "--data-dir"])
        .arg(dir.path().join("data"))
        .args(["--", "true"])
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    // An ordinary user runs PostgreSQL as itself, and may pass.
    let passed = output.status.success();
    assert!(passed || stderr.contains(&format!("may not pass through {}", dir.path().display())), "{stderr}");
}
