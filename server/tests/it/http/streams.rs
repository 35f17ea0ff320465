//! Streams of events end when whoever reads them may no longer do so.

use std::time::Duration;

use domain::access::{Role, Scope};
use reqwest::Response;
use sqlx::PgPool;
use store::projects;

use super::{TestApp, somebody, token};
use crate::support::play::{HELP, planned};

/// Longer than until the next look, on a slow machine.
const SOON: Duration = Duration::from_secs(30);

/// Whether a stream goes on for a while.
async fn goes_on(mut stream: Response) -> bool {
    let to_the_end = async { while stream.chunk().await.unwrap_or_default().is_some() {} };
    tokio::time::timeout(Duration::from_secs(8), to_the_end).await.is_err()
}

/// Whether a stream ends soon.
async fn ends(mut stream: Response) -> bool {
    let to_the_end = async { while stream.chunk().await.unwrap_or_default().is_some() {} };
    tokio::time::timeout(SOON, to_the_end).await.is_ok()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_stream_ends_with_the_right_to_read_it(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let path = format!("/api/v1/runs/{}/progress", planned(&pool, &[HELP], 1, 1, &[]).await.control.run.id);
    for end in [
        "DELETE FROM memberships WHERE user_id = $1",
        "UPDATE users SET disabled_at = now() WHERE id = $1",
        "DELETE FROM api_tokens WHERE user_id = $1",
        "UPDATE api_tokens SET expires_at = now() WHERE user_id = $1",
    ] {
        let user = somebody(&pool, &format!("reader-{}", end.len()), false).await;
        projects::set_role(&mut pool.acquire().await.unwrap(), projects::DEFAULT, user, Role::Viewer.into_str())
            .await
            .unwrap();
        let reader = app.with_token(token(&pool, user, &[Scope::Read]).await);
        let stream = reader.get(&path).await;
        assert_eq!(stream.status(), 200);
        sqlx::query(end).bind(user).execute(&pool).await.unwrap();
        assert!(ends(stream).await, "it goes on after {end}");
    }
    assert!(goes_on(app.get(&path).await).await, "who may read it reads on");
}
