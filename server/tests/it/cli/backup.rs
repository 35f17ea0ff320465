//! `backup` and `restore`: the database and its files as they were at one moment.

mod objects;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use datasets::export::job;
use domain::api::RunState;
use domain::budget::Budget;
use domain::job::JobKind;
use generation::ConversationRun;
use runtime::ModelClients;
use serde_json::{Value, json};
use server::postgres::PrivatePostgres;
use sqlx::PgPool;
use store::{control, runs};
use tempfile::TempDir;
use uuid::Uuid;

use super::{CommandOutput, database_url, groundstate, said};
use crate::http::TestApp;
use crate::support::play::{HELP, hasty, planned, play_all, played};
use crate::support::{jobs, ledger};

async fn back_up(pool: &PgPool, to: &Path, files: &Path) -> CommandOutput {
    let mut command = groundstate(["backup"]);
    command.arg("--to").arg(to).arg("--files").arg(files).arg("--database-url").arg(database_url(pool));
    said(&mut command).await
}

/// Into a private PostgreSQL of its own.
async fn restore(from: &Path, data_dir: &Path) -> CommandOutput {
    said(groundstate(["restore"]).arg("--from").arg(from).arg("--data-dir").arg(data_dir)).await
}

fn folder() -> TempDir {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap()
}

struct Saved {
    /// Holds `backup`.
    dir: TempDir,
    export: Uuid,
    file: Vec<u8>,
    /// Half played, up to its budget.
    half: Uuid,
}

impl Saved {
    fn backup(&self) -> std::path::PathBuf {
        self.dir.path().join("backup")
    }
}

async fn saved(pool: &PgPool) -> Saved {
    let app = TestApp::start(pool).await;
    let finished = played(pool, &[HELP], 4, 1, &[]).await.control.run.id;
    let order = json!({"source": {"run": {"id": finished}}, "profile": "trl"});
    let made: Value = app.post("/api/v1/projects/default/exports", &order).await;
    let export = made["id"].as_str().unwrap().parse().unwrap();
    jobs::done(pool, app.files(), JobKind::Export, export).await;
    let half = planned(pool, &[HELP], 6, 2, &[]).await;
    let id = half.control.run.id;
    let budget = Budget { conversations: Some(3), ..Budget::default() };
    control::set_budget(&mut pool.acquire().await.unwrap(), id, &budget).await.unwrap();
    play_all(half, 2).await;
    let dir = folder();
    let done = back_up(pool, &dir.path().join("backup"), app.files()).await;
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{}", done.stdout);
    assert!(done.stdout.contains("1 projects, 2 runs, 7 conversations and rows, 1 exports"), "{}", done.stdout);
    let file = fs::read(job::file(app.files(), export)).unwrap();
    Saved { dir, export, file, half: id }
}

#[sqlx::test(migrations = "../migrations")]
async fn what_was_saved_is_restored_and_played_on(pool: PgPool) {
    let saved = saved(&pool).await;
    let mode = fs::metadata(saved.backup()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700, "nobody else reads what people said");
    // A player that was there when the backup was made holds the rest of the run.
    let target = folder();
    let done = restore(&saved.backup(), target.path()).await;
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{}", done.stdout);
    assert!(done.stdout.ends_with("nothing is lost or doubled\n"), "{}", done.stdout);
    assert_eq!(fs::read(job::file(&target.path().join("files"), saved.export)).unwrap(), saved.file);

    let postgres = PrivatePostgres::start(target.path()).await.unwrap();
    let restored = store::open(postgres.url()).await.unwrap();
    let mut db = restored.acquire().await.unwrap();
    control::set_budget(&mut db, saved.half, &Budget::default()).await.unwrap();
    control::resume(&mut db, saved.half).await.unwrap();
    let run = ConversationRun::load(&restored, saved.half, &ModelClients::new(hasty())).await.unwrap();
    play_all(run, 2).await;
    ledger::check(&restored, saved.half).await;
    assert_eq!(runs::state_of(&mut db, saved.half).await.unwrap(), Some(RunState::Finished));
    drop(db);
    restored.close().await;
    postgres.stop().await;

    let again = restore(&saved.backup(), target.path()).await;
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("has tables already"), "{}", again.stderr);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_damaged_is_not_taken_for_a_backup(pool: PgPool) {
    let saved = saved(&pool).await;
    let again = back_up(&pool, &saved.backup(), saved.dir.path()).await;
    assert_eq!(again.code, Some(2), "an earlier backup is not written over");
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    let none = restore(saved.dir.path(), folder().path()).await;
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("is no backup"), "{}", none.stderr);

    let copy = saved.backup().join("exports").join(saved.export.to_string());
    fs::write(&copy, "something else").unwrap();
    let damaged = restore(&saved.backup(), folder().path()).await;
    assert_eq!(damaged.code, Some(1));
    assert!(damaged.stderr.contains("is damaged"), "{}", damaged.stderr);

    // Without its file an export is named, and can be built again.
    let elsewhere = folder();
    let without = back_up(&pool, &elsewhere.path().join("backup"), elsewhere.path()).await;
    assert_eq!(without.code, Some(0), "{}", without.stderr);
    assert!(without.stdout.contains(&format!("missing   the file of export {}", saved.export)), "{}", without.stdout);
}
