//! `/api/v1/invitations`: one-time links.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use server::secret;
use sqlx::PgPool;
use store::clock;
use store::invitations;
use store::users;

use super::{TestApp, somebody};

const LOOK: &str = "/api/v1/invitations/look";
const ACCEPT: &str = "/api/v1/invitations/accept";

/// The server, asked by nobody in particular.
async fn anybody(pool: &PgPool) -> TestApp {
    TestApp::start(pool).await.with_token(String::new())
}

/// A link to the first administrator's form.
async fn first_link(pool: &PgPool) -> String {
    let (secret, now) = (secret::make("").unwrap(), clock::now());
    let mut db = pool.acquire().await.unwrap();
    invitations::insert(&mut db, &secret::hash(&secret), None, now, now + chrono::TimeDelta::days(1)).await.unwrap();
    secret
}

#[sqlx::test(migrations = "../migrations")]
async fn a_link_says_for_whom_it_is_and_stays_until_it_is_used(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let made: Value = app.post("/api/v1/users", &json!({"name": "mira"})).await;
    let link = json!({"secret": made["secret"]});
    let anybody = app.with_token(String::new());
    for _ in 0..2 {
        assert_eq!(anybody.send(Method::POST, LOOK, &link).await, (StatusCode::OK, json!({"name": "mira"})));
    }
    let first = json!({"secret": first_link(&pool).await});
    assert_eq!(anybody.send(Method::POST, LOOK, &first).await, (StatusCode::OK, json!({})));

    let accepted = json!({"secret": made["secret"], "password": "violet tractor ninety"});
    assert_eq!(anybody.send(Method::POST, ACCEPT, &accepted).await.0, StatusCode::OK);
    assert_eq!(anybody.send(Method::POST, LOOK, &link).await.0, StatusCode::FORBIDDEN);
    // Looking is no change.
    let log: Value = app.json("/api/v1/audit").await;
    let actions: Vec<_> =
        log["items"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["POST /api/v1/invitations/accept", "POST /api/v1/users"]);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_link_of_nobody_opens_nothing(pool: PgPool) {
    let app = anybody(&pool).await;
    for secret in ["", "0", "' OR 1=1 --", &"0".repeat(64)] {
        let (status, problem) = app.send(Method::POST, LOOK, &json!({"secret": secret})).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{secret}");
        assert_eq!(problem["detail"], "the link is used up or too old; ask for another one");
    }
    let id = somebody(&pool, "gone", false).await;
    let mut db = pool.acquire().await.unwrap();
    let mut user = users::get(&mut db, id).await.unwrap().unwrap();
    let link = server::people::invite(&mut db, &user).await.unwrap();
    user.disabled_at = Some(clock::now());
    users::update(&mut db, &user).await.unwrap();
    assert_eq!(app.send(Method::POST, LOOK, &json!({"secret": link.secret})).await.0, StatusCode::FORBIDDEN);
}
