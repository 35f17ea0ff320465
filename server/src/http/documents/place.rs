//! Which document a path is about, and which version of it a request knows.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use domain::project::{DocumentId, Kind};
use serde::Deserialize;
use std::collections::HashMap;
use strum::VariantArray;
use utoipa::ToSchema;

use crate::http::app::App;
use crate::http::error::{HttpError, Result};
use crate::http::extract::Path;

/// A kind of document, as it stands in URLs.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Collection {
    Playbooks,
    Scenarios,
    Personas,
    Judges,
    Workflows,
}

impl From<Collection> for Kind {
    fn from(collection: Collection) -> Self {
        match collection {
            Collection::Playbooks => Self::Playbook,
            Collection::Scenarios => Self::Scenario,
            Collection::Personas => Self::Persona,
            Collection::Judges => Self::Judge,
            Collection::Workflows => Self::Workflow,
        }
    }
}

/// The document that `{kind}/{name}` names, whether there is one or not.
pub struct Place {
    pub id: DocumentId,
}

impl FromRequestParts<App> for Place {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(params) = Path::<HashMap<String, String>>::from_request_parts(parts, app).await?;
        let part = |name: &str| params.get(name).map(String::as_str).unwrap_or_default();
        let kind = Kind::VARIANTS.iter().copied().find(|kind| kind.folder() == part("kind"));
        let kind = kind.ok_or_else(|| HttpError::NotFound(format!("there is nothing at {}", parts.uri.path())))?;
        let id = DocumentId::new(kind, part("name")).map_err(HttpError::NotFound)?;
        Ok(Self { id })
    }
}

/// The version that a change was made from: `If-Match`, or what the body says.
pub fn base(headers: &HeaderMap, in_body: Option<i32>) -> Result<Option<i32>> {
    let Some(header) = headers.get(header::IF_MATCH) else { return Ok(in_body) };
    let text = header.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(in_body);
    }
    let version = text.trim_start_matches("W/").trim_matches('"').parse();
    let version =
        version.map_err(|_| HttpError::BadRequest(format!("If-Match: {text:?} is not a version, such as \"3\"")))?;
    if in_body.is_some_and(|other| other != version) {
        return Err(HttpError::invalid("/base_version", "differs from the version in If-Match"));
    }
    Ok(Some(version))
}

pub fn tag(version: i32) -> HeaderMap {
    let value = HeaderValue::from_str(&format!("\"{version}\"")).ok();
    value.map(|value| (header::ETAG, value)).into_iter().collect()
}
