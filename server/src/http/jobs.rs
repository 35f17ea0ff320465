//! Jobs: what is made in the background, or for somebody who waits; how far it is, and an end to it.

use axum::Json;
use axum::extract::State;
use domain::api::{JobSummary, Page};
use domain::job::{JobKind, JobState};
use domain::progress::JobProgress;
use serde_json::Value;
use sqlx::PgPool;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tracing::warn;
use uuid::Uuid;

use super::access::{Reader, Runner};
use super::app::App;
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Path, Query};
use super::page::{PageParams, Paging, page};
use store::{clock, jobs};

/// Jobs of a project, newest first
///
/// Jobs are work that takes long: building exports and corpora, judging runs again, validating the documents.
#[utoipa::path(get, path = "/projects/{project}/jobs", tag = "jobs", params(("project" = String, Path), PageParams),
    responses((status = 200, body = Page<JobSummary>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<JobSummary>>> {
    let (limit, before) = (params.limit()?, params.cursor()?);
    let items = jobs::of_project(&mut *pool.acquire().await?, reader.project, before, i64::from(limit) + 1).await?;
    Ok(Json(page(items, limit, |job: &JobSummary| job.id.clone())))
}

/// One job: its progress and its result
#[utoipa::path(get, path = "/jobs/{job}", tag = "jobs", params(("job" = Uuid, Path)),
    responses((status = 200, body = JobSummary), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, _: Reader, Path(id): Path<Uuid>) -> Result<Json<JobSummary>> {
    let job = jobs::get(&mut *pool.acquire().await?, id).await?;
    Ok(Json(job.ok_or_else(|| HttpError::missing("job", &id.to_string()))?))
}

/// Cancel a job
///
/// Work on it stops at once. Most jobs leave nothing behind; verdicts of a judging are kept.
#[utoipa::path(delete, path = "/jobs/{job}", tag = "jobs", params(("job" = Uuid, Path)),
    responses((status = 200, body = JobSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn cancel(State(app): State<App>, _: Runner, audit: Audit, Path(id): Path<Uuid>) -> Result<Json<JobSummary>> {
    let mut tx = app.pool().begin().await?;
    let cancelled = jobs::cancel(&mut tx, id).await?;
    let job = jobs::get(&mut tx, id).await?.ok_or_else(|| HttpError::missing("job", &id.to_string()))?;
    if !cancelled {
        return Err(HttpError::Conflict(format!("the job is {} already", job.state)));
    }
    audit.commit(tx).await?;
    if let (JobKind::Export, Ok(export)) = (job.kind, job.subject.parse()) {
        datasets::export::job::remove(app.files(), export);
    }
    Ok(Json(job))
}

/// A job that somebody asks for and waits for.
pub struct NewJob {
    pub kind: JobKind,
    pub project: Option<Uuid>,
    /// Id of what it makes.
    pub subject: Uuid,
    pub spec: Value,
    pub created_by: String,
}

/// A job that is there for whoever waits for it: when nobody does any more, it is cancelled.
pub struct AwaitedJob {
    pool: PgPool,
    id: Uuid,
    over: bool,
}

impl AwaitedJob {
    /// Asks for a job, and logs that.
    ///
    /// # Errors
    /// It cannot be logged, or the database.
    pub async fn begin(pool: &PgPool, audit: &Audit, new: NewJob) -> Result<Self> {
        let (pool, audit) = (pool.clone(), audit.clone());
        // Whoever hangs up now does so before it is there, or after.
        let begun = tokio::spawn(async move {
            let id = clock::id();
            let NewJob { kind, project, subject, spec, created_by } = new;
            let (created_by, created_at) = (created_by.as_str(), clock::now());
            let job =
                jobs::JobOrder { id, project, kind, subject, spec, total: None, run: None, created_by, created_at };
            let mut tx = pool.begin().await?;
            jobs::insert(&mut tx, &job).await?;
            audit.commit(tx).await?;
            Ok(Self { pool, id, over: false })
        });
        begun.await.map_err(|error| HttpError::Internal(error.into()))?
    }

    /// Waits until it has ended; `tell` hears how far it is.
    ///
    /// # Errors
    /// It failed, or was cancelled by somebody else.
    pub async fn finished(mut self, tell: watch::Sender<Option<JobProgress>>) -> Result<JobSummary> {
        let ended = runtime::jobs::follow(&self.pool, self.id, &tell).await?;
        self.over = true;
        let job = ended.ok_or_else(|| HttpError::missing("job", &self.id.to_string()))?;
        match job.state {
            JobState::Finished => Ok(job),
            JobState::Failed => Err(HttpError::Conflict(job.reason.unwrap_or_default())),
            JobState::Queued | JobState::Running | JobState::Cancelled => {
                Err(HttpError::Conflict("the job was cancelled".into()))
            }
        }
    }
}

impl Drop for AwaitedJob {
    fn drop(&mut self) {
        // Without a runtime the program ends; some other process does the job then.
        let (false, Ok(runtime)) = (self.over, Handle::try_current()) else { return };
        let (pool, id) = (self.pool.clone(), self.id);
        runtime.spawn(async move {
            let cancel = || async { jobs::cancel(&mut *pool.acquire().await?, id).await };
            if let Err(error) = store::patiently(cancel).await {
                warn!(job = %id, %error, "a job that nobody waits for is not cancelled");
            }
        });
    }
}
