//! What authors try before they save it. Nothing here changes anything.

use axum::Json;
use axum::extract::State;
use domain::api::trials::{
    ImportInterface, ImportNote, ImportedDraft, ImportedTool, PlayScenario, Prompts, Rehearsal, RenderPrompts, Tried,
    TryCalls,
};
use domain::project::{DocumentId, Kind};
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::access::Author;
use super::app::App;
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path};
use domain::bad_input::BadInput;
use projects::documents::trial;
use projects::import::draft::Made;
use projects::import::imported::Imported;
use projects::import::{self, draft};

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
    params(("project" = String, Path), ("name" = String, Path)), request_body = TryCalls,
    responses((status = 200, body = Tried), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn attempt(
    State(app): State<App>,
    author: Author,
    Path((_, name)): Path<(String, String)>,
    audit: Audit,
    Body(wanted): Body<TryCalls>,
) -> Result<Json<Tried>> {
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

/// Read an interface as the draft of a playbook
///
/// Makes a tool for each operation of an OpenAPI document, or for each tool that an MCP server lists. Nothing is saved:
/// save the files with `PUT` when they are right.
#[utoipa::path(post, path = "/projects/{project}/playbooks/{name}/import", tag = "documents",
    params(("project" = String, Path), ("name" = String, Path)), request_body = ImportInterface,
    responses((status = 200, body = ImportedDraft), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn import(
    _: State<App>,
    _: Author,
    Path((_, name)): Path<(String, String)>,
    audit: Audit,
    Body(wanted): Body<ImportInterface>,
) -> Result<Json<ImportedDraft>> {
    audit.nothing_changed();
    named(Kind::Playbook, &name)?;
    let drafted = spawn_blocking(move || drafted(&name, wanted)).await.map_err(anyhow::Error::from)?;
    Ok(Json(drafted?))
}

fn place<'a>(app: &'a App, author: &Author) -> trial::Place<'a> {
    trial::Place { pool: app.pool(), cache: app.libraries(), project: author.project }
}

fn named(kind: Kind, name: &str) -> Result<DocumentId> {
    DocumentId::new(kind, name).map_err(HttpError::NotFound)
}

fn drafted(name: &str, wanted: ImportInterface) -> Result<ImportedDraft> {
    let imported = match (wanted.openapi, wanted.mcp, wanted.openai) {
        (Some(text), None, None) => import::openapi::read_text("openapi", &text)?,
        (None, Some(listed), None) => {
            import::mcp::import(&listing(listed)?).map_err(|why| HttpError::invalid("/mcp", why))?
        }
        (None, None, Some(list)) => import::openai::import(&list).map_err(|why| HttpError::invalid("/openai", why))?,
        _ => return Err(HttpError::invalid("", "give one of `openapi`, `mcp` and `openai`")),
    };
    let files = draft::files(&imported, name, "default");
    let faults = import::faults(&files, name);
    if faults.is_empty() {
        Ok(imported_draft(imported, files))
    } else {
        Err(anyhow::Error::from(BadInput(faults)).into())
    }
}

fn listing(listed: Value) -> Result<import::mcp::Listed> {
    let wrong = |why: String| HttpError::invalid("/mcp/tools", why);
    let Value::Object(mut listed) = listed else {
        return Err(HttpError::invalid("/mcp", "expected an object with `tools`, as `tools/list` answers"));
    };
    // With its envelope, as it stands in a log of the protocol.
    if let Some(Value::Object(result)) = listed.remove("result") {
        listed = result;
    }
    let tools = listed.remove("tools").ok_or_else(|| wrong("is missing".to_owned()))?;
    let Value::Array(tools) = tools else { return Err(wrong("expected a list of tools".to_owned())) };
    let tools = tools.iter().enumerate().map(|(i, tool)| {
        // By way of text: numbers that were read with all their digits cannot be read again otherwise.
        serde_json::from_str(&tool.to_string())
            .map_err(|why| HttpError::invalid(&format!("/mcp/tools/{i}"), format!("is not an MCP tool: {why}")))
    });
    Ok(import::mcp::Listed { title: String::new(), tools: tools.collect::<Result<_>>()? })
}

fn imported_draft(imported: Imported, files: Made) -> ImportedDraft {
    let note = |(about, what): (String, String)| ImportNote { about, what };
    let tools = imported.tools.into_iter();
    ImportedDraft {
        files,
        tools: tools
            .map(|tool| ImportedTool { name: tool.name, origin: tool.origin, reads: tool.reads, writes: tool.writes })
            .collect(),
        changed: imported.changed.into_iter().map(note).collect(),
        skipped: imported.skipped.into_iter().map(note).collect(),
    }
}
