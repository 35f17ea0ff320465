//! The OpenAPI document, made from the handlers.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use domain::api::documents::SchemaKind;
use domain::api::{FieldError, ProblemDetails};
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder, RefOr, Required};

use super::access::SESSION_COOKIE;
use super::{documents, limits};

/// What the document says beside the operations.
pub fn frame() -> OpenApi {
    // What only parameters are, and what only refusals hold.
    let mut components = ComponentsBuilder::new()
        .schema_from::<documents::Collection>()
        .schema_from::<SchemaKind>()
        .schema_from::<domain::api::ManifestFormat>()
        .schema_from::<ProblemDetails>()
        .schema_from::<FieldError>()
        .build();
    components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(SESSION_COOKIE)));
    components.add_security_scheme("session", cookie);
    let info = InfoBuilder::new().title("Groundstate").version(env!("CARGO_PKG_VERSION")).description(Some(
        "Makes fine-tuning data for agents that call tools.\n\nThe scopes of `token` say what an operation needs: read, \
         author, run or admin in the project, `installation` for administrators of the installation, or `join` for the \
         join tokens of workers. Errors are problem documents (RFC 9457) whose `errors` point into the input. Changes \
         that are made with the session's cookie need the header X-CSRF-Token.",
    ));
    OpenApiBuilder::new().info(info.build()).components(Some(components)).build()
}

/// Says of each operation that may be sent again with an Idempotency-Key that it may.
pub fn with_idempotency_keys(document: &mut OpenApi) {
    for (path, item) in &mut document.paths.paths {
        let operation = item.post.as_mut().filter(|operation| operation.security.is_some());
        if let Some(Operation { parameters, .. }) = operation.filter(|_| !limits::is_a_question(path)) {
            parameters.get_or_insert_default().push(RefOr::T(idempotency_key()));
        }
    }
}

fn idempotency_key() -> Parameter {
    let key = ObjectBuilder::new().schema_type(Type::String).pattern(Some(r"^[!-~]{1,200}$"));
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "A key of your choice, a new one for each change. If the same request is sent again with it within a day, it \
             is not done again, and the first answer is repeated with the header Idempotency-Replayed. Another request \
             with the same key gets 422. While the first request is being done, or if its answer held a secret and was \
             not stored, the answer is 409.",
        ))
        .schema(Some(key))
        .build()
}

/// The document, as it was written once: nobody signs in for it.
pub async fn serve(State(document): State<Bytes>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], document)
}
