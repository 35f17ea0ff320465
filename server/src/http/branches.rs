//! Conversations that go on differently from a turn of another one.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{BranchCall, BranchSummary, NewBranch};
use domain::message::ToolCall;
use engine::ChatReply;
use llm::ModelSpec;
use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;

use super::access::{Reader, Runner};
use super::app::App;
use super::audit::Audit;
use super::blind;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path};
use super::models;
use generation::branch::{self, BranchRequest};
use store::{branches, conversations};

/// Longest text of a turn, in letters.
const LONGEST: usize = 40_000;

/// Branches of a conversation, oldest first
#[utoipa::path(get, path = "/conversations/{conversation}/branches", tag = "conversations",
    params(("conversation" = Uuid, Path)), responses((status = 200, body = Vec<BranchSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(id): Path<Uuid>,
) -> Result<Json<Vec<BranchSummary>>> {
    let mut db = pool.acquire().await?;
    let mut all = branches::of(&mut db, id).await?;
    let ids: Vec<Uuid> = all.iter().filter_map(|branch| branch.conversation.parse().ok()).collect();
    let hidden = blind::among(&mut db, &ids, &reader.caller, reader.project).await?;
    for branch in &mut all {
        branch.outcome =
            branch.outcome.take().filter(|_| !branch.conversation.parse().is_ok_and(|id| hidden.contains(&id)));
    }
    Ok(Json(all))
}

/// Branch a conversation at a turn
///
/// Makes a run of one conversation that shares everything before the turn and continues from there with another model
/// or with words that you write. Both conversations are kept, and an export of preference pairs can pair them.
#[utoipa::path(post, path = "/conversations/{conversation}/branches", tag = "conversations",
    params(("conversation" = Uuid, Path)), request_body = NewBranch,
    responses((status = 201, body = BranchSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn create(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
    Body(new): Body<NewBranch>,
) -> Result<(StatusCode, Json<BranchSummary>)> {
    let ended = conversations::get(&mut *app.pool().acquire().await?, id).await?;
    if ended.is_none_or(|(_, summary)| summary.outcome.is_none()) {
        return Err(HttpError::Conflict("the conversation is still being played; branch it when it has ended".into()));
    }
    let wanted = wanted(&app, new, runner.caller.name).await?;
    let branch = branch::prepare(app.pool(), id, wanted).await?;
    let mut tx = app.pool().begin().await?;
    let (run, made) = branch.insert(&mut tx).await?;
    let all = branches::of(&mut tx, id).await?;
    let own = all.into_iter().find(|branch| branch.run == run.to_string());
    let own = own.ok_or_else(|| HttpError::missing("run", &run.to_string()))?;
    audit.subject(made);
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(own)))
}

/// What the branch is made of, checked against the registry.
async fn wanted(app: &App, new: NewBranch, by: String) -> Result<BranchRequest> {
    let registry = models::registry(app).await?;
    let agent = new.model.map(|name| match name.parse::<ModelSpec>() {
        Ok(ModelSpec::Endpoint(_)) => Err(HttpError::invalid("/model", "name a model of the registry")),
        Ok(ModelSpec::Named(name)) => {
            let pool = registry.pool(&name).map_err(|why| HttpError::invalid("/model", why.to_string()))?;
            Ok((ModelSpec::Named(name), vec![pool.clone()]))
        }
        Ok(spec) => Ok((spec, Vec::new())),
        Err(why) => Err(HttpError::invalid("/model", why.to_string())),
    });
    let agent = agent.transpose()?;
    let writes = new.content.is_some() || !new.tool_calls.is_empty();
    if agent.is_none() && !writes {
        return Err(HttpError::invalid("/model", "give another `model`, or the new text (`content`)"));
    }
    if !writes && new.reasoning.is_some() {
        return Err(HttpError::invalid("/reasoning", "can be given only with the new text (`content`)"));
    }
    let texts = [("/content", &new.content), ("/reasoning", &new.reasoning)];
    for (at, text) in texts {
        if text.as_ref().is_some_and(|text| text.chars().count() > LONGEST || text.contains('\0')) {
            return Err(HttpError::invalid(at, format!("use at most {LONGEST} letters, and no zero bytes")));
        }
    }
    let call = |call: BranchCall| ToolCall::new(String::new(), call.name, Value::Object(call.arguments).to_string());
    let said = writes.then(|| ChatReply {
        content: new.content.unwrap_or_default(),
        reasoning: new.reasoning,
        tool_calls: new.tool_calls.into_iter().map(call).collect(),
        ..ChatReply::default()
    });
    Ok(BranchRequest { agent, said, seq: new.seq, by })
}
