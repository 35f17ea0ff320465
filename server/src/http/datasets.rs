//! Datasets: rows that runs begin with.

pub mod rows;
pub mod uploads;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{DatasetSummary, NewDataset, Page};
use domain::corpus::name_problem;
use domain::dataset::{Column, DatasetSource};
use domain::job::JobKind;
use sqlx::{PgConnection, PgPool};
use tracing::warn;
use uuid::Uuid;

use super::access::{ProjectAccess, Reader, Runner};
use super::app::App;
use super::audit::Audit;
use super::blind::{self, HiddenConversations};
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::page::{PageParams, Paging, page};
use datasets::dataset::job::free_room;
use datasets::dataset::source;
use store::datasets::{self as stored, Dataset, DeleteOutcome, NewDatasetRow};
use store::{cleanup, clock, jobs, storage};

/// Datasets of a project, newest first
#[utoipa::path(get, path = "/projects/{project}/datasets", tag = "datasets",
    params(("project" = String, Path), PageParams), responses((status = 200, body = Page<DatasetSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<DatasetSummary>>> {
    let limit = params.limit()?;
    let mut db = pool.acquire().await?;
    let items = stored::list(&mut db, reader.project, params.cursor()?, i64::from(limit) + 1).await?;
    Ok(Json(page(items, limit, |dataset: &DatasetSummary| dataset.id.clone())))
}

/// Make a dataset, in the background
///
/// Of a file that was uploaded, or of the rows of a run, a corpus or an export; a run of a workflow gives the outputs of its
/// rows. It is refused if the project, or the disk, has no room (409). The upload is deleted when the dataset is ready, and kept
/// if it failed.
#[utoipa::path(post, path = "/projects/{project}/datasets", tag = "datasets", params(("project" = String, Path)),
    request_body = NewDataset, responses((status = 201, body = DatasetSummary), Problems),
    security(("session" = []), ("token" = ["run"])))]
pub async fn create(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Body(new): Body<NewDataset>,
) -> Result<(StatusCode, Json<DatasetSummary>)> {
    if let Some(problem) = name_problem(&new.name) {
        return Err(HttpError::invalid("/name", problem));
    }
    check_source(app.pool(), runner.project, &new.source).await?;
    check_blind(&mut *app.pool().acquire().await?, &runner, &new.source).await?;
    let row = NewDatasetRow {
        id: clock::id(),
        job: clock::id(),
        project: runner.project,
        name: &new.name,
        source: &new.source,
        created_by: &runner.caller.name,
        created_at: clock::now(),
    };
    let mut tx = app.pool().begin().await?;
    free_room(&storage::of_project(&mut tx, runner.project).await?, app.objects(), app.files())?;
    stored::insert(&mut tx, &row).await?;
    let made = found(&mut tx, row.id).await?.summary;
    audit.subject(row.id);
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Whether there is such a source in the project, and it is ready.
async fn check_source(pool: &PgPool, project: Uuid, source: &DatasetSource) -> Result<()> {
    if matches!(source, DatasetSource::Files(_)) {
        let message = "files of the server are added with `groundstate datasets add`; upload the file instead";
        return Err(HttpError::invalid("/source/files", message));
    }
    source::check(pool, project, source).await?.map_err(super::exports::wrong)
}

/// A dataset that is made of conversations may hold their verdicts: nobody looks at it who is still to give their own.
async fn check_blind<N>(db: &mut PgConnection, who: &ProjectAccess<N>, source: &DatasetSource) -> Result<()> {
    let Some(spec) = source::spec(&mut *db, source).await? else { return Ok(()) };
    let runs = blind::runs_of_export(db, &spec).await?;
    HiddenConversations::of(db, who).await?.check(&runs)
}

/// One dataset: its progress, its size and its hash
#[utoipa::path(get, path = "/datasets/{dataset}", tag = "datasets", params(("dataset" = Uuid, Path)),
    responses((status = 200, body = DatasetSummary), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, _: Reader, Path(id): Path<Uuid>) -> Result<Json<DatasetSummary>> {
    Ok(Json(found(&mut *pool.acquire().await?, id).await?.summary))
}

/// The columns of a dataset, and how their values are distributed
#[utoipa::path(get, path = "/datasets/{dataset}/columns", tag = "datasets", params(("dataset" = Uuid, Path)),
    responses((status = 200, body = Vec<Column>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn columns(State(pool): State<PgPool>, reader: Reader, Path(id): Path<Uuid>) -> Result<Json<Vec<Column>>> {
    let mut db = pool.acquire().await?;
    let dataset = open(&mut db, &reader, id).await?;
    Ok(Json(dataset.contents.map(|contents| contents.columns).unwrap_or_default()))
}

/// Delete a dataset that has no indexes and that no unfinished run reads
#[utoipa::path(delete, path = "/datasets/{dataset}", tag = "datasets", params(("dataset" = Uuid, Path)),
    responses((status = 204), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn delete(State(app): State<App>, _: Runner, audit: Audit, Path(id): Path<Uuid>) -> Result<StatusCode> {
    let mut tx = app.pool().begin().await?;
    match stored::delete(&mut tx, id).await? {
        DeleteOutcome::Done => {}
        DeleteOutcome::Missing => return Err(HttpError::missing("dataset", &id.to_string())),
        DeleteOutcome::Indexed => {
            return Err(HttpError::Conflict("the dataset has indexes; delete them first".to_owned()));
        }
    }
    audit.commit(tx).await?;
    sweep(&app);
    Ok(StatusCode::NO_CONTENT)
}

/// Stop making a dataset
#[utoipa::path(post, path = "/datasets/{dataset}/cancel", tag = "datasets", params(("dataset" = Uuid, Path)),
    responses((status = 200, body = DatasetSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn cancel(
    State(pool): State<PgPool>,
    _: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<DatasetSummary>> {
    let mut tx = pool.begin().await?;
    let cancelled = jobs::cancel_subject(&mut tx, JobKind::Dataset, id).await?;
    let dataset = found(&mut tx, id).await?.summary;
    if !cancelled {
        return Err(HttpError::Conflict(format!("the dataset is {} and is not being made", dataset.state)));
    }
    audit.commit(tx).await?;
    Ok(Json(dataset))
}

async fn found(db: &mut PgConnection, id: Uuid) -> Result<Dataset> {
    stored::get(db, id).await?.ok_or_else(|| HttpError::missing("dataset", &id.to_string()))
}

/// A dataset whose rows somebody may see, and that is ready.
async fn open<N>(db: &mut PgConnection, who: &ProjectAccess<N>, id: Uuid) -> Result<Dataset> {
    let dataset = found(db, id).await?;
    check_blind(db, who, &dataset.summary.source).await?;
    if dataset.contents.is_none() {
        return Err(HttpError::Conflict(format!("the dataset is {}, so it has no rows", dataset.summary.state)));
    }
    Ok(dataset)
}

/// The id of a dataset of the project that an index can be built over.
pub(super) async fn usable<N>(db: &mut PgConnection, who: &ProjectAccess<N>, id: Uuid) -> Result<Uuid> {
    let found = stored::get(&mut *db, id).await?.filter(|dataset| dataset.project == who.project);
    let dataset = found.ok_or_else(|| HttpError::invalid("/dataset", format!("there is no dataset {id}")))?;
    if dataset.contents.is_none() {
        return Err(HttpError::invalid("/dataset", format!("the dataset is {}", dataset.summary.state)));
    }
    check_blind(db, who, &dataset.summary.source).await?;
    Ok(id)
}

/// # Errors
/// Somebody may not see the rows of a dataset.
pub(super) async fn check_readable<N>(db: &mut PgConnection, who: &ProjectAccess<N>, id: Uuid) -> Result<()> {
    let dataset = found(&mut *db, id).await?;
    check_blind(db, who, &dataset.summary.source).await
}

/// Deletes objects that nothing names any more, beside what is answered. What is left is deleted the next time.
pub(super) fn sweep(app: &App) {
    let app = app.clone();
    tokio::spawn(async move {
        let swept = async { cleanup::sweep(&mut *app.pool().acquire().await?, app.objects()).await };
        if let Err(error) = swept.await {
            warn!(%error, "objects that nothing names any more cannot be deleted");
        }
    });
}
