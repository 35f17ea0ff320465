//! Who may do what: every documented operation, asked by nobody and by each role.

use std::collections::BTreeMap;

use domain::access::{Role, Scope};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{TestApp, somebody, token};
use crate::support::play::{HELP, played, stories};

/// An operation of the document: method, path, and the scope that it says it needs; `None` if anybody may ask.
struct Operation {
    method: Method,
    path: String,
    scope: Option<String>,
}

fn operations() -> Vec<Operation> {
    let document = serde_json::to_value(server::http::document()).unwrap();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let security = operation["security"].as_array();
            let scope = security.map(|ways| {
                let of_token =
                    ways.iter().find_map(|way| Some(way.get("token")?.get(0).map_or("", |s| s.as_str().unwrap())));
                of_token.unwrap_or("session").to_owned()
            });
            let method = method.to_uppercase().parse().unwrap();
            all.push(Operation { method, path: path.clone(), scope });
        }
    }
    all
}

/// What asks here, by the most that it may do.
async fn callers(app: &TestApp) -> BTreeMap<&'static str, TestApp> {
    let mut callers = BTreeMap::from([("nobody", app.with_token(String::new()))]);
    for role in Role::ALL {
        callers.insert(role.as_str(), app.member(role).await);
    }
    let stranger = somebody(&app.pool, "stranger", false).await;
    callers.insert("stranger", app.with_token(token(&app.pool, stranger, &[Scope::Admin]).await));
    let root = somebody(&app.pool, "other-root", true).await;
    callers.insert("reading root", app.with_token(token(&app.pool, root, &[Scope::Read]).await));
    callers.insert("administrator", app.with_token(token(&app.pool, root, &[Scope::Admin]).await));
    callers
}

/// Whether a caller may, by the scope that an operation names. Nothing is asked of a body here: whoever may gets
/// another answer than 401 and 403.
fn may(caller: &str, scope: &str) -> bool {
    let highest = match caller {
        "viewer" | "reading root" => Some(Scope::Read),
        "author" => Some(Scope::Author),
        "runner" => Some(Scope::Run),
        "admin" | "administrator" => Some(Scope::Admin),
        _ => None,
    };
    match scope {
        "installation" => caller == "administrator",
        // Anybody who is signed in.
        "" | "session" => caller != "nobody",
        name => Scope::named(name).is_some_and(|needed| highest.is_some_and(|highest| needed <= highest)),
    }
}

/// Paths that are about no project: whoever is signed in may ask.
const OWN: [&str; 7] = [
    "/api/v1/session",
    "/api/v1/tokens",
    "/api/v1/tokens/{token}",
    "/api/v1/projects",
    "/api/v1/models",
    "/api/v1/players",
    "/api/v1/workers",
];

#[sqlx::test(migrations = "../migrations")]
async fn every_operation_lets_in_whom_it_says(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP], 1, 1, &[]).await;
    let conversation = stories(&run).await[0].planned.id.to_string();
    let callers = callers(&app).await;
    let mut wrong = Vec::new();
    for Operation { method, path, scope } in operations() {
        let known = [
            ("project", "default".to_owned()),
            ("run", run.run.id.to_string()),
            ("conversation", conversation.clone()),
        ];
        // What is not there is asked for by whoever may with 404, and so it is by everybody else.
        let filled = known.iter().fold(path.clone(), |path, (name, value)| path.replace(&format!("{{{name}}}"), value));
        let there = !filled.contains('{') || filled.contains("default");
        let filled = filled.replace(['{', '}'], "0");
        for (name, caller) in &callers {
            // A body of the wrong type is refused after who asks was looked at, and changes nothing.
            let answer =
                caller.request(method.clone(), &filled).header("content-type", "text/none").body("x").send().await;
            let status = answer.unwrap().status();
            let Some(scope) = &scope else {
                if status == StatusCode::UNAUTHORIZED {
                    wrong.push(format!("{method} {path} by {name}: {status}, though anybody may ask"));
                }
                continue;
            };
            if scope == "join" {
                // Only join tokens open it, and nobody here has one.
                if status != StatusCode::UNAUTHORIZED {
                    wrong.push(format!("{method} {path} (join) by {name}: {status}"));
                }
                continue;
            }
            let own = OWN.contains(&path.as_str()) && scope != "installation";
            let expected = if *name == "nobody" {
                status == StatusCode::UNAUTHORIZED
            } else if !there && scope != "installation" && !own {
                status == StatusCode::NOT_FOUND
            } else if own || may(name, scope) {
                !matches!(status, StatusCode::UNAUTHORIZED) && (status != StatusCode::FORBIDDEN || scope == "session")
            } else if *name == "stranger" && scope != "installation" {
                // It is not theirs to know that it is there.
                status == StatusCode::NOT_FOUND
            } else {
                status == StatusCode::FORBIDDEN
            };
            if !expected {
                wrong.push(format!("{method} {path} ({scope}) by {name}: {status}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_token_can_do_no_more_than_its_scopes_and_its_project(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let _: Value = app.post("/api/v1/projects", &json!({"name": "other"})).await;
    let user = somebody(&pool, "ann", false).await;
    let mut db = pool.acquire().await.unwrap();
    let other = server::store::projects::named(&mut db, "other").await.unwrap().unwrap();
    for project in [server::store::projects::DEFAULT, other.id] {
        server::store::projects::set_role(&mut db, project, user, "admin").await.unwrap();
    }
    let reading = app.with_token(token(&pool, user, &[Scope::Read]).await);
    assert_eq!(reading.status("/api/v1/projects/other").await, StatusCode::OK);
    let (status, problem) = reading.send(Method::PATCH, "/api/v1/projects/other", &json!({"title": "Mine"})).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert_eq!(problem["detail"], "this needs the scope admin, which the token has not; make another token");
    // Only of one project.
    let secret = server::secret::make("gs_").unwrap();
    let narrow = server::store::tokens::Token {
        id: server::clock::id(),
        user_id: user,
        project_id: Some(other.id),
        name: "narrow".into(),
        scopes: vec!["admin".into()],
        created_at: server::clock::now(),
        expires_at: None,
        last_used_at: None,
    };
    server::store::tokens::insert(&mut db, &narrow, &server::secret::hash(&secret)).await.unwrap();
    let narrow = app.with_token(secret);
    assert_eq!(narrow.status("/api/v1/projects/other").await, StatusCode::OK);
    assert_eq!(narrow.status("/api/v1/projects/default").await, StatusCode::NOT_FOUND);
    let mine: Value = narrow.json("/api/v1/projects").await;
    assert_eq!(mine.as_array().unwrap().len(), 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn tokens_that_are_none(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let user = somebody(&pool, "bob", true).await;
    let mut db = pool.acquire().await.unwrap();
    let (good, old) = (token(&pool, user, &[Scope::Read]).await, token(&pool, user, &[Scope::Read]).await);
    let hash = server::secret::hash(&old);
    sqlx::query("UPDATE api_tokens SET expires_at = now() - interval '1 second' WHERE secret_hash = $1")
        .bind(hash)
        .execute(&mut *db)
        .await
        .unwrap();
    assert_eq!(app.with_token(good.clone()).status("/api/v1/session").await, StatusCode::OK);
    for wrong in ["gs_nothing", old.as_str(), &good[..60], "' OR 1=1 --"] {
        let problem = app.with_token(wrong.to_owned()).problem("/api/v1/session", StatusCode::UNAUTHORIZED).await;
        assert_eq!(problem, "sign in, or send a token: `Authorization: Bearer gs_...`");
    }
    let basic = app.with_token(String::new()).request(Method::GET, "/api/v1/session").basic_auth("a", Some("b"));
    assert_eq!(basic.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    // Whoever is disabled is out at once, by every way.
    let (status, _) = app.send(Method::PATCH, "/api/v1/users/bob", &json!({"disabled": true})).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(app.with_token(good).status("/api/v1/session").await, StatusCode::UNAUTHORIZED);
}
