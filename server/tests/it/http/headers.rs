//! What every answer says beside its body.

use reqwest::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use sqlx::PgPool;

use super::TestApp;

async fn policy(app: &TestApp, path: &str) -> String {
    app.get(path).await.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned()
}

#[sqlx::test(migrations = "../migrations")]
async fn only_the_reference_may_have_styles_in_its_markup(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let styles = "style-src 'self' 'unsafe-inline';";
    for (path, loose) in
        [("/api/docs/", true), ("/", false), ("/sign-in", false), ("/api/v1/session", false), ("/none", false)]
    {
        let policy = policy(&app, path).await;
        assert_eq!(policy.contains(styles), loose, "{path}: {policy}");
        assert!(!policy.replacen(styles, "", 1).contains("unsafe-inline"), "{path}: {policy}");
        assert!(policy.contains("script-src 'self' 'wasm-unsafe-eval';"), "{path}: {policy}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn nobody_keeps_what_the_api_answers(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    for path in ["/api/v1/session", "/api/v1/users", "/api/v1/projects/default/runs", "/api/v1/none"] {
        assert_eq!(app.get(path).await.headers()[CACHE_CONTROL], "no-store", "{path}");
    }
}
