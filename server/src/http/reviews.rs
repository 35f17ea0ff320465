//! Queues of conversations that people are to rate.

pub mod agreement;
pub mod items;
mod new;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{NewQueue, Page, QueueChange, ReviewQueue};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::access::{Author, Reader};
use super::audit::Audit;
use super::blind::{self, HiddenConversations};
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::page::{PageParams, Paging, page};
use super::words;
use generation::review_queue::{self, Choice};
use store::corpora;
use store::reviews::{self, Queue};

const LONGEST_INSTRUCTIONS: usize = 10_000;

/// Review queues, newest first
#[utoipa::path(get, path = "/projects/{project}/review-queues", tag = "reviews",
    params(("project" = String, Path), PageParams), responses((status = 200, body = Page<ReviewQueue>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<ReviewQueue>>> {
    let limit = params.limit()?;
    let mut db = pool.acquire().await?;
    let mut items = Vec::new();
    for queue in reviews::list(&mut db, reader.project, params.cursor()?, i64::from(limit) + 1).await? {
        items.push(summary(&mut db, queue).await?);
    }
    Ok(Json(page(items, limit, |queue: &ReviewQueue| queue.id.clone())))
}

/// Make a review queue
///
/// Give one of `conversations`, `run` (with `n`, spread evenly over the judge's scores) and `corpus`. Conversations
/// that somebody rated before count as done by them. While a blind queue is open, people who have not rated a
/// conversation see neither the judge's scores nor other people's ratings of it. Admins of the project see them, unless
/// the conversation was given to them.
#[utoipa::path(post, path = "/projects/{project}/review-queues", tag = "reviews", params(("project" = String, Path)),
    request_body = NewQueue, responses((status = 201, body = ReviewQueue), Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn create(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    Body(new): Body<NewQueue>,
) -> Result<(StatusCode, Json<ReviewQueue>)> {
    let mut tx = pool.begin().await?;
    let (queue, choice) = new::checked(new, &mut tx, author.project, &author.caller.name).await?;
    check_blind(&mut tx, &author, &choice).await?;
    let conversations = review_queue::choose(&mut tx, author.project, choice).await?;
    if !reviews::insert(&mut tx, &queue).await? {
        return Err(HttpError::Conflict(format!("there is a review queue {} already", queue.name)));
    }
    reviews::fill(&mut tx, queue.id, &conversations).await?;
    let made = summary(&mut tx, queue).await?;
    audit.subject(&made.id);
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Which conversations are chosen depends on their scores, unless they are named.
async fn check_blind(db: &mut PgConnection, author: &Author, choice: &Choice) -> Result<()> {
    let runs = match choice {
        Choice::Conversations(_) => return Ok(()),
        Choice::Run { run, .. } => vec![*run],
        Choice::Corpus { corpus, .. } => match corpora::get(db, *corpus).await? {
            Some((_, corpus)) => blind::runs_of_corpus(db, &corpus.spec).await?,
            None => return Ok(()),
        },
    };
    HiddenConversations::of(db, author).await?.check(&runs)
}

/// One review queue and its progress
#[utoipa::path(get, path = "/review-queues/{queue}", tag = "reviews", params(("queue" = Uuid, Path)),
    responses((status = 200, body = ReviewQueue), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, _: Reader, Path(id): Path<Uuid>) -> Result<Json<ReviewQueue>> {
    let mut db = pool.acquire().await?;
    let queue = get(&mut db, id).await?;
    Ok(Json(summary(&mut db, queue).await?))
}

/// Close or open a review queue, or change its instructions
#[utoipa::path(patch, path = "/review-queues/{queue}", tag = "reviews", params(("queue" = Uuid, Path)),
    request_body = QueueChange, responses((status = 200, body = ReviewQueue), Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn change(
    State(pool): State<PgPool>,
    _: Author,
    audit: Audit,
    Path(id): Path<Uuid>,
    Body(change): Body<QueueChange>,
) -> Result<Json<ReviewQueue>> {
    let mut tx = pool.begin().await?;
    let mut queue = get(&mut tx, id).await?;
    if let Some(state) = change.state {
        state.into_str().clone_into(&mut queue.state);
    }
    if let Some(instructions) = change.instructions {
        words::check_letters("/instructions", &instructions, LONGEST_INSTRUCTIONS)?;
        queue.instructions = instructions;
    }
    reviews::update(&mut tx, &queue).await?;
    audit.detail(serde_json::json!({"state": queue.state}));
    let changed = summary(&mut tx, queue).await?;
    audit.commit(tx).await?;
    Ok(Json(changed))
}

async fn get(db: &mut PgConnection, id: Uuid) -> Result<Queue> {
    reviews::get(db, id).await?.ok_or_else(|| HttpError::missing("review queue", &id.to_string()))
}

async fn summary(db: &mut PgConnection, queue: Queue) -> Result<ReviewQueue> {
    Ok(ReviewQueue {
        progress: reviews::progress(db, queue.id).await?,
        state: queue.state(),
        id: queue.id.to_string(),
        name: queue.name,
        instructions: queue.instructions,
        raters_each: u8::try_from(queue.raters_each).unwrap_or_default(),
        judging: queue.judging_id.map(|id| id.to_string()),
        blind: queue.blind,
        created_by: queue.created_by,
        created_at: queue.created_at,
    })
}
