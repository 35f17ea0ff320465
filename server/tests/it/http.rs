//! The HTTP side, driven over a socket. Modules mirror the URLs.

mod conversations;
mod metrics;
mod other;
mod runs;
mod worlds;

use domain::api::ProblemDetails;
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use sqlx::PgPool;
use tokio::net::TcpListener;

/// The app on a loopback port.
pub struct TestApp {
    url: String,
}

impl TestApp {
    pub async fn start(pool: &PgPool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = server::http::router(pool.clone());
        tokio::spawn(async { axum::serve(listener, router).await });
        Self { url }
    }

    async fn get(&self, path: &str) -> Response {
        reqwest::get(format!("{}{path}", self.url)).await.unwrap()
    }

    /// What stands there, which must be fine.
    pub async fn json<T: DeserializeOwned>(&self, path: &str) -> T {
        let response = self.get(path).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        response.json().await.unwrap()
    }

    async fn text(&self, path: &str) -> String {
        self.get(path).await.text().await.unwrap()
    }

    async fn status(&self, path: &str) -> StatusCode {
        self.get(path).await.status()
    }

    /// The detail of the problem document that is the answer.
    async fn problem(&self, path: &str, status: StatusCode) -> String {
        let response = self.get(path).await;
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.headers()["content-type"], "application/problem+json", "{path}");
        let problem: ProblemDetails = response.json().await.unwrap();
        assert_eq!((problem.status, problem.kind.as_str()), (status.as_u16(), "about:blank"));
        assert_eq!(Some(problem.title.as_str()), status.canonical_reason());
        problem.detail
    }
}
