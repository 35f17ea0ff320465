//! The OpenAPI document, made from the handlers.

use axum::Json;
use axum::extract::State;
use domain::api::{FieldError, ProblemDetails};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder};

use super::access::SESSION_COOKIE;
use super::{corpora, documents, schemas};

/// What the document says beside the operations.
pub fn frame() -> OpenApi {
    // What only parameters are, and what only refusals hold.
    let mut components = ComponentsBuilder::new()
        .schema_from::<documents::Collection>()
        .schema_from::<schemas::Shape>()
        .schema_from::<corpora::manifest::ManifestFormat>()
        .schema_from::<ProblemDetails>()
        .schema_from::<FieldError>()
        .build();
    components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(SESSION_COOKIE)));
    components.add_security_scheme("session", cookie);
    let info = InfoBuilder::new().title("Groundstate").version(env!("CARGO_PKG_VERSION")).description(Some(
        "Makes fine-tuning data for agents that call tools.\n\nThe scopes of `token` say what an operation needs: read, \
         author, run or admin in the project, `installation`, for administrators of all, or `join`, for the join tokens of \
         workers. Errors are problem documents \
         (RFC 9457) whose `errors` point into what was sent. Changes that are asked for with the session's cookie need \
         the header X-CSRF-Token.",
    ));
    OpenApiBuilder::new().info(info.build()).components(Some(components)).build()
}

/// The document.
pub async fn serve(State(document): State<OpenApi>) -> Json<OpenApi> {
    Json(document)
}
