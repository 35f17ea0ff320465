//! Remarks on the steps of a conversation.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{Annotation, AnnotationChange, NewAnnotation};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::access::{Author, Reader, Role};
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path};
use super::words;
use store::annotations::{self, Row};
use store::clock;

const LONGEST: usize = 4_000;
const MOST_LABELS: usize = 20;
/// Of one conversation: all of them are shown at once.
const MOST: i64 = 1_000;

/// Annotations of a conversation, in the order of its events
#[utoipa::path(get, path = "/conversations/{conversation}/annotations", tag = "reviews",
    params(("conversation" = Uuid, Path)), responses((status = 200, body = Vec<Annotation>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(State(pool): State<PgPool>, _: Reader, Path(id): Path<Uuid>) -> Result<Json<Vec<Annotation>>> {
    let rows = annotations::of(&mut *pool.acquire().await?, id).await?;
    Ok(Json(rows.into_iter().map(Annotation::from).collect()))
}

/// Annotate a step of a conversation
#[utoipa::path(post, path = "/conversations/{conversation}/annotations", tag = "reviews",
    params(("conversation" = Uuid, Path)), request_body = NewAnnotation,
    responses((status = 201, body = Annotation), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn create(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    Path(id): Path<Uuid>,
    Body(new): Body<NewAnnotation>,
) -> Result<(StatusCode, Json<Annotation>)> {
    words::check("/text", &new.text, LONGEST)?;
    check_labels(&new.labels)?;
    let missing = || HttpError::invalid("/seq", format!("the conversation has no event {}", new.seq));
    let row = Row {
        id: clock::id(),
        conversation_id: id,
        seq: i32::try_from(new.seq).map_err(|_| missing())?,
        text: new.text,
        labels: new.labels,
        author: author.caller.name,
        created_at: clock::now(),
        resolved_by: None,
        resolved_at: None,
    };
    let mut tx = pool.begin().await?;
    if annotations::count(&mut tx, id).await? >= MOST {
        return Err(HttpError::Conflict(format!(
            "the conversation has {MOST} annotations; delete some that are resolved"
        )));
    }
    if !annotations::insert(&mut tx, &row).await? {
        return Err(missing());
    }
    audit.subject(row.id);
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(row.into())))
}

/// Resolve an annotation, or change your own
#[utoipa::path(patch, path = "/annotations/{annotation}", tag = "reviews", params(("annotation" = Uuid, Path)),
    request_body = AnnotationChange, responses((status = 200, body = Annotation), Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn change(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    Path(id): Path<Uuid>,
    Body(change): Body<AnnotationChange>,
) -> Result<Json<Annotation>> {
    let mut tx = pool.begin().await?;
    let mut row = get(&mut tx, id).await?;
    if (change.text.is_some() || change.labels.is_some()) && row.author != author.caller.name {
        return Err(HttpError::Forbidden(format!(
            "it belongs to {}: you may resolve it, or write one of your own",
            row.author
        )));
    }
    if let Some(text) = change.text {
        words::check("/text", &text, LONGEST)?;
        row.text = text;
    }
    if let Some(labels) = change.labels {
        check_labels(&labels)?;
        row.labels = labels;
    }
    match change.resolved {
        Some(true) if row.resolved_at.is_none() => {
            (row.resolved_by, row.resolved_at) = (Some(author.caller.name), Some(clock::now()));
        }
        Some(false) => (row.resolved_by, row.resolved_at) = (None, None),
        _ => {}
    }
    annotations::update(&mut tx, &row).await?;
    audit.commit(tx).await?;
    Ok(Json(row.into()))
}

/// Delete your own annotation
///
/// Admins of the project may delete anybody's.
#[utoipa::path(delete, path = "/annotations/{annotation}", tag = "reviews", params(("annotation" = Uuid, Path)),
    responses((status = 204), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn delete(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<StatusCode> {
    let mut tx = pool.begin().await?;
    let row = get(&mut tx, id).await?;
    let admin = author.caller.role(&mut tx, author.project).await? == Some(Role::Admin);
    if row.author != author.caller.name && !admin {
        return Err(HttpError::Forbidden(format!("it belongs to {}: you may resolve it", row.author)));
    }
    annotations::delete(&mut tx, id).await?;
    audit.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn get(db: &mut PgConnection, id: Uuid) -> Result<Row> {
    annotations::get(db, id).await?.ok_or_else(|| HttpError::missing("annotation", &id.to_string()))
}

fn check_labels(labels: &[String]) -> Result<()> {
    if labels.len() > MOST_LABELS {
        return Err(HttpError::invalid("/labels", format!("expected at most {MOST_LABELS}")));
    }
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    let wrong = labels.iter().position(|label| !(1..=40).contains(&label.len()) || !label.chars().all(plain));
    match wrong {
        Some(i) => Err(HttpError::invalid(&format!("/labels/{i}"), "use 1 to 40 letters a-z, digits, _ and -")),
        None => Ok(()),
    }
}
