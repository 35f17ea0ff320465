//! What documents may hold, for editors.

use axum::Json;
use axum::extract::State;
use domain::document;
use domain::judge::Judge;
use domain::persona::{PersonaModel, Profile};
use domain::playbook::Playbook;
use domain::scenario::Scenario;
use serde::Deserialize;
use serde_json::Value;
use sqlx::PgPool;
use utoipa::ToSchema;

use super::access::SignedIn;
use super::error::{Problems, Result};
use super::extract::Path;

/// A YAML file of a project.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// `playbooks/NAME/playbook.yaml`
    Playbook,
    Scenario,
    /// `personas/profiles/NAME.yaml`
    Persona,
    /// `personas/model.yaml`
    PersonaModel,
    /// `judges/NAME/judge.yaml`
    Judge,
}

/// The JSON Schema of a kind of document
#[utoipa::path(get, path = "/schemas/{kind}", tag = "documents", params(("kind" = Shape, Path)),
    responses((status = 200, body = Value), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(_): State<PgPool>, _: SignedIn, Path(kind): Path<Shape>) -> Result<Json<Value>> {
    Ok(Json(match kind {
        Shape::Playbook => document::schema::<Playbook>(),
        Shape::Scenario => document::schema::<Scenario>(),
        Shape::Persona => document::schema::<Profile>(),
        Shape::PersonaModel => document::schema::<PersonaModel>(),
        Shape::Judge => document::schema::<Judge>(),
    }))
}
