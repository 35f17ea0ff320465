//! Corpora: selections of conversations that can be exported.

pub mod manifest;
pub mod preview;
pub mod rows;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{CorpusDetail, CorpusSummary, FieldError, NewCorpus, Page};
use domain::corpus::{Spec, name_problem};
use domain::job::JobKind;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::access::{Author, ProjectAccess, Reader};
use super::app::App;
use super::audit::Audit;
use super::blind::{self, HiddenConversations};
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::page::{PageParams, Paging, page};
use datasets::corpora::job;
use store::corpora::{self, DeleteOutcome, NewCorpusRow};
use store::{clock, jobs};

/// Corpora of a project, newest first
#[utoipa::path(get, path = "/projects/{project}/corpora", tag = "corpora", params(("project" = String, Path), PageParams),
    responses((status = 200, body = Page<CorpusSummary>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<CorpusSummary>>> {
    let limit = params.limit()?;
    let mut db = pool.acquire().await?;
    let items = corpora::list(&mut db, reader.project, params.cursor()?, i64::from(limit) + 1).await?;
    Ok(Json(page(items, limit, |corpus: &CorpusSummary| corpus.id.clone())))
}

/// Make a corpus, in the background
#[utoipa::path(post, path = "/projects/{project}/corpora", tag = "corpora", params(("project" = String, Path)),
    request_body = NewCorpus, responses((status = 201, body = CorpusSummary), Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn create(
    State(app): State<App>,
    author: Author,
    audit: Audit,
    Body(new): Body<NewCorpus>,
) -> Result<(StatusCode, Json<CorpusSummary>)> {
    let mut tx = app.pool().begin().await?;
    let mut problems = problems(&mut tx, author.project, &new.spec, "/spec").await?;
    check_blind(&mut tx, &author, &new.spec).await?;
    problems.extend(name_problem(&new.name).map(|problem| FieldError::at("/name", problem)));
    if !problems.is_empty() {
        return Err(HttpError::Invalid(problems));
    }
    let corpus = NewCorpusRow {
        id: clock::id(),
        job: clock::id(),
        project: author.project,
        name: &new.name,
        spec: &new.spec,
        created_by: &author.caller.name,
        created_at: clock::now(),
    };
    if !corpora::insert(&mut tx, &corpus).await? {
        return Err(HttpError::Conflict(format!("there is a corpus {} already; choose another name", new.name)));
    }
    let made = detail(&mut tx, corpus.id).await?.summary;
    audit.subject(corpus.id);
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

async fn problems(db: &mut PgConnection, project: Uuid, spec: &Spec, at: &str) -> Result<Vec<FieldError>> {
    let found = job::problems(db, project, spec).await?.into_iter();
    Ok(found.map(|(pointer, detail)| FieldError::at(&format!("{at}{pointer}"), detail)).collect())
}

/// A corpus whose conversations somebody may see.
async fn open<N>(db: &mut PgConnection, who: &ProjectAccess<N>, id: Uuid) -> Result<CorpusDetail> {
    let corpus = detail(db, id).await?;
    check_blind(db, who, &corpus.spec).await?;
    Ok(corpus)
}

/// A corpus is selected by verdicts: nobody looks at it who is still to give their own on what it is selected from.
async fn check_blind<N>(db: &mut PgConnection, who: &ProjectAccess<N>, spec: &Spec) -> Result<()> {
    let runs = blind::runs_of_corpus(db, spec).await?;
    HiddenConversations::of(db, who).await?.check(&runs)
}

/// One corpus: its selection and its report
///
/// The report is absent while you still have to rate conversations blindly that it is selected from.
#[utoipa::path(get, path = "/corpora/{corpus}", tag = "corpora", params(("corpus" = Uuid, Path)),
    responses((status = 200, body = CorpusDetail), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, reader: Reader, Path(id): Path<Uuid>) -> Result<Json<CorpusDetail>> {
    let mut db = pool.acquire().await?;
    let hidden = HiddenConversations::of(&mut db, &reader).await?;
    let mut corpus = detail(&mut db, id).await?;
    let runs = blind::runs_of_corpus(&mut db, &corpus.spec).await?;
    corpus.report = corpus.report.filter(|_| !hidden.is_in(&runs));
    Ok(Json(corpus))
}

async fn detail(db: &mut PgConnection, id: Uuid) -> Result<CorpusDetail> {
    let found = corpora::get(db, id).await?;
    found.map(|(_, detail)| detail).ok_or_else(|| HttpError::missing("corpus", &id.to_string()))
}

/// Stop building a corpus
#[utoipa::path(post, path = "/corpora/{corpus}/cancel", tag = "corpora", params(("corpus" = Uuid, Path)),
    responses((status = 200, body = CorpusSummary), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn cancel(
    State(pool): State<PgPool>,
    _: Author,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<CorpusSummary>> {
    let mut tx = pool.begin().await?;
    let cancelled = jobs::cancel_subject(&mut tx, JobKind::Corpus, id).await?;
    let corpus = detail(&mut tx, id).await?.summary;
    if !cancelled {
        return Err(HttpError::Conflict(format!("the corpus is {} and is not being built", corpus.state)));
    }
    audit.commit(tx).await?;
    Ok(Json(corpus))
}

/// Build a corpus again that failed or was cancelled, with the same selection
#[utoipa::path(post, path = "/corpora/{corpus}/retry", tag = "corpora", params(("corpus" = Uuid, Path)),
    responses((status = 200, body = CorpusSummary), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn retry(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<CorpusSummary>> {
    let mut tx = pool.begin().await?;
    let begun = corpora::build_again(&mut tx, id, clock::id(), &author.caller.name, clock::now()).await?;
    let corpus = detail(&mut tx, id).await?.summary;
    if !begun {
        let state = corpus.state;
        return Err(HttpError::Conflict(format!(
            "the corpus is {state}; only what failed or was cancelled is built again"
        )));
    }
    audit.commit(tx).await?;
    Ok(Json(corpus))
}

/// Delete a corpus that has no exports
#[utoipa::path(delete, path = "/corpora/{corpus}", tag = "corpora", params(("corpus" = Uuid, Path)),
    responses((status = 204), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn delete(State(pool): State<PgPool>, _: Author, audit: Audit, Path(id): Path<Uuid>) -> Result<StatusCode> {
    let mut tx = pool.begin().await?;
    match corpora::delete(&mut tx, id).await? {
        DeleteOutcome::Done => {
            audit.commit(tx).await?;
            Ok(StatusCode::NO_CONTENT)
        }
        DeleteOutcome::Missing => Err(HttpError::missing("corpus", &id.to_string())),
        DeleteOutcome::Exported => Err(HttpError::Conflict("the corpus has exports; delete them first".to_owned())),
    }
}
