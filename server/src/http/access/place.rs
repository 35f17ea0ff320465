//! The project that a path is about.

use axum::extract::RawPathParams;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::http::error::{HttpError, Result};
use store::projects::{self, Project};
use store::{annotations, calibrations, reviews};

/// By its name where the path has it, else by the thing that the path names.
pub async fn project(db: &mut PgConnection, params: &RawPathParams) -> Result<Project> {
    for (kind, text) in params {
        let missing = || HttpError::missing(kind, text);
        let found = match kind {
            "project" => return projects::named(db, text).await?.ok_or_else(missing),
            "run" => projects::of_run(db, id(kind, text)?).await?,
            "conversation" => projects::of_conversation(db, id(kind, text)?).await?,
            "judging" => projects::of_judging(db, id(kind, text)?).await?,
            "corpus" => projects::of_corpus(db, id(kind, text)?).await?,
            "queue" => reviews::project(db, id("review queue", text)?).await?,
            "annotation" => annotations::project(db, id(kind, text)?).await?,
            "calibration" => calibrations::project(db, id(kind, text)?).await?,
            "export" => projects::of_export(db, id(kind, text)?).await?,
            "job" => projects::of_job(db, id(kind, text)?).await?,
            _ => continue,
        };
        let project = projects::get(db, found.ok_or_else(missing)?).await?;
        return project.ok_or_else(missing);
    }
    Err(HttpError::Damaged("the path names no project".into()))
}

fn id(kind: &str, text: &str) -> Result<Uuid> {
    text.parse().map_err(|_| HttpError::missing(kind, text))
}
