//! The project that a path is about.

use axum::extract::{MatchedPath, RawPathParams};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::http::error::{HttpError, Result};
use store::projects::{self, Project};
use store::{annotations, calibrations, reviews, runs};

/// By its name where the path has it, else by the thing that the path names.
pub async fn project(db: &mut PgConnection, params: &RawPathParams) -> Result<Project> {
    for (kind, text) in params {
        let missing = || HttpError::missing(kind, text);
        let found = match kind {
            "project" => return projects::named(db, text).await?.ok_or_else(missing),
            "conversation" | "episode" => {
                return projects::of_conversation(db, id(kind, text)?).await?.ok_or_else(missing);
            }
            "run" => projects::of_run(db, id(kind, text)?).await?,
            "judging" => projects::of_judging(db, id(kind, text)?).await?,
            "corpus" => projects::of_corpus(db, id(kind, text)?).await?,
            "queue" => reviews::project(db, id("review queue", text)?).await?,
            "annotation" => annotations::project(db, id(kind, text)?).await?,
            "calibration" => calibrations::project(db, id(kind, text)?).await?,
            "export" => projects::of_export(db, id(kind, text)?).await?,
            "dataset" => projects::of_dataset(db, id(kind, text)?).await?,
            "index" => projects::of_index(db, id(kind, text)?).await?,
            "job" => projects::of_job(db, id(kind, text)?).await?,
            _ => continue,
        };
        let project = projects::get(db, found.ok_or_else(missing)?).await?;
        return project.ok_or_else(missing);
    }
    Err(HttpError::Damaged("the path names no project".into()))
}

/// The episode that a path is about, if it is about one.
pub fn episode(params: &RawPathParams) -> Option<Uuid> {
    params.iter().find(|(kind, _)| *kind == "episode").and_then(|(_, text)| text.parse().ok())
}

/// What can be asked of a run of any kind, below `/runs/{run}`. The rest is about conversations.
const OF_ANY_RUN: [&str; 11] = [
    "",
    "/config",
    "/pause",
    "/resume",
    "/cancel",
    "/retry",
    "/progress",
    "/forecast",
    "/rows",
    "/rows/summary",
    "/rows/{position}",
];

/// # Errors
/// The path is about the conversations of a run that has none.
pub async fn check_kind(db: &mut PgConnection, params: &RawPathParams, path: Option<&MatchedPath>) -> Result<()> {
    let below = path.and_then(|path| path.as_str().split_once("/runs/{run}")).map(|(_, below)| below);
    let (Some(below), Some((kind, text))) = (below, params.iter().find(|(kind, _)| *kind == "run")) else {
        return Ok(());
    };
    if OF_ANY_RUN.contains(&below) {
        return Ok(());
    }
    match runs::kind(db, id(kind, text)?).await?.as_deref() {
        Some(kind) if rows::plays_rows(kind) => {
            let message =
                format!("this is a run of a workflow, which has no conversations; its rows: /runs/{text}/rows");
            Err(HttpError::Conflict(message))
        }
        _ => Ok(()),
    }
}

fn id(kind: &str, text: &str) -> Result<Uuid> {
    text.parse().map_err(|_| HttpError::missing(kind, text))
}
