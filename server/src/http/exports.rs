//! Exports: files made of a run or a corpus, for trainers.

pub mod file;
pub mod preview;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{BuildState, ExportSummary, FieldError, Page};
use domain::export::ExportSpec;
use domain::job::JobKind;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::access::{ProjectAccess, Reader, Runner};
use super::app::App;
use super::audit::Audit;
use super::blind::{self, HiddenConversations};
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::page::{PageParams, Paging, page};
use datasets::export::Room;
use datasets::export::contents::{self, Order};
use datasets::export::order::{self, ResolvedSpec, SourceId, SpecErrors};
use runtime::Disks;
use store::exports::{self, NewExport};
use store::{clock, jobs, storage};

/// Exports, newest first
#[utoipa::path(get, path = "/projects/{project}/exports", tag = "exports", params(("project" = String, Path), PageParams),
    responses((status = 200, body = Page<ExportSummary>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<ExportSummary>>> {
    let limit = params.limit()?;
    let mut db = pool.acquire().await?;
    let hidden = HiddenConversations::of(&mut db, &reader).await?;
    let mut items = exports::list(&mut db, reader.project, params.cursor()?, i64::from(limit) + 1).await?;
    for export in &mut items {
        conceal(&mut db, &hidden, export).await?;
    }
    Ok(Json(page(items, limit, |export: &ExportSummary| export.id.clone())))
}

/// Make an export
///
/// It is refused if the project, or the disk, has no room (409). An export that becomes larger than it may be fails.
#[utoipa::path(post, path = "/projects/{project}/exports", tag = "exports", params(("project" = String, Path)),
    request_body = ExportSpec, responses((status = 201, body = ExportSummary), Problems),
    security(("session" = []), ("token" = ["run"])))]
pub async fn create(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Body(spec): Body<ExportSpec>,
) -> Result<(StatusCode, Json<ExportSummary>)> {
    let checked = checked(app.pool(), &spec, runner.project).await?;
    check_blind(&mut *app.pool().acquire().await?, &runner, &spec).await?;
    let order = Order::of(app.pool(), &spec, &checked).await?;
    let source = match checked.source {
        SourceId::Run { id, .. } | SourceId::Corpus { id } => id,
    };
    let id = clock::id();
    let new = NewExport {
        id,
        job: clock::id(),
        project: runner.project,
        source,
        total: order.size(app.pool()).await?,
        file_name: contents::file_name(&order.title, &order.shape),
        created_by: runner.caller.name.clone(),
        created_at: clock::now(),
        spec,
    };
    let mut tx = app.pool().begin().await?;
    let project = storage::of_project(&mut tx, runner.project).await?;
    Room::of(&project, Disks::of(vec![app.files().to_owned()]))?;
    exports::insert(&mut tx, &new).await?;
    let made = found(&mut tx, id).await?;
    audit.subject(id);
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// An export holds verdicts: nobody looks at it who is still to give their own on what it is made of.
async fn check_blind<N>(db: &mut PgConnection, who: &ProjectAccess<N>, spec: &ExportSpec) -> Result<()> {
    let runs = blind::runs_of_export(db, spec).await?;
    HiddenConversations::of(db, who).await?.check(&runs)
}

/// Takes away what an export tells of the scores in it, if that is so.
async fn conceal(db: &mut PgConnection, hidden: &HiddenConversations, export: &mut ExportSummary) -> Result<()> {
    if export.report.is_some() && hidden.is_in(&blind::runs_of_export(db, &export.spec).await?) {
        export.report = None;
    }
    Ok(())
}

/// One export: its progress and its contents
///
/// The report is absent while you still have to rate conversations blindly that it is made of.
#[utoipa::path(get, path = "/exports/{export}", tag = "exports", params(("export" = Uuid, Path)),
    responses((status = 200, body = ExportSummary), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, reader: Reader, Path(id): Path<Uuid>) -> Result<Json<ExportSummary>> {
    let mut db = pool.acquire().await?;
    let hidden = HiddenConversations::of(&mut db, &reader).await?;
    let mut export = found(&mut db, id).await?;
    conceal(&mut db, &hidden, &mut export).await?;
    Ok(Json(export))
}

/// Stop building an export
#[utoipa::path(post, path = "/exports/{export}/cancel", tag = "exports", params(("export" = Uuid, Path)),
    responses((status = 200, body = ExportSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn cancel(
    State(app): State<App>,
    _: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<ExportSummary>> {
    let mut tx = app.pool().begin().await?;
    let cancelled = jobs::cancel_subject(&mut tx, JobKind::Export, id).await?;
    let export = found(&mut tx, id).await?;
    if !cancelled {
        return Err(HttpError::Conflict(format!("the export is {} already", export.state)));
    }
    audit.commit(tx).await?;
    datasets::export::job::remove(app.files(), id);
    Ok(Json(export))
}

/// Delete an export and its file
#[utoipa::path(delete, path = "/exports/{export}", tag = "exports", params(("export" = Uuid, Path)),
    responses((status = 204), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn delete(State(app): State<App>, _: Runner, audit: Audit, Path(id): Path<Uuid>) -> Result<StatusCode> {
    let mut tx = app.pool().begin().await?;
    exports::delete(&mut tx, id).await?;
    audit.commit(tx).await?;
    datasets::export::job::remove(app.files(), id);
    Ok(StatusCode::NO_CONTENT)
}

async fn checked(pool: &PgPool, spec: &ExportSpec, project: Uuid) -> Result<ResolvedSpec> {
    order::check(pool, spec, Some(project)).await?.map_err(wrong)
}

pub(super) fn wrong(wrong: SpecErrors) -> HttpError {
    HttpError::Invalid(wrong.into_iter().map(|(pointer, detail)| FieldError::at(&pointer, detail)).collect())
}

async fn found(db: &mut PgConnection, id: Uuid) -> Result<ExportSummary> {
    exports::get(db, id).await?.ok_or_else(|| HttpError::missing("export", &id.to_string()))
}

/// An export whose file is there.
async fn ready(pool: &PgPool, id: Uuid) -> Result<ExportSummary> {
    let export = found(&mut *pool.acquire().await?, id).await?;
    match export.state {
        BuildState::Ready => Ok(export),
        state => Err(HttpError::Conflict(format!("the export is {state}"))),
    }
}
