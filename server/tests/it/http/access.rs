//! Who may do what: every documented operation, asked by nobody and by each role.

mod apart;
pub mod things;

use domain::access::{Role, Scope};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use strum::VariantArray;

use super::answers::player;
use super::archive::filled;
use super::{TestApp, somebody, token};

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

/// Who asks here, whoever may do less before whoever may do more: what somebody destroys was refused to others before.
async fn callers(app: &TestApp) -> Vec<(&'static str, TestApp)> {
    let stranger = somebody(&app.pool, "stranger", false).await;
    let root = somebody(&app.pool, "other-root", true).await;
    let mut callers = vec![
        ("nobody", app.with_token(String::new())),
        ("stranger", app.with_token(token(&app.pool, stranger, &[Scope::Admin]).await)),
        ("reading root", app.with_token(token(&app.pool, root, &[Scope::Read]).await)),
    ];
    for role in Role::VARIANTS.iter().copied() {
        callers.push((role.into_str(), app.member(role).await));
    }
    callers.push(("administrator", app.with_token(token(&app.pool, root, &[Scope::Admin]).await)));
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
        name => name.parse().is_ok_and(|needed: Scope| highest.is_some_and(|highest| needed <= highest)),
    }
}

/// Paths that are about no project: whoever is signed in may ask.
const OWN: [&str; 9] = [
    "/api/v1/session",
    "/api/v1/tokens",
    "/api/v1/tokens/{token}",
    "/api/v1/projects",
    "/api/v1/models",
    "/api/v1/models/{model}/probe",
    "/api/v1/players",
    "/api/v1/schemas/{kind}",
    "/api/v1/workers",
];

impl Operation {
    /// Whether whoever is signed in may ask.
    fn is_own(&self) -> bool {
        OWN.contains(&self.path.as_str()) && self.scope.as_deref() != Some("installation")
    }

    /// What it is answered. A body that could be read says so much as nothing: it is the caller who is let in or not.
    async fn asked(&self, caller: &TestApp, path: &str) -> StatusCode {
        let request = caller.request(self.method.clone(), path);
        let request = if self.method.is_safe() { request } else { request.json(&json!({})) };
        request.send().await.unwrap().status()
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn every_operation_lets_in_whom_it_says(pool: PgPool) {
    let app = filled(&pool).await;
    // Whoever opens an episode waits for its user.
    let _player = player(&pool, 4);
    let callers = callers(&app).await;
    let author = callers.iter().find(|(name, _)| *name == "author").map(|(_, caller)| caller).unwrap();
    let things = things::made(&app, author, "stranger").await;
    let mut operations = operations();
    // What others ask about is there until all have asked.
    operations.sort_by_key(|operation| operation.method == Method::DELETE);
    let mut wrong = Vec::new();
    for operation in &operations {
        let Operation { method, path, scope } = operation;
        let filled = things.iter().fold(path.clone(), |path, (name, thing)| path.replace(name, thing));
        assert!(!filled.contains('{'), "{filled}: make a thing of that kind");
        let mut deleted = false;
        for (name, caller) in &callers {
            let status = operation.asked(caller, &filled).await;
            let Some(scope) = &scope else {
                if status == StatusCode::UNAUTHORIZED {
                    wrong.push(format!("{method} {path} by {name}: {status}, though anybody may ask"));
                }
                continue;
            };
            let expected = if *name == "nobody" || scope == "join" {
                // Only join tokens open what needs one, and nobody here has one.
                status == StatusCode::UNAUTHORIZED
            } else if operation.is_own() || may(name, scope) {
                // It is there, until the first of those who may has deleted it.
                let there = status != StatusCode::NOT_FOUND || deleted;
                deleted |= *method == Method::DELETE && status.is_success();
                there
                    && !status.is_server_error()
                    && status != StatusCode::UNAUTHORIZED
                    && (status != StatusCode::FORBIDDEN || scope == "session")
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

/// What the document does not hold: what watches the process, the document itself, and its reference. It is about nobody.
#[sqlx::test(migrations = "../migrations")]
async fn what_is_about_nobody_is_open_to_all(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    for caller in [app.with_token(String::new()), app.member(Role::Viewer).await] {
        for path in ["/healthz", "/readyz", "/metrics", "/api/v1/openapi.json", "/api/docs/"] {
            assert_eq!(caller.status(path).await, StatusCode::OK, "{path}");
        }
    }
}

/// Nobody learns by the answer what there is in projects that are not theirs.
#[sqlx::test(migrations = "../migrations")]
async fn what_is_not_there_is_there_for_nobody(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let callers = callers(&app).await;
    let mut wrong = Vec::new();
    for operation in operations() {
        let about_a_project = match operation.scope.as_deref() {
            Some("installation" | "join" | "session" | "") | None => false,
            Some(_) => !operation.is_own(),
        };
        if !about_a_project {
            continue;
        }
        let mut parts: Vec<&str> = operation.path.split('/').collect();
        for part in parts.iter_mut().filter(|part| part.starts_with('{')) {
            *part = "00000000-0000-0000-0000-000000000000";
        }
        let nowhere = parts.join("/");
        for (name, caller) in callers.iter().filter(|(name, _)| *name != "nobody") {
            let status = operation.asked(caller, &nowhere).await;
            if status != StatusCode::NOT_FOUND {
                wrong.push(format!("{} {} by {name}: {status}", operation.method, operation.path));
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
    let other = store::projects::named(&mut db, "other").await.unwrap().unwrap();
    for project in [store::projects::DEFAULT, other.id] {
        store::projects::set_role(&mut db, project, user, "admin").await.unwrap();
    }
    let reading = app.with_token(token(&pool, user, &[Scope::Read]).await);
    assert_eq!(reading.status("/api/v1/projects/other").await, StatusCode::OK);
    let (status, problem) = reading.send(Method::PATCH, "/api/v1/projects/other", &json!({"title": "Mine"})).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert_eq!(problem["detail"], "this needs the scope admin, which the token does not have; make another token");
    // Only of one project.
    let secret = server::secret::make("gs_").unwrap();
    let narrow = store::tokens::Token {
        id: store::clock::id(),
        user_id: user,
        project_id: Some(other.id),
        name: "narrow".into(),
        scopes: vec!["admin".into()],
        created_at: store::clock::now(),
        expires_at: None,
        last_used_at: None,
    };
    store::tokens::insert(&mut db, &narrow, &server::secret::hash(&secret)).await.unwrap();
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
