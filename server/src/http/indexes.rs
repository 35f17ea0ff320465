//! Search indexes over datasets.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{Hit, IndexSummary, LONGEST_QUERY, MOST_HITS, NewIndex, Page, SearchParams};
use domain::corpus::name_problem;
use domain::job::JobKind;
use domain::limits::name_problem as column_problem;
use sqlx::{PgConnection, PgPool};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::access::{Reader, Runner};
use super::app::App;
use super::audit::Audit;
use super::datasets::sweep;
use super::error::{HttpError, Problems, Result};
use super::extract::{self, Body, Path, Query};
use super::page::{PageParams, Paging, page};
use datasets::dataset::job::free_room;
use store::indexes::{self as stored, Index, NewIndexRow};
use store::{clock, jobs, storage};

const HITS: u16 = 10;

/// Search indexes of a project, newest first
#[utoipa::path(get, path = "/projects/{project}/indexes", tag = "indexes",
    params(("project" = String, Path), PageParams), responses((status = 200, body = Page<IndexSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<IndexSummary>>> {
    let limit = params.limit()?;
    let mut db = pool.acquire().await?;
    let items = stored::list(&mut db, reader.project, params.cursor()?, i64::from(limit) + 1).await?;
    Ok(Json(page(items, limit, |index: &IndexSummary| index.id.clone())))
}

/// Build a search index over a dataset, in the background
///
/// It is refused if the project, or the disk, has no room (409).
#[utoipa::path(post, path = "/projects/{project}/indexes", tag = "indexes", params(("project" = String, Path)),
    request_body = NewIndex, responses((status = 201, body = IndexSummary), Problems),
    security(("session" = []), ("token" = ["run"])))]
pub async fn create(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Body(new): Body<NewIndex>,
) -> Result<(StatusCode, Json<IndexSummary>)> {
    if let Some(problem) = name_problem(&new.name) {
        return Err(HttpError::invalid("/name", problem));
    }
    let columns = &new.columns;
    for (field, name) in
        [("id", &columns.id), ("title", &columns.title), ("text", &columns.text), ("url", &columns.url)]
    {
        if let Some(problem) = column_problem(name) {
            return Err(HttpError::invalid(&format!("/columns/{field}"), problem));
        }
    }
    let mut tx = app.pool().begin().await?;
    let dataset = super::datasets::usable(&mut tx, &runner, extract::id("/dataset", &new.dataset)?).await?;
    let row = NewIndexRow {
        id: clock::id(),
        job: clock::id(),
        project: runner.project,
        name: &new.name,
        dataset,
        columns,
        created_by: &runner.caller.name,
        created_at: clock::now(),
    };
    free_room(&storage::of_project(&mut tx, runner.project).await?, app.objects(), app.files())?;
    if !stored::insert(&mut tx, &row).await? {
        return Err(HttpError::Conflict(format!("there is an index {} already; choose another name", new.name)));
    }
    let made = found(&mut tx, row.id).await?.summary;
    audit.subject(row.id);
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// One index: its progress and its size
#[utoipa::path(get, path = "/indexes/{index}", tag = "indexes", params(("index" = Uuid, Path)),
    responses((status = 200, body = IndexSummary), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, _: Reader, Path(id): Path<Uuid>) -> Result<Json<IndexSummary>> {
    Ok(Json(found(&mut *pool.acquire().await?, id).await?.summary))
}

/// Search an index
///
/// The best documents first, by BM25 over title and text. Every word is a word: the query has no syntax.
#[utoipa::path(get, path = "/indexes/{index}/search", tag = "indexes",
    params(("index" = Uuid, Path), SearchParams), responses((status = 200, body = Vec<Hit>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn search(
    State(app): State<App>,
    reader: Reader,
    Path(id): Path<Uuid>,
    Query(params): Query<SearchParams>,
) -> Result<Json<Vec<Hit>>> {
    let k = match params.k.unwrap_or(HITS) {
        k @ 1..=MOST_HITS => k,
        other => return Err(HttpError::parameter("k", format!("{other} is not from 1 to {MOST_HITS}"))),
    };
    if params.query.len() > LONGEST_QUERY {
        let message = format!("it has {} bytes, at most {LONGEST_QUERY} are searched for", params.query.len());
        return Err(HttpError::parameter("query", message));
    }
    let mut db = app.pool().acquire().await?;
    let index = found(&mut db, id).await?;
    super::datasets::check_readable(&mut db, &reader, index.dataset).await?;
    drop(db);
    let state = index.summary.state;
    let open = app.searched().open(&index).await.map_err(HttpError::Internal)?;
    let open = open.ok_or_else(|| HttpError::Conflict(format!("the index is {state}, so it cannot be searched")))?;
    let hits = spawn_blocking(move || open.search(&params.query, k.into())).await;
    Ok(Json(hits.map_err(|error| HttpError::Internal(error.into()))?.map_err(HttpError::Internal)?))
}

/// Stop building an index
#[utoipa::path(post, path = "/indexes/{index}/cancel", tag = "indexes", params(("index" = Uuid, Path)),
    responses((status = 200, body = IndexSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn cancel(
    State(pool): State<PgPool>,
    _: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<IndexSummary>> {
    let mut tx = pool.begin().await?;
    let cancelled = jobs::cancel_subject(&mut tx, JobKind::Index, id).await?;
    let index = found(&mut tx, id).await?.summary;
    if !cancelled {
        return Err(HttpError::Conflict(format!("the index is {} and is not being built", index.state)));
    }
    audit.commit(tx).await?;
    Ok(Json(index))
}

/// Delete an index that no unfinished run reads
#[utoipa::path(delete, path = "/indexes/{index}", tag = "indexes", params(("index" = Uuid, Path)),
    responses((status = 204), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn delete(State(app): State<App>, _: Runner, audit: Audit, Path(id): Path<Uuid>) -> Result<StatusCode> {
    let mut tx = app.pool().begin().await?;
    if !stored::delete(&mut tx, id).await? {
        return Err(HttpError::missing("index", &id.to_string()));
    }
    audit.commit(tx).await?;
    sweep(&app);
    Ok(StatusCode::NO_CONTENT)
}

async fn found(db: &mut PgConnection, id: Uuid) -> Result<Index> {
    stored::get(db, id).await?.ok_or_else(|| HttpError::missing("index", &id.to_string()))
}
