//! What documents may hold, for editors.

use axum::Json;
use axum::extract::State;
use domain::api::documents::SchemaKind;
use domain::document;
use domain::judge::Judge;
use domain::persona::{PersonaModel, Profile};
use domain::playbook::Playbook;
use domain::scenario::Scenario;
use domain::workflow::Workflow;
use serde_json::Value;
use sqlx::PgPool;

use super::access::SignedIn;
use super::error::{Problems, Result};
use super::extract::Path;

/// The JSON Schema of a kind of document
#[utoipa::path(get, path = "/schemas/{kind}", tag = "documents", params(("kind" = SchemaKind, Path)),
    responses((status = 200, body = Value), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(_): State<PgPool>, _: SignedIn, Path(kind): Path<SchemaKind>) -> Result<Json<Value>> {
    Ok(Json(match kind {
        SchemaKind::Playbook => document::schema::<Playbook>(),
        SchemaKind::Scenario => document::schema::<Scenario>(),
        SchemaKind::Persona => document::schema::<Profile>(),
        SchemaKind::PersonaModel => document::schema::<PersonaModel>(),
        SchemaKind::Judge => document::schema::<Judge>(),
        SchemaKind::Workflow => document::schema::<Workflow>(),
    }))
}
