//! All paths that are not of the API: the files of the web app, and its first page.

use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use server::http::assets::{content_type, has_hashed_name, serve};

async fn get(path: &str, headers: &[(HeaderName, &str)]) -> Response {
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect();
    serve(Method::GET, path.parse().unwrap(), headers).await
}

#[tokio::test]
async fn pages_of_the_app_are_answered_with_its_first_page() {
    for path in ["/", "/runs/7", "/conversations/1.2"] {
        let response = get(path, &[(ACCEPT, "text/html,*/*")]).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
        assert_eq!(response.headers()[CACHE_CONTROL], "no-cache");
    }
}

#[tokio::test]
async fn missing_files_and_api_paths_are_not_found() {
    for path in ["/api", "/api/v1/none", "/missing.js", "/.inputs", "/../Cargo.toml", "/a/../../index.html"] {
        assert_eq!(get(path, &[]).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn what_the_browser_has_is_not_sent_again() {
    let first = get("/", &[]).await;
    let etag = first.headers()[ETAG].to_str().unwrap().to_owned();
    let second = get("/", &[(IF_NONE_MATCH, &format!("W/\"old\", W/{etag}"))]).await;
    assert_eq!(second.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(second.headers()[ETAG].to_str().unwrap(), etag);
}

#[tokio::test]
async fn only_get_and_head_are_allowed() {
    let response = serve(Method::POST, "/".parse().unwrap(), HeaderMap::new()).await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[test]
fn wasm_has_the_type_that_browsers_ask_for() {
    assert_eq!(content_type("app-0123456789abcdef.wasm", "application/octet-stream"), "application/wasm");
}

#[test]
fn only_hashed_names_are_kept_for_ever() {
    assert!(has_hashed_name("app-0123456789abcdef.wasm"));
    assert!(has_hashed_name("app-0123456789abcdef/snippets/leptos-1/inline0.js"));
    assert!(!has_hashed_name("snippets/leptos-1/inline0.js"));
    assert!(!has_hashed_name("index.html"));
}
