//! What people say of a conversation.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use domain::api::{ConversationRatings, FieldError, HumanRating, NewRating};
use domain::calibration::OVERALL;
use domain::limits::{self, MOST_CRITERIA};
use domain::patch::join;
use domain::problem::did_you_mean;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::access::{Author, Reader};
use super::audit::Audit;
use super::blind;
use super::caller::Caller;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path};
use super::words;
use generation::calibrate;
use store::clock;
use store::{ratings, verdicts};

const LONGEST_COMMENT: usize = 4_000;

/// Ratings of a conversation: your own, other people's, and the judge's verdict
///
/// While the conversation is in an open, blind queue, other people's ratings and the verdict are absent until you have
/// rated it; `blind` is true then. Admins of the project see them, unless they were given the conversation to rate.
#[utoipa::path(get, path = "/conversations/{conversation}/ratings", tag = "reviews",
    params(("conversation" = Uuid, Path)), responses((status = 200, body = ConversationRatings), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn show(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(id): Path<Uuid>,
) -> Result<Json<ConversationRatings>> {
    let mut db = pool.acquire().await?;
    Ok(Json(seen(&mut db, id, &reader.caller, reader.project).await?))
}

/// Rate a conversation
///
/// Replaces your previous rating, which is kept in `earlier`. If the conversation is in a review queue, it counts as
/// done by you. Leave out the criteria that you do not rate.
#[utoipa::path(put, path = "/conversations/{conversation}/ratings", tag = "reviews",
    params(("conversation" = Uuid, Path)), request_body = NewRating,
    responses((status = 200, body = ConversationRatings), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn rate(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    Path(id): Path<Uuid>,
    Body(new): Body<NewRating>,
) -> Result<Json<ConversationRatings>> {
    let mut tx = pool.begin().await?;
    let criteria = criteria(&mut tx, id).await?;
    let rating = checked(new, &criteria, &author.caller.name)?;
    ratings::rate(&mut tx, id, &rating).await?;
    let seen = seen(&mut tx, id, &author.caller, author.project).await?;
    audit.commit(tx).await?;
    Ok(Json(seen))
}

fn checked(new: NewRating, criteria: &[String], rater: &str) -> Result<HumanRating> {
    if let Some(too_many) = limits::too_many("/scores", new.scores.len(), MOST_CRITERIA) {
        return Err(vec![too_many].into());
    }
    let mut wrong = Vec::new();
    let mut scores = BTreeMap::new();
    for (criterion, score) in new.scores {
        let pointer = join("/scores", &criterion);
        if !criteria.contains(&criterion) {
            let hint = did_you_mean(&criterion, criteria.iter().map(String::as_str));
            let known = criteria.join(", ");
            let detail = format!("is not a criterion of this conversation's judge{hint}; there are {known}");
            wrong.push(FieldError::at(&pointer, detail));
        }
        match u8::try_from(score) {
            Ok(score @ 0..=10) => drop(scores.insert(criterion, score)),
            _ => wrong.push(FieldError::at(&pointer, format!("{score} is not from 0 to 10"))),
        }
    }
    if !wrong.is_empty() {
        return Err(HttpError::Invalid(wrong));
    }
    if let Some(comment) = &new.comment {
        words::check("/comment", comment, LONGEST_COMMENT)?;
    }
    if scores.is_empty() && new.goal_achieved.is_none() && new.comment.is_none() {
        return Err(HttpError::invalid("", "rate at least one thing: `scores`, `goal_achieved` or `comment`"));
    }
    let (rater, created_at) = (rater.to_owned(), clock::now());
    Ok(HumanRating { rater, scores, goal_achieved: new.goal_achieved, comment: new.comment, created_at })
}

/// What may be rated in a conversation: what its judges scored, and the whole.
pub async fn criteria(db: &mut PgConnection, conversation: Uuid) -> Result<Vec<String>> {
    let said = verdicts::on(db, conversation).await?;
    let mut names = calibrate::criteria(said.iter().map(|(_, verdict)| verdict));
    names.push(OVERALL.to_owned());
    Ok(names)
}

async fn seen(db: &mut PgConnection, id: Uuid, caller: &Caller, project: Uuid) -> Result<ConversationRatings> {
    let blind = blind::is_blind(db, id, caller, project).await?;
    let all = ratings::of(db, &[id]).await?.into_iter().map(|(_, rating)| rating);
    let (mine, others): (Vec<_>, Vec<_>) = all.partition(|rating| rating.rater == caller.name);
    let own = verdicts::on(db, id).await?.into_iter().find(|(original, _)| *original);
    Ok(ConversationRatings {
        criteria: criteria(db, id).await?,
        blind,
        mine: mine.into_iter().next(),
        earlier: ratings::earlier(db, id, &caller.name).await?,
        others: if blind { Vec::new() } else { others },
        verdict: own.map(|(_, verdict)| verdict).filter(|_| !blind),
    })
}
