//! Which runs are looked at, and by whom.

use std::sync::Arc;

use domain::filter::JudgingChoice;
use sqlx::PgConnection;
use uuid::Uuid;

use super::params::Selection;
use crate::http::access::{ProjectAccess, Reader, RequiredScope};
use crate::http::app::App;
use crate::http::blind::HiddenConversations;
use crate::http::error::{HttpError, Result};
use datasets::index::{Columns, Query, TooMany};
use store::conversation_columns::{self, RunHead};
use store::judgings;

/// Runs in memory, each with the judging that counts.
pub struct Scope {
    pub runs: Vec<Arc<Columns>>,
    pub judgings: Vec<Uuid>,
}

impl Scope {
    /// One run of a project.
    pub async fn of_run<N: RequiredScope>(
        app: &App,
        reader: &ProjectAccess<N>,
        run: Uuid,
        whose: &JudgingChoice,
    ) -> Result<Self> {
        let mut db = app.pool().acquire().await?;
        let hidden = HiddenConversations::of(&mut db, reader).await?;
        let head = conversation_columns::of_project(&mut db, reader.project, &[run]).await?.pop();
        let head = head.ok_or_else(|| HttpError::missing("run", &run.to_string()))?;
        let head = seen_by(&mut db, head, whose).await?;
        drop(db);
        let columns = app.index().one(&head).await?;
        Ok(Self { runs: vec![hidden.unjudged(columns)], judgings: vec![head.judging] })
    }

    /// The runs of a project that were asked for, or all of them, the newest first.
    pub async fn of_project(app: &App, reader: &Reader, selection: &Selection) -> Result<Self> {
        let mut db = app.pool().acquire().await?;
        let hidden = HiddenConversations::of(&mut db, reader).await?;
        let mut only: Vec<Uuid> = selection.filter.runs.iter().filter_map(|id| id.parse().ok()).collect();
        if let JudgingChoice::Judging(judging) = &selection.filter.judging {
            let judging = judging.parse().unwrap_or_default();
            let run = conversation_columns::run_of(&mut db, judging)
                .await?
                .ok_or_else(|| no_judging(&selection.filter.judging))?;
            only = vec![run];
        }
        let mut heads = conversation_columns::of_project(&mut db, reader.project, &only).await?;
        let whose = &selection.filter.judging;
        if *whose != JudgingChoice::Own {
            let runs: Vec<Uuid> = heads.iter().map(|head| head.run).collect();
            let latest = judgings::latest_of(&mut db, &runs).await?;
            for head in &mut heads {
                // Most runs of a project were never judged again, and are seen as they are.
                if *whose == JudgingChoice::Latest && latest.get(&head.run) == Some(&head.judging) {
                    continue;
                }
                *head = seen_by(&mut db, head.clone(), whose).await?;
            }
        }
        drop(db);
        let runs = app.index().of(&heads).await.map_err(too_many)?;
        let runs = runs.into_iter().map(|run| hidden.unjudged(run)).collect();
        Ok(Self { runs, judgings: heads.iter().map(|head| head.judging).collect() })
    }

    /// Asks the runs something that takes a while, without holding up whoever else is served.
    pub async fn ask<T: Send + 'static>(
        &self,
        selection: Arc<Selection>,
        what: impl FnOnce(&Query<'_>) -> T + Send + 'static,
    ) -> Result<T> {
        let runs = self.runs.clone();
        let work = move || what(&Query::new(&runs, &selection.filter, selection.search.as_deref()));
        tokio::task::spawn_blocking(work).await.map_err(|error| HttpError::Internal(error.into()))
    }
}

/// A run as the judging that counts sees it.
async fn seen_by(db: &mut PgConnection, own: RunHead, whose: &JudgingChoice) -> Result<RunHead> {
    let judging = match whose {
        JudgingChoice::Own => return Ok(own),
        JudgingChoice::Latest => judgings::latest(db, own.run).await?.unwrap_or(own.judging),
        JudgingChoice::Judging(id) => id.parse().unwrap_or_default(),
    };
    conversation_columns::of_judging(db, own.run, judging).await?.ok_or_else(|| no_judging(whose))
}

fn no_judging(whose: &JudgingChoice) -> HttpError {
    let judging = String::from(whose.clone());
    HttpError::parameter("judging", format!("none of the runs has the judging `{judging}`"))
}

fn too_many(error: anyhow::Error) -> HttpError {
    match error.downcast::<TooMany>() {
        Ok(error) => HttpError::parameter("run", error.to_string()),
        Err(error) => error.into(),
    }
}
