//! Conversations of a run, and one of them whole.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use domain::api::{ConversationDetail, ConversationSummary, Page};
use domain::event::EventKind;
use domain::verdict::Verdict;
use sqlx::PgPool;
use uuid::Uuid;

use super::access::Reader;
use super::error::{HttpError, Problems, Result};
use super::extract::{Path, Query};
use super::page::{PageParams, page};
use super::ratings;
use crate::store::{conversations, events, runs};

/// Conversations of a run, in order
#[utoipa::path(get, path = "/runs/{run}/conversations", tag = "conversations", params(("run" = Uuid, Path), PageParams),
    responses((status = 200, body = Page<ConversationSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    _: Reader,
    Path(run): Path<Uuid>,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<ConversationSummary>>> {
    let limit = params.limit()?;
    let after = params.cursor()?.unwrap_or(-1);
    let items = conversations::page(&mut *pool.acquire().await?, run, after, limit as i64 + 1).await?;
    Ok(Json(page(items, limit, |conversation: &ConversationSummary| conversation.position.to_string())))
}

/// One conversation whole: events, verdict, what the verifier found
///
/// While an open, blind review queue holds it, what judges said is absent until you have rated it.
#[utoipa::path(get, path = "/conversations/{conversation}", tag = "conversations",
    params(("conversation" = Uuid, Path)), responses((status = 200, body = ConversationDetail), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn show(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(uuid): Path<Uuid>,
) -> Result<Json<ConversationDetail>> {
    let missing = || HttpError::missing("conversation", &uuid.to_string());
    let mut db = pool.acquire().await?;
    let (run_id, summary) = conversations::get(&mut db, uuid).await?.ok_or_else(missing)?;
    let run = runs::get(&mut db, run_id).await?.ok_or_else(missing)?;
    let models = serde_json::from_value(run.config["models"].clone()).unwrap_or_else(|_| BTreeMap::new());
    let events = events::of(&mut db, uuid).await?;
    let (mut verdicts, mut verification) = (Vec::new(), None);
    for event in &events {
        match &event.kind {
            EventKind::Judged { verdict: found, .. } => verdicts.push(found.clone()),
            EventKind::Verified { verification: found } => verification = Some(found.clone()),
            _ => {}
        }
    }
    let verdict = Verdict::of_panel(&verdicts);
    let detail = ConversationDetail { summary, run_id: run_id.to_string(), models, events, verdict, verification };
    let blind = ratings::blind(&mut db, uuid, &reader.caller, reader.project).await?;
    Ok(Json(if blind { detail.unjudged() } else { detail }))
}
