//! Jobs, done here and looked at.

use std::path::Path;

use domain::api::JobSummary;
use domain::job::JobKind;
use generation::ConversationRun;
use generation::judge_again::JudgingSpec;
use generation::judgings::{JudgingOrder, ask};
use llm::ModelSpec;
use projects::library::Library;
use runtime::ModelClients;
use runtime::jobs::{Handlers, see_through};
use sandbox::Sandbox;
use server::jobs::{with_files, with_objects};
use sqlx::PgPool;
use store::objects::Objects;
use store::{clock, jobs};
use tokio::sync::watch;
use uuid::Uuid;

use super::play::hasty;

/// Processes of the program that is tested.
pub fn sandbox() -> Sandbox {
    Sandbox::of_program(env!("CARGO_BIN_EXE_groundstate").into())
}

/// Where datasets and indexes of whoever has these files are kept: beside them, or in a folder of their own in the object
/// storage that `GROUNDSTATE_TEST_OBJECTS` names.
pub fn place_of_objects(files: &Path) -> String {
    match std::env::var("GROUNDSTATE_TEST_OBJECTS") {
        Ok(storage) => format!("{storage}{}", files.display()),
        Err(_) => files.join("objects").display().to_string(),
    }
}

pub fn objects(files: &Path) -> Objects {
    llm::choose_tls();
    Objects::open(&place_of_objects(files)).unwrap()
}

/// What a server does about jobs.
pub fn handlers(files: &Path) -> Handlers {
    let sandbox = sandbox();
    let handlers = server::jobs::handlers(&ModelClients::new(hasty()), &sandbox);
    with_objects(with_files(handlers, files), &objects(files), files, &sandbox)
}

/// The newest job of what it makes.
pub async fn of(pool: &PgPool, kind: JobKind, subject: Uuid) -> JobSummary {
    jobs::current(&mut pool.acquire().await.unwrap(), kind, subject).await.unwrap().unwrap()
}

/// Does what is asked for to its end.
pub async fn done(pool: &PgPool, files: &Path, kind: JobKind, subject: Uuid) -> JobSummary {
    let job = of(pool, kind, subject).await.id.parse().unwrap();
    // Boxed: in a debug build, the futures of tests that do several jobs would not fit on their stacks.
    Box::pin(see_through(pool, job, &handlers(files), &watch::channel(None).0)).await.unwrap().unwrap()
}

/// Asks for a run to be judged again by models, with the judges of these documents or its own, and says which judging that
/// is.
pub async fn judging(pool: &PgPool, run: &ConversationRun, models: &[&str], judges: Option<&Library>) -> Uuid {
    let models: Vec<ModelSpec> = models.iter().map(|model| model.parse().unwrap()).collect();
    let (pools, criteria_apart, created_by) = (Vec::new(), false, "ann");
    let spec = JudgingSpec { models: &models, pools, judges, criteria_apart, created_by };
    let (run, mut tx) = (&run.control.run, pool.begin().await.unwrap());
    let judging = spec.insert(&mut tx, run).await.unwrap();
    ask(&mut tx, &judging, run.project, clock::id(), created_by, JudgingOrder::default()).await.unwrap();
    tx.commit().await.unwrap();
    judging.id
}

/// Says of what a test wrote itself that it was made by a job.
pub async fn finished(pool: &PgPool, kind: JobKind, subject: Uuid) {
    sqlx::query(
        "INSERT INTO jobs (id, kind, subject, state, created_by, created_at, finished_at)
         VALUES ($1, $2, $3, 'finished', '', now(), now())",
    )
    .bind(clock::id())
    .bind(kind.into_str())
    .bind(subject)
    .execute(pool)
    .await
    .unwrap();
}
