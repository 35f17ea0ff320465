//! What is in a queue, and who gets what.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::access::Role;
use domain::api::{NewAssignment, NextReview, Page, QueueState, ReviewItem, ReviewTask};
use domain::problem::did_you_mean;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::get;
use crate::http::access::{Admin, Author, Reader};
use crate::http::audit::Audit;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::{Body, Path, Query};
use crate::http::page::{PageParams, Paging, page};
use crate::http::ratings;
use generation::review_queue;
use store::clock;
use store::reviews;
use store::{projects, users};

/// Conversations of a review queue in order, and who has them
#[utoipa::path(get, path = "/review-queues/{queue}/items", tag = "reviews", params(("queue" = Uuid, Path), PageParams),
    responses((status = 200, body = Page<ReviewItem>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    _: Reader,
    Path(queue): Path<Uuid>,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<ReviewItem>>> {
    let limit = params.limit()?;
    let after = params.cursor()?.unwrap_or(-1);
    let items = reviews::items(&mut *pool.acquire().await?, queue, after, None, i64::from(limit) + 1).await?;
    Ok(Json(page(items, limit, |item: &ReviewItem| item.ordinal.to_string())))
}

/// Take a conversation to rate
///
/// Conversations that were given to you by name come first. A conversation that you took is offered again until you
/// rate or skip it. It is reserved for you for an hour; after that others may take it, and you can still rate it.
#[utoipa::path(post, path = "/review-queues/{queue}/next", tag = "reviews", params(("queue" = Uuid, Path)),
    responses((status = 200, body = NextReview), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn next(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<NextReview>> {
    let queue = get(&mut *pool.acquire().await?, id).await?;
    if queue.state() == QueueState::Closed {
        return Err(HttpError::Conflict("the queue is closed; PATCH it with {\"state\": \"open\"} to go on".into()));
    }
    let (left, taken) = review_queue::next(&pool, id, &author.caller.name).await?;
    let Some((taken, mut tx)) = taken else {
        audit.nothing_changed();
        return Ok(Json(NextReview { left, task: None }));
    };
    let criteria = ratings::criteria(&mut tx, taken.conversation).await?;
    audit.subject(format!("{id}/{}", taken.conversation));
    audit.commit(tx).await?;
    let task = ReviewTask {
        conversation: taken.conversation.to_string(),
        ordinal: taken.ordinal,
        instructions: queue.instructions,
        criteria,
        blind: queue.blind,
        expires_at: taken.expires_at,
    };
    Ok(Json(NextReview { left, task: Some(task) }))
}

/// Skip a conversation that you took
#[utoipa::path(post, path = "/review-queues/{queue}/items/{conversation}/skip", tag = "reviews",
    params(("queue" = Uuid, Path), ("conversation" = Uuid, Path)), responses((status = 200, body = ReviewItem), Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn skip(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    Path((queue, conversation)): Path<(Uuid, Uuid)>,
) -> Result<Json<ReviewItem>> {
    let mut tx = pool.begin().await?;
    item(&mut tx, queue, conversation).await?;
    if !reviews::skip(&mut tx, queue, conversation, &author.caller.name, clock::now()).await? {
        return Err(HttpError::Conflict("you do not have this conversation, so you cannot skip it".into()));
    }
    let skipped = item(&mut tx, queue, conversation).await?;
    audit.commit(tx).await?;
    Ok(Json(skipped))
}

/// Give a conversation to somebody
///
/// It is theirs until they have rated or skipped it. This may exceed the number of raters that the queue asks for.
#[utoipa::path(post, path = "/review-queues/{queue}/items/{conversation}/assignments", tag = "reviews",
    params(("queue" = Uuid, Path), ("conversation" = Uuid, Path)), request_body = NewAssignment,
    responses((status = 201, body = ReviewItem), Problems), security(("session" = []), ("token" = ["admin"])))]
pub async fn assign(
    State(pool): State<PgPool>,
    admin: Admin,
    audit: Audit,
    Path((queue, conversation)): Path<(Uuid, Uuid)>,
    Body(NewAssignment { rater }): Body<NewAssignment>,
) -> Result<(StatusCode, Json<ReviewItem>)> {
    let mut tx = pool.begin().await?;
    item(&mut tx, queue, conversation).await?;
    check_rater(&mut tx, admin.project, &rater).await?;
    if !reviews::assign(&mut tx, queue, conversation, &rater, &admin.caller.name, clock::now()).await? {
        return Err(HttpError::Conflict(format!("{rater} has rated it already")));
    }
    let assigned = item(&mut tx, queue, conversation).await?;
    audit.detail(serde_json::json!({"rater": rater}));
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(assigned)))
}

/// Take a conversation back from somebody who has not rated it
#[utoipa::path(delete, path = "/review-queues/{queue}/items/{conversation}/assignments/{rater}", tag = "reviews",
    params(("queue" = Uuid, Path), ("conversation" = Uuid, Path), ("rater" = String, Path)),
    responses((status = 204), Problems), security(("session" = []), ("token" = ["admin"])))]
pub async fn withdraw(
    State(pool): State<PgPool>,
    _: Admin,
    audit: Audit,
    Path((queue, conversation, rater)): Path<(Uuid, Uuid, String)>,
) -> Result<StatusCode> {
    let mut tx = pool.begin().await?;
    item(&mut tx, queue, conversation).await?;
    if !reviews::withdraw(&mut tx, queue, conversation, &rater).await? {
        return Err(HttpError::NotFound(format!("{rater} does not have that conversation")));
    }
    audit.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn item(db: &mut PgConnection, queue: Uuid, conversation: Uuid) -> Result<ReviewItem> {
    let found = reviews::items(db, queue, -1, Some(conversation), 1).await?.pop();
    found.ok_or_else(|| HttpError::NotFound(format!("conversation {conversation} is not in the queue")))
}

/// Whoever is given something must be able to do it.
async fn check_rater(db: &mut PgConnection, project: Uuid, rater: &str) -> Result<()> {
    let members = projects::members(db, project).await?;
    if let Some(member) = members.iter().find(|member| member.user == rater) {
        return match member.role.parse::<Role>().ok() {
            Some(role) if role.rates() => Ok(()),
            _ => Err(HttpError::invalid("/rater", format!("{rater} is a viewer, and viewers do not rate"))),
        };
    }
    if users::named(db, rater).await?.is_some_and(|user| user.administrator && user.disabled_at.is_none()) {
        return Ok(());
    }
    let hint = did_you_mean(rater, members.iter().map(|member| member.user.as_str()));
    Err(HttpError::invalid("/rater", format!("`{rater}` is not a member of the project{hint}")))
}
