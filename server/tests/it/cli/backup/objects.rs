//! The objects of datasets, indexes and uploads in a backup.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::api::{DatasetSummary, DatasetUpload, IndexSummary};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::objects::{Objects, StoredObject};
use tempfile::TempDir;

use super::{CommandOutput, back_up, database_url, folder, groundstate, restore, said};
use crate::http::datasets::of_text;
use crate::http::indexes::built;
use crate::http::{TestApp, datasets};
use crate::support::{jobs, until};

const ARTICLES: &str = "{\"id\": 1, \"text\": \"one fish\"}\n{\"id\": 2, \"text\": \"red fish\"}\n";

/// A server with a dataset, an index over it, and an upload that is not whole.
struct Data {
    app: TestApp,
    dataset: DatasetSummary,
    index: IndexSummary,
    upload: DatasetUpload,
}

impl Data {
    async fn of(pool: &PgPool) -> Self {
        let app = TestApp::start(pool).await;
        let dataset = of_text(&app, "articles", "articles.jsonl", ARTICLES).await;
        let index = built(&app, &json!({"name": "wiki", "dataset": dataset.id})).await;
        let upload = datasets::begun(&app, "more.txt", "blue", 100).await;
        // What the upload of the articles was is deleted beside the answer.
        let data = Self { app, dataset, index, upload };
        until("only these are there", async || data.objects().await.iter().all(|object| !data.is_other(object))).await;
        data
    }

    fn is_other(&self, object: &StoredObject) -> bool {
        let own = [&self.dataset.id, &self.index.id, &self.upload.id];
        !own.into_iter().any(|id| object.path.contains(id.as_str()))
    }

    async fn objects(&self) -> Vec<StoredObject> {
        jobs::objects(self.app.files()).list("").await.unwrap()
    }

    async fn back_up(&self, to: &Path) -> CommandOutput {
        back_up(&self.app.pool, to, self.app.files()).await
    }

    /// The file of an object of the dataset.
    async fn file(&self) -> PathBuf {
        let part = format!("datasets/{}", self.dataset.id);
        let objects = jobs::objects(self.app.files()).list(&part).await.unwrap();
        self.app.files().join("objects").join(&objects[0].path)
    }
}

/// A backup that was made, and the folder around it.
async fn saved(data: &Data) -> (TempDir, PathBuf) {
    let dir = folder();
    let to = dir.path().join("backup");
    let done = data.back_up(&to).await;
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{}", done.stdout);
    let count = data.objects().await.len();
    assert!(done.stdout.contains("1 datasets, 1 indexes\n"), "{}", done.stdout);
    assert!(done.stdout.contains(&format!("objects   {count} of datasets, indexes and uploads")), "{}", done.stdout);
    (dir, to)
}

/// A command over a restored database and its own places.
async fn over(data_dir: &Path, arguments: &[&str]) -> String {
    let done = said(groundstate(arguments).arg("--data-dir").arg(data_dir)).await;
    assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.stderr);
    done.stdout
}

#[sqlx::test(migrations = "../migrations")]
async fn datasets_and_indexes_are_restored_with_their_objects(pool: PgPool) {
    let data = Data::of(&pool).await;
    let (_dir, backup) = saved(&data).await;
    let target = folder();
    let done = restore(&backup, target.path()).await;
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{}", done.stdout);
    assert!(done.stdout.contains("checked   rows, files and objects, and the ledger"), "{}", done.stdout);
    let restored = Objects::of_folder(target.path().join("files/objects")).unwrap();
    assert_eq!(restored.list("").await.unwrap(), data.objects().await, "the piece of the upload as well");

    let rows = over(target.path(), &["datasets", "rows", "articles"]).await;
    assert_eq!(rows, "{\"id\":1,\"text\":\"one fish\"}\n{\"id\":2,\"text\":\"red fish\"}\n");
    let found = over(target.path(), &["indexes", "search", "wiki", "red", "--json"]).await;
    assert!(found.contains("red fish") && !found.contains("one fish"), "{found}");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_damaged_object_is_refused(pool: PgPool) {
    let data = Data::of(&pool).await;
    let (_dir, backup) = saved(&data).await;
    let file = data.file().await;
    let copy = backup.join(file.strip_prefix(data.app.files()).unwrap());
    let bytes = fs::read(&copy).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    for (contents, because) in
        [(flipped, "is damaged: its SHA-256 is another one"), (bytes[1..].to_vec(), "is damaged: it has")]
    {
        fs::write(&copy, contents).unwrap();
        let target = folder();
        let refused = restore(&backup, target.path()).await;
        assert_eq!(refused.code, Some(1), "{}", refused.stdout);
        let told = &refused.stderr;
        assert!(told.contains("cannot restore the dataset articles@1 of the project default"), "{told}");
        assert!(told.contains(because), "{told}");
        let place = Objects::of_folder(target.path().join("files/objects")).unwrap();
        assert_eq!(place.list("datasets").await.unwrap(), [], "it does not appear");
    }
    fs::remove_file(&copy).unwrap();
    let refused = restore(&backup, folder().path()).await;
    assert!(refused.code == Some(1) && refused.stderr.contains("is missing in"), "{}", refused.stderr);
    let list = backup.join("backup.json");
    let mut manifest: Value = serde_json::from_str(&fs::read_to_string(&list).unwrap()).unwrap();
    manifest["objects"] = json!([]);
    fs::write(&list, manifest.to_string()).unwrap();
    let refused = restore(&backup, folder().path()).await;
    assert!(refused.code == Some(1) && refused.stderr.contains("the backup lacks objects"), "{}", refused.stderr);

    // The same of what is to be saved: then there is no backup.
    for (contents, because) in [(Some("short"), "is damaged: it has 5 bytes"), (None, "is missing in")] {
        match contents {
            Some(contents) => fs::write(&file, contents).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let dir = folder();
        let refused = data.back_up(&dir.path().join("backup")).await;
        assert_eq!(refused.code, Some(1), "{}", refused.stdout);
        let told = &refused.stderr;
        assert!(told.contains("cannot save the dataset articles@1 of the project default"), "{told}");
        assert!(told.contains(because) && told.contains("--without-objects"), "{told}");
        assert!(!dir.path().join("backup").exists());
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn without_objects_a_restored_database_names_those_that_are_missing(pool: PgPool) {
    let data = Data::of(&pool).await;
    let dir = folder();
    let backup = dir.path().join("backup");
    let mut command = groundstate(["backup", "--without-objects"]);
    command
        .arg("--to")
        .arg(&backup)
        .arg("--files")
        .arg(data.app.files())
        .arg("--database-url")
        .arg(database_url(&pool));
    let done = said(&mut command).await;
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stdout.contains("objects   left out"), "{}", done.stdout);
    assert!(!backup.join("objects").exists());

    // They are still where they were.
    let mut command = groundstate(["restore"]);
    command.arg("--from").arg(&backup).arg("--data-dir").arg(folder().path());
    let there = said(command.arg("--objects").arg(data.app.files().join("objects"))).await;
    assert_eq!(there.code, Some(0), "{}", there.stderr);
    assert!(!there.stdout.contains("missing"), "{}", there.stdout);

    let target = folder();
    let gone = restore(&backup, target.path()).await;
    assert_eq!(gone.code, Some(0), "{}", gone.stderr);
    let place = target.path().join("files/objects");
    let told = format!(
        "missing   1 objects of the dataset articles@1 of the project default: copy them to {}",
        place.display()
    );
    assert!(gone.stdout.contains(&told), "{}", gone.stdout);
    assert!(gone.stdout.contains("objects of the index wiki of the project default"), "{}", gone.stdout);
    assert!(gone.stdout.contains("objects of the upload of more.txt to the project default"), "{}", gone.stdout);
    assert!(gone.stdout.contains("all objects but the missing ones"), "{}", gone.stdout);
}

#[sqlx::test(migrations = "../migrations")]
async fn nothing_that_a_backup_names_is_deleted_before_it_is_saved(pool: PgPool) {
    let data = Data::of(&pool).await;
    let before = data.objects().await;
    let mut backup = pool.begin().await.unwrap();
    store::discarded_objects::hold(&mut backup).await.unwrap();
    let path = format!("/api/v1/indexes/{}", data.index.id);
    let (status, answer) = data.app.send(Method::DELETE, &path, &json!({})).await;
    assert!(status.is_success(), "{answer}");
    let objects = jobs::objects(data.app.files());
    let sweep = async || {
        let mut db = pool.acquire().await.unwrap();
        store::cleanup::sweep(&mut db, &objects).await.unwrap();
    };
    sweep().await;
    // The sweep that the server has begun.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(data.objects().await, before);
    backup.rollback().await.unwrap();
    sweep().await;
    let left = data.objects().await;
    assert!(!left.is_empty() && left.iter().all(|object| !object.path.contains(&data.index.id)), "{left:?}");
}
