//! What agents should have said.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{CorrectedCall, CorrectedConversation, NewCorrection};
use domain::correction::{CorrectedTurn, Correction, in_force};
use serde::Deserialize;
use serde_json::Value;
use sqlx::PgPool;
use utoipa::IntoParams;
use uuid::Uuid;

use super::access::{Author, Reader};
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::words;
use generation::correct::{self, TurnEdit, view};
use store::clock;
use store::{conversations, corrections, events};

/// Longest text of a turn, in letters.
const LONGEST: usize = 40_000;
const LONGEST_NOTE: usize = 4_000;
/// Versions of the corrections of one conversation: all of them are shown at once, and none is ever deleted.
const MOST: u32 = 500;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CorrectionParams {
    /// Show the conversation after this many corrections; 0: as it was played; default: after all of them.
    version: Option<u32>,
}

/// A conversation with its corrections, in any version
///
/// Each corrected message has its difference from what was played. System prompts of agents are not events and are not
/// shown.
#[utoipa::path(get, path = "/conversations/{conversation}/corrections", tag = "reviews",
    params(("conversation" = Uuid, Path), CorrectionParams),
    responses((status = 200, body = CorrectedConversation), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(
    State(pool): State<PgPool>,
    _: Reader,
    Path(id): Path<Uuid>,
    Query(params): Query<CorrectionParams>,
) -> Result<Json<CorrectedConversation>> {
    let mut db = pool.acquire().await?;
    let all = corrections::latest(&mut db, id).await?;
    let last = all.last().map_or(0, |correction| correction.version);
    let version = params.version.unwrap_or(last);
    if version > last {
        let message = format!("conversation {id} has no version {version} of its corrections, only 0 to {last}");
        return Err(HttpError::NotFound(message));
    }
    let transcript = events::of(&mut db, id).await?.into_iter().collect();
    let agents = view::agents(&transcript, &in_force(&all, version));
    let not_rechecked = correct::NOT_RECHECKED.map(str::to_owned).into();
    Ok(Json(CorrectedConversation { version, last_version: last, corrections: all, agents, not_rechecked }))
}

/// Correct a turn of an agent
///
/// Each correction, and each withdrawal of one, makes a new version. Calls must be of the agent's tools, with arguments
/// that fit their schemas, and each id, amount and date in the text must come from the records or from what the agent
/// had read before. The following turns are not played again, and nothing is judged again.
#[utoipa::path(post, path = "/conversations/{conversation}/corrections", tag = "reviews",
    params(("conversation" = Uuid, Path)), request_body = NewCorrection,
    responses((status = 201, body = Correction), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn create(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    Path(id): Path<Uuid>,
    Body(new): Body<NewCorrection>,
) -> Result<(StatusCode, Json<Correction>)> {
    check_words(&new)?;
    let ended = conversations::get(&mut *pool.acquire().await?, id).await?;
    if ended.is_none_or(|(_, summary)| summary.outcome.is_none()) {
        return Err(HttpError::Conflict("the conversation is still being played; correct it when it has ended".into()));
    }
    let (seq, note) = (new.seq, new.note.clone());
    let turn = turn(new, &pool, id).await?;
    let created_at = clock::now();
    let author = author.caller.name;
    let new = corrections::CorrectionVersion { conversation: id, seq, turn, author, note, created_at };
    let mut tx = pool.begin().await?;
    let version = corrections::insert(&mut tx, &new).await?;
    if version > MOST {
        return Err(HttpError::Conflict(format!("the conversation was corrected {MOST} times, and that is the most")));
    }
    audit.detail(serde_json::json!({"version": version, "seq": seq}));
    audit.commit(tx).await?;
    let corrections::CorrectionVersion { turn, author, note, .. } = new;
    Ok((StatusCode::CREATED, Json(Correction { version, seq, turn, author, note, created_at })))
}

fn check_words(new: &NewCorrection) -> Result<()> {
    words::check("/note", &new.note, LONGEST_NOTE)?;
    for (pointer, text) in [("/content", &new.content), ("/reasoning", &new.reasoning)] {
        if let Some(text) = text {
            words::check_letters(pointer, text, LONGEST)?;
        }
    }
    for (i, call) in new.tool_calls.iter().flatten().enumerate() {
        let arguments = Value::Object(call.arguments.clone());
        words::check_value(&format!("/tool_calls/{i}/arguments"), &arguments, LONGEST)?;
    }
    let parts = new.content.is_some() || new.reasoning.is_some() || new.tool_calls.is_some();
    match (new.withdraw, parts) {
        (true, true) => Err(HttpError::invalid("/withdraw", "with `withdraw`, give no part of the turn")),
        (false, false) => {
            Err(HttpError::invalid("", "correct something: `content`, `reasoning` or `tool_calls`, or `withdraw`"))
        }
        _ => Ok(()),
    }
}

/// What is kept; nothing if the turn is to read as it was played.
async fn turn(new: NewCorrection, pool: &PgPool, id: Uuid) -> Result<Option<CorrectedTurn>> {
    if new.withdraw {
        let known = corrections::latest(&mut *pool.acquire().await?, id).await?;
        return match in_force(&known, u32::MAX).contains_key(&new.seq) {
            true => Ok(None),
            false => Err(HttpError::invalid("/seq", format!("event {} has no correction", new.seq))),
        };
    }
    let calls = |calls: Vec<CorrectedCall>| calls.into_iter().map(|call| (call.name, call.arguments)).collect();
    let wanted = TurnEdit { content: new.content, reasoning: new.reasoning, tool_calls: new.tool_calls.map(calls) };
    Ok(Some(correct::checked(pool, id, new.seq, wanted).await?))
}
