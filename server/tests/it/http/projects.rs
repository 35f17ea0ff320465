//! /api/v1/projects and their members

use domain::access::Role;
use domain::api::{AuditEntry, MemberSummary, Page, ProjectSummary};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{TestApp, somebody};

#[sqlx::test(migrations = "../migrations")]
async fn projects_and_members(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let made: ProjectSummary = app.post("/api/v1/projects", &json!({"name": "bank"})).await;
    assert_eq!((made.name.as_str(), made.title.as_str()), ("bank", "bank"));
    assert_eq!(app.send(Method::POST, "/api/v1/projects", &json!({"name": "bank"})).await.0, StatusCode::CONFLICT);
    for name in ["", "A", "a b", "../x", &"a".repeat(65)] {
        assert_eq!(app.refused("/api/v1/projects", &json!({"name": name})).await[0].0, "/name", "{name}");
    }
    somebody(&pool, "ann", false).await;
    let path = "/api/v1/projects/bank/members/ann";
    let (status, member) = app.send(Method::PUT, path, &json!({"role": "author"})).await;
    assert_eq!((status, member), (StatusCode::OK, json!({"user": "ann", "role": "author"})));
    let (status, problem) = app.send(Method::PUT, path, &json!({"role": "king"})).await;
    assert_eq!((status, problem["errors"][0]["pointer"].as_str()), (StatusCode::UNPROCESSABLE_ENTITY, Some("/role")));
    let unknown = app.send(Method::PUT, "/api/v1/projects/bank/members/zoe", &json!({"role": "author"})).await;
    assert_eq!((unknown.0, unknown.1["detail"].as_str()), (StatusCode::NOT_FOUND, Some("there is no user zoe")));
    let members: Vec<MemberSummary> = app.json("/api/v1/projects/bank/members").await;
    assert_eq!(members, [MemberSummary { user: "ann".into(), role: Role::Author }]);
    assert_eq!(app.send(Method::DELETE, path, &json!({})).await.0, StatusCode::NO_CONTENT);
    assert_eq!(app.send(Method::DELETE, path, &json!({})).await.0, StatusCode::NOT_FOUND);
    let log: Page<AuditEntry> = app.json("/api/v1/projects/bank/audit").await;
    let actions: Vec<&str> = log.items.iter().map(|entry| entry.action.as_str()).collect();
    let member = "/api/v1/projects/{project}/members/{user}";
    assert_eq!(actions, [format!("DELETE {member}"), format!("PUT {member}"), "POST /api/v1/projects".to_owned()]);
    assert_eq!((log.items[1].subject.as_str(), &log.items[1].detail), ("bank/ann", &json!({"role": "author"})));
}

#[sqlx::test(migrations = "../migrations")]
async fn bodies_that_cannot_be_read(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let send = async |kind: &str, body: Vec<u8>| {
        let request = app.request(Method::POST, "/api/v1/projects").header("content-type", kind).body(body);
        let answer = request.send().await.unwrap();
        let status = answer.status();
        (status, answer.json::<Value>().await.unwrap()["detail"].as_str().unwrap().to_owned())
    };
    for (kind, body, status) in [
        ("text/plain", b"{}".to_vec(), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("application/json", b"{".to_vec(), StatusCode::BAD_REQUEST),
        ("application/json", b"{\"name\": \"\xff\"}".to_vec(), StatusCode::BAD_REQUEST),
        ("application/json", b"{\"name\": \"a\\u0000b\"}".to_vec(), StatusCode::BAD_REQUEST),
        ("application/json", b"[".repeat(100_000), StatusCode::BAD_REQUEST),
        ("application/json", b"{\"name\": 1}".to_vec(), StatusCode::UNPROCESSABLE_ENTITY),
        ("application/json", b"{}".to_vec(), StatusCode::UNPROCESSABLE_ENTITY),
        ("application/json", vec![b' '; 5 << 20], StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let (answered, detail) = send(kind, body).await;
        assert_eq!(answered, status, "{detail}");
    }
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM projects").fetch_one(&pool).await.unwrap();
    assert_eq!(count, 1, "nothing was changed");
}

#[sqlx::test(migrations = "../migrations")]
async fn every_answer_has_strict_headers(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    for path in ["/", "/api/v1/session", "/api/v1/nothing", "/healthz", "/api/docs/"] {
        let answer = app.get(path).await;
        let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let policy = header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        let scripts = policy.split(';').find(|part| part.trim().starts_with("script-src")).unwrap();
        assert!(!scripts.contains("unsafe-inline"), "{scripts}");
        assert_eq!(header("x-content-type-options").as_deref(), Some("nosniff"), "{path}");
        for (name, value) in [
            ("referrer-policy", "no-referrer"),
            ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
        ] {
            assert_eq!(header(name).as_deref(), Some(value), "{path}");
        }
        assert_eq!(header("strict-transport-security"), None, "nobody may come by HTTPS here");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn the_document_of_the_api_is_the_committed_one(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let served: Value = app.json("/api/v1/openapi.json").await;
    let committed = std::fs::read_to_string(crate::support::project().join("docs/openapi.json")).unwrap();
    let committed: Value = serde_json::from_str(&committed).unwrap();
    // Both in full would be a thousand lines.
    assert!(served == committed, "write it anew with `groundstate openapi > docs/openapi.json`");
    let mut references = Vec::new();
    collect_references(&committed, &mut references);
    let lost: Vec<&str> = references.into_iter().filter(|at| committed.pointer(&at[1..]).is_none()).collect();
    assert_eq!(lost, Vec::<&str>::new(), "references that lead nowhere");
}

fn collect_references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|value| collect_references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_references(value, found)),
        _ => {}
    }
}
