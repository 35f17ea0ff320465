//! Headers that every answer has.

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use super::app::App;
use super::shown_once::NO_STORE;

const API: &str = "/api/v1/";

/// Nothing but what this server gives may run or be asked. WebAssembly is compiled, so it needs a word of its own.
macro_rules! policy {
    ($styles:literal) => {
        concat!(
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src ",
            $styles,
            "; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; \
             frame-ancestors 'none'"
        )
    };
}

const POLICY: &str = policy!("'self'");
/// Where the reference of the API is.
pub const REFERENCE: &str = "/api/docs";
/// Swagger UI is not ours, and puts styles into its markup. Scripts are as strict there as everywhere.
const REFERENCE_POLICY: &str = policy!("'self' 'unsafe-inline'");

/// Once somebody came by HTTPS, their browser comes by nothing else for a year.
const ONLY_HTTPS: HeaderValue = HeaderValue::from_static("max-age=31536000");

pub async fn strict(State(app): State<App>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let policy = if path.starts_with(REFERENCE) { REFERENCE_POLICY } else { POLICY };
    let of_api = path.starts_with(API);
    let mut response = next.run(request).await;
    if of_api {
        // What somebody may see is kept by nobody else.
        response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static(NO_STORE));
    }
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ] {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    if app.https() {
        response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, ONLY_HTTPS);
    }
    response
}
