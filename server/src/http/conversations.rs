//! Conversations of a run, and one of them whole.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use domain::api::{ConversationDetail, ConversationSummary, Page};
use domain::event::EventKind;
use domain::verdict::Verdict;
use serde::Deserialize;
use sqlx::PgPool;
use uuid::Uuid;

use super::error::{HttpError, Result};
use crate::store::{conversations, events, runs};

const PAGE: u16 = 50;

#[derive(Deserialize)]
pub struct ListParams {
    /// `next` of the page before.
    after: Option<String>,
}

pub async fn list(
    State(pool): State<PgPool>,
    Path(run): Path<String>,
    params: std::result::Result<Query<ListParams>, QueryRejection>,
) -> Result<Json<Page<ConversationSummary>>> {
    let missing = || HttpError::NotFound(format!("there is no run {run}"));
    let id: Uuid = run.parse().map_err(|_| missing())?;
    let Query(params) = params?;
    let after = match &params.after {
        None => -1,
        Some(text) => text.parse().map_err(|_| HttpError::BadRequest(format!("`after`: `{text}` is no cursor")))?,
    };
    let mut db = pool.acquire().await?;
    runs::get(&mut db, id).await?.ok_or_else(missing)?;
    // One more than a page tells whether there is a next one.
    let mut items = conversations::page(&mut db, id, after, i64::from(PAGE) + 1).await?;
    let more = items.len() > usize::from(PAGE);
    items.truncate(usize::from(PAGE));
    let next = if more { items.last().map(|c| c.position.to_string()) } else { None };
    Ok(Json(Page { items, next }))
}

pub async fn show(State(pool): State<PgPool>, Path(id): Path<String>) -> Result<Json<ConversationDetail>> {
    let missing = || HttpError::NotFound(format!("there is no conversation {id}"));
    let uuid: Uuid = id.parse().map_err(|_| missing())?;
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
    Ok(Json(ConversationDetail { summary, run_id: run_id.to_string(), models, events, verdict, verification }))
}
