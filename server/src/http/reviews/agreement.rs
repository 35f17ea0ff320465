//! How far people agree with each other.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use domain::api::{DisagreementParams, HumanRating, Page, ReviewAgreement};
use domain::calibration::{Disagreement, OVERALL, Ratings, disagreements, inter_rater};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::http::access::Reader;
use crate::http::blind;
use crate::http::error::{Problems, Result};
use crate::http::extract::{Path, Query};
use crate::http::page::{PageParams, Paging, page};
use generation::calibrate::ratings_of;
use store::ratings;

type StoredRatings = Vec<(Uuid, HumanRating)>;

/// How far the raters of a queue agree with each other
///
/// By criterion: Krippendorff's alpha for interval data, and the shares of pairs that are equal and at most one point
/// apart. All ratings of the queue's conversations count, also those given elsewhere.
#[utoipa::path(get, path = "/review-queues/{queue}/agreement", tag = "reviews", params(("queue" = Uuid, Path)),
    responses((status = 200, body = ReviewAgreement), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn of_queue(State(pool): State<PgPool>, _: Reader, Path(queue): Path<Uuid>) -> Result<Json<ReviewAgreement>> {
    Ok(Json(agreed(ratings::of_queue(&mut *pool.acquire().await?, queue).await?)))
}

/// How far the raters of a project agree with each other
#[utoipa::path(get, path = "/projects/{project}/ratings/agreement", tag = "reviews", params(("project" = String, Path)),
    responses((status = 200, body = ReviewAgreement), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn of_project(State(pool): State<PgPool>, reader: Reader) -> Result<Json<ReviewAgreement>> {
    Ok(Json(agreed(ratings::of_project(&mut *pool.acquire().await?, reader.project).await?)))
}

/// Where the raters of a queue disagree, the largest spread first
///
/// Conversations that you still have to rate blindly are left out.
#[utoipa::path(get, path = "/review-queues/{queue}/disagreements", tag = "reviews",
    params(("queue" = Uuid, Path), DisagreementParams), responses((status = 200, body = Page<Disagreement>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn disagreements_of_queue(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(queue): Path<Uuid>,
    Query(params): Query<DisagreementParams>,
) -> Result<Json<Page<Disagreement>>> {
    let mut db = pool.acquire().await?;
    let rated = ratings::of_queue(&mut db, queue).await?;
    disagreements_page(params, &mut db, &reader, rated).await.map(Json)
}

/// Where people disagree in a project, the largest spread first
///
/// Conversations that you still have to rate blindly are left out.
#[utoipa::path(get, path = "/projects/{project}/ratings/disagreements", tag = "reviews",
    params(("project" = String, Path), DisagreementParams),
    responses((status = 200, body = Page<Disagreement>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn disagreements_of_project(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<DisagreementParams>,
) -> Result<Json<Page<Disagreement>>> {
    let mut db = pool.acquire().await?;
    let rated = ratings::of_project(&mut db, reader.project).await?;
    disagreements_page(params, &mut db, &reader, rated).await.map(Json)
}

/// The page of those that the reader may see.
async fn disagreements_page(
    params: DisagreementParams,
    db: &mut PgConnection,
    reader: &Reader,
    mut rated: StoredRatings,
) -> Result<Page<Disagreement>> {
    let paging = PageParams { limit: params.limit, after: params.after };
    let (limit, after) = (paging.limit()?, paging.cursor::<SortPosition>()?);
    let conversations: Vec<Uuid> = rated.iter().map(|(id, _)| *id).collect();
    let hidden = blind::among(db, &conversations, &reader.caller, reader.project).await?;
    rated.retain(|(id, _)| !hidden.contains(id));
    let mut found = disagreements(&compared(rated));
    found.retain(|one| {
        params.criterion.as_ref().is_none_or(|only| *only == one.criterion)
            && one.spread >= params.spread.unwrap_or(1)
            && after.as_ref().is_none_or(|after| after < &SortPosition::of(one))
    });
    found.truncate(usize::from(limit) + 1);
    Ok(page(found, limit, |one| SortPosition::of(one).to_string()))
}

/// Where a disagreement stands among others, as [`disagreements`] sorts them: whatever is rated meanwhile, the page after it
/// begins with what stands behind it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct SortPosition {
    spread: Reverse<u8>,
    conversation: String,
    criterion: String,
}

impl SortPosition {
    fn of(one: &Disagreement) -> Self {
        let Disagreement { conversation, criterion, spread, .. } = one;
        Self { spread: Reverse(*spread), conversation: conversation.clone(), criterion: criterion.clone() }
    }
}

impl Display for SortPosition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.spread.0, self.conversation, self.criterion)
    }
}

impl FromStr for SortPosition {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let mut parts = text.splitn(3, '.');
        let mut part = || parts.next().ok_or(());
        let spread = Reverse(part()?.parse().map_err(drop)?);
        Ok(Self { spread, conversation: part()?.to_owned(), criterion: part()?.to_owned() })
    }
}

fn agreed(rated: StoredRatings) -> ReviewAgreement {
    let conversations: HashSet<Uuid> = rated.iter().map(|(id, _)| *id).collect();
    let raters: HashSet<&String> = rated.iter().map(|(_, rating)| &rating.rater).collect();
    let (conversations, raters) = (count(conversations.len()), count(raters.len()));
    ReviewAgreement { conversations, raters, criteria: inter_rater(&compared(rated)) }
}

/// Whatever was rated, by name, and the whole last.
fn compared(rated: StoredRatings) -> Ratings {
    let mut criteria: Vec<String> = rated.iter().flat_map(|(_, rating)| rating.scores.keys().cloned()).collect();
    criteria.sort();
    criteria.dedup();
    criteria.retain(|name| name != OVERALL);
    ratings_of(&criteria, rated)
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
