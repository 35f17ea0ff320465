//! What authors try before they save it. Nothing here changes anything.

use axum::Json;
use axum::extract::State;
use domain::api::trials::{
    ImportInterface, ImportedDraft, PlayScenario, Prompts, Rehearsal, RenderPrompts, TrialCalls, TrialReport,
};
use domain::api::workflows::{DrawWorkflow, WorkflowGraph};
use domain::project::{DocumentId, Kind};

use super::access::{Author, ProjectAccess, Reader};
use super::app::App;
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path};
use projects::documents::trial;
use projects::import::ReadInterface;

/// Play the script of a scenario
///
/// Every role is played by `scripted`, so no model is asked. `drafts` are played as if they were saved.
#[utoipa::path(post, path = "/projects/{project}/scenarios/{name}/play", tag = "documents",
    params(("project" = String, Path), ("name" = String, Path)), request_body = PlayScenario,
    responses((status = 200, body = Rehearsal), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn play(
    State(app): State<App>,
    author: Author,
    Path((_, name)): Path<(String, String)>,
    audit: Audit,
    Body(wanted): Body<PlayScenario>,
) -> Result<Json<Rehearsal>> {
    audit.nothing_changed();
    named(Kind::Scenario, &name)?;
    Ok(Json(trial::play(&place(&app, &author), &name, wanted).await?))
}

/// Make calls of a playbook's tools
///
/// The calls are made one after another on the world of a scenario or on the base world, as the agent would make them.
/// Each answer says where its values come from. If a model simulates the tool, the last answer is the prompt that the
/// model would get; `scripted` answers earlier calls.
#[utoipa::path(post, path = "/projects/{project}/playbooks/{name}/try", tag = "documents",
    params(("project" = String, Path), ("name" = String, Path)), request_body = TrialCalls,
    responses((status = 200, body = TrialReport), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn attempt(
    State(app): State<App>,
    author: Author,
    Path((_, name)): Path<(String, String)>,
    audit: Audit,
    Body(wanted): Body<TrialCalls>,
) -> Result<Json<TrialReport>> {
    audit.nothing_changed();
    named(Kind::Playbook, &name)?;
    Ok(Json(trial::attempt(&place(&app, &author), &name, wanted).await?))
}

/// Render the prompt of each role of a playbook
///
/// For one of its scenarios, from the saved documents and `drafts`. Every role is played by `scripted`, so no model is
/// asked. A template with a syntax error is refused with its line.
#[utoipa::path(post, path = "/projects/{project}/playbooks/{name}/prompts", tag = "documents",
    params(("project" = String, Path), ("name" = String, Path)), request_body = RenderPrompts,
    responses((status = 200, body = Prompts), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn prompts(
    State(app): State<App>,
    author: Author,
    Path((_, name)): Path<(String, String)>,
    audit: Audit,
    Body(wanted): Body<RenderPrompts>,
) -> Result<Json<Prompts>> {
    audit.nothing_changed();
    named(Kind::Playbook, &name)?;
    Ok(Json(trial::prompts(&place(&app, &author), &name, wanted).await?))
}

/// Draw the steps of a workflow
///
/// Returns its steps and what each of them reads, from the saved documents and `drafts`. A workflow that does not compile is
/// refused with everything that is wrong with it.
#[utoipa::path(post, path = "/projects/{project}/workflows/{name}/graph", tag = "workflows",
    params(("project" = String, Path), ("name" = String, Path)), request_body = DrawWorkflow,
    responses((status = 200, body = WorkflowGraph), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn graph(
    State(app): State<App>,
    reader: Reader,
    Path((_, name)): Path<(String, String)>,
    audit: Audit,
    Body(wanted): Body<DrawWorkflow>,
) -> Result<Json<WorkflowGraph>> {
    audit.nothing_changed();
    named(Kind::Workflow, &name)?;
    Ok(Json(trial::graph(&place(&app, &reader), &name, wanted).await?))
}

/// Read an interface as the draft of a playbook
///
/// Makes a tool for each operation of an OpenAPI document, or for each tool that an MCP server lists. Nothing is saved:
/// save the files with `PUT` when they are right.
#[utoipa::path(post, path = "/projects/{project}/playbooks/{name}/import", tag = "documents",
    params(("project" = String, Path), ("name" = String, Path)), request_body = ImportInterface,
    responses((status = 200, body = ImportedDraft), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn import(
    State(app): State<App>,
    author: Author,
    Path((_, name)): Path<(String, String)>,
    audit: Audit,
    Body(wanted): Body<ImportInterface>,
) -> Result<Json<ImportedDraft>> {
    audit.nothing_changed();
    named(Kind::Playbook, &name)?;
    let read = ReadInterface { name, wanted };
    Ok(Json(app.sandbox().run(author.project, read).await?.map_err(HttpError::Invalid)?))
}

fn place<'a, N>(app: &'a App, who: &ProjectAccess<N>) -> trial::Place<'a> {
    trial::Place { pool: app.pool(), sandbox: app.sandbox(), project: who.project }
}

fn named(kind: Kind, name: &str) -> Result<DocumentId> {
    DocumentId::new(kind, name).map_err(HttpError::NotFound)
}
