//! Jobs, done here and looked at.

use std::path::Path;

use domain::api::JobSummary;
use domain::job::JobKind;
use runtime::ModelClients;
use runtime::jobs::{Handlers, see_through};
use sandbox::Sandbox;
use server::jobs::handlers_with_files;
use sqlx::PgPool;
use store::{clock, jobs};
use tokio::sync::watch;
use uuid::Uuid;

use super::play::hasty;

/// Processes of the program that is tested.
pub fn sandbox() -> Sandbox {
    Sandbox::of_program(env!("CARGO_BIN_EXE_groundstate").into())
}

/// What a server does about jobs.
pub fn handlers(files: &Path) -> Handlers {
    handlers_with_files(&ModelClients::new(hasty()), &sandbox(), files.to_owned())
}

/// The newest job of what it makes.
pub async fn of(pool: &PgPool, kind: JobKind, subject: Uuid) -> JobSummary {
    jobs::current(&mut pool.acquire().await.unwrap(), kind, subject).await.unwrap().unwrap()
}

/// Does what is asked for to its end.
pub async fn done(pool: &PgPool, files: &Path, kind: JobKind, subject: Uuid) -> JobSummary {
    let job = of(pool, kind, subject).await.id.parse().unwrap();
    see_through(pool, job, &handlers(files), &watch::channel(None).0).await.unwrap().unwrap()
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
