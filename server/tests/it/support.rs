//! What the tests share.

pub mod agent;
pub mod documents;
pub mod endpoint;
pub mod jobs;
pub mod ledger;
pub mod logged;
pub mod play;
pub mod process;
pub mod stuck;
pub mod tokens;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use projects::library::{Files, Library};

/// The repository, which is a project with the shipped documents.
pub fn project() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), ".."].iter().collect()
}

/// The folders of the shipped documents that tests work with: one playbook, for proving them all takes a while.
pub const FOLDERS: [&str; 4] = ["playbooks/retail_bank", "scenarios/retail_bank", "personas", "judges"];

/// The documents of these folders; that they are sound and proved is a test of its own.
pub fn library() -> Arc<Library> {
    static LIBRARY: LazyLock<Arc<Library>> = LazyLock::new(|| {
        let mut files = Files::default();
        let all = Files::read(&project()).unwrap();
        for (path, text) in FOLDERS.iter().flat_map(|folder| all.under(folder)) {
            files.insert(path, text.clone());
        }
        Arc::new(Library::assemble_proved(files).ok().unwrap())
    });
    Arc::clone(&LIBRARY)
}

/// How another process connects to a test's database.
pub fn database_url(pool: &sqlx::PgPool) -> String {
    use sqlx::ConnectOptions;
    pool.connect_options().to_url_lossy().to_string()
}

/// Nothing takes nearly so long; a machine that is busy with other tests may be slow.
const BOUND: Duration = Duration::from_mins(2);

/// Puts the clock of this test forward, and that of the app and the players in it; the database has its own.
pub async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// Waits until something is so, and fails if it never is.
pub async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !so().await {
        assert!(begun.elapsed() < BOUND, "waited too long until {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
