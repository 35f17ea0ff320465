//! How far people agree with each other.

use std::collections::HashSet;

use axum::Json;
use axum::extract::State;
use domain::api::{HumanRating, ReviewAgreement};
use domain::calibration::{Disagreement, OVERALL, Ratings, disagreements, inter_rater};
use serde::Deserialize;
use sqlx::{PgConnection, PgPool};
use utoipa::IntoParams;
use uuid::Uuid;

use crate::http::access::{Reader, Role};
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::{Path, Query};
use crate::jobs::calibrate::ratings_of;
use crate::store::{ratings, reviews};

type Rated = Vec<(Uuid, HumanRating)>;

/// How far the raters of a queue agree with each other
///
/// By criterion: Krippendorff's alpha for interval data, and the shares of pairs that are equal and at most one point
/// apart. It speaks of all ratings of the queue's conversations, wherever they were given.
#[utoipa::path(get, path = "/review-queues/{queue}/agreement", tag = "reviews", params(("queue" = Uuid, Path)),
    responses((status = 200, body = ReviewAgreement), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn of_queue(State(pool): State<PgPool>, _: Reader, Path(queue): Path<Uuid>) -> Result<Json<ReviewAgreement>> {
    Ok(Json(agreed(ratings::of_queue(&mut *pool.acquire().await?, queue).await?)))
}

/// How far people agree with each other in a project
#[utoipa::path(get, path = "/projects/{project}/ratings/agreement", tag = "reviews", params(("project" = String, Path)),
    responses((status = 200, body = ReviewAgreement), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn of_project(State(pool): State<PgPool>, reader: Reader) -> Result<Json<ReviewAgreement>> {
    Ok(Json(agreed(ratings::of_project(&mut *pool.acquire().await?, reader.project).await?)))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DisagreementParams {
    /// How many, 1 to 1000; default: 50.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u16>,
    /// Only those of this criterion.
    criterion: Option<String>,
    /// Only those that are at least so many points apart; default: 1.
    #[param(minimum = 1, maximum = 10)]
    spread: Option<u8>,
}

/// Where the raters of a queue disagree, the largest spread first
///
/// Conversations that you are still to rate blindly are left out.
#[utoipa::path(get, path = "/review-queues/{queue}/disagreements", tag = "reviews",
    params(("queue" = Uuid, Path), DisagreementParams), responses((status = 200, body = Vec<Disagreement>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn disagreements_of_queue(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(queue): Path<Uuid>,
    Query(params): Query<DisagreementParams>,
) -> Result<Json<Vec<Disagreement>>> {
    let mut db = pool.acquire().await?;
    let rated = ratings::of_queue(&mut db, queue).await?;
    params.of(&mut db, &reader, rated).await.map(Json)
}

/// Where people disagree in a project, the largest spread first
///
/// Conversations that you are still to rate blindly are left out.
#[utoipa::path(get, path = "/projects/{project}/ratings/disagreements", tag = "reviews",
    params(("project" = String, Path), DisagreementParams),
    responses((status = 200, body = Vec<Disagreement>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn disagreements_of_project(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<DisagreementParams>,
) -> Result<Json<Vec<Disagreement>>> {
    let mut db = pool.acquire().await?;
    let rated = ratings::of_project(&mut db, reader.project).await?;
    params.of(&mut db, &reader, rated).await.map(Json)
}

impl DisagreementParams {
    async fn of(&self, db: &mut PgConnection, reader: &Reader, mut rated: Rated) -> Result<Vec<Disagreement>> {
        let limit = self.limit.unwrap_or(50);
        if !(1..=1000).contains(&limit) {
            return Err(HttpError::BadRequest(format!("`limit`: {limit} is not from 1 to 1000")));
        }
        let conversations: Vec<Uuid> = rated.iter().map(|(id, _)| *id).collect();
        let admin = reader.caller.role(db, reader.project).await? == Some(Role::Admin);
        let hidden = reviews::blind(db, &conversations, &reader.caller.name, admin).await?;
        let hidden: HashSet<Uuid> = hidden.into_iter().collect();
        rated.retain(|(id, _)| !hidden.contains(id));
        let mut found = disagreements(&compared(rated));
        found.retain(|one| {
            self.criterion.as_ref().is_none_or(|only| *only == one.criterion) && one.spread >= self.spread.unwrap_or(1)
        });
        found.truncate(limit.into());
        Ok(found)
    }
}

fn agreed(rated: Rated) -> ReviewAgreement {
    let conversations: HashSet<Uuid> = rated.iter().map(|(id, _)| *id).collect();
    let raters: HashSet<&String> = rated.iter().map(|(_, rating)| &rating.rater).collect();
    let (conversations, raters) = (count(conversations.len()), count(raters.len()));
    ReviewAgreement { conversations, raters, criteria: inter_rater(&compared(rated)) }
}

/// Whatever was rated, by name, and the whole last.
fn compared(rated: Rated) -> Ratings {
    let mut criteria: Vec<String> = rated.iter().flat_map(|(_, rating)| rating.scores.keys().cloned()).collect();
    criteria.sort();
    criteria.dedup();
    criteria.retain(|name| name != OVERALL);
    ratings_of(&criteria, rated)
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
