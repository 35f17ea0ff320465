//! How long whoever asks is kept waiting, whatever it is.

use std::time::Duration;

use domain::api::ProblemDetails;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time;

use super::TestApp;
use super::followed::TableLock;
use crate::support::pass;

/// Whatever the app was to do by now is done: it has answered somebody who came later.
async fn done_so_far(app: &TestApp) {
    assert_eq!(app.status("/healthz").await, StatusCode::OK);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_takes_too_long_is_answered_and_a_change_comes_to_its_end(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let held = TableLock::lock(&pool, "models").await;
    let ask = |method, path, body: Value| {
        let asked = app.request(method, path).json(&body);
        tokio::spawn(async move { asked.send().await.unwrap() })
    };
    let asked = [
        ask(Method::GET, "/api/v1/models", Value::Null),
        ask(Method::PUT, "/api/v1/models/slow", json!({"replicas": ["http://127.0.0.1:9/v1"]})),
    ];
    held.until(|waiting| waiting == 2).await;
    pass(Duration::from_secs(59)).await;
    done_so_far(&app).await;
    assert!(asked.iter().all(|asked| !asked.is_finished()));
    pass(Duration::from_secs(2)).await;
    for asked in asked {
        let answer = asked.await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
        let problem: ProblemDetails = answer.json().await.unwrap();
        assert_eq!((problem.status, problem.detail.as_str()), (503, "it took too long"));
    }
    held.release().await;
    let known = async {
        while !app.text("/api/v1/models").await.contains("slow") {
            time::sleep(Duration::from_millis(20)).await;
        }
    };
    time::timeout(Duration::from_secs(30), known).await.unwrap();
}

/// What is long is refused in words; what is longer than any program sends, by the reader of HTTP.
#[sqlx::test(migrations = "../migrations")]
async fn addresses_and_headers_have_a_size(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let models = |query: usize, header: usize| {
        let asked = app.request(Method::GET, &format!("/api/v1/models?after={}", "a".repeat(query)));
        asked.header("x-long", "a".repeat(header)).send()
    };
    assert_eq!(models(1000, 30_000).await.unwrap().status(), StatusCode::OK);
    for (asked, status, said) in [
        (models(33_000, 0), StatusCode::URI_TOO_LONG, "the address is 33021 bytes long, at most 32768 are accepted"),
        (models(0, 33_000), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "at most 32768 are accepted"),
    ] {
        let answer = asked.await.unwrap();
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
        let problem: ProblemDetails = answer.json().await.unwrap();
        assert!(problem.detail.contains(said), "{}", problem.detail);
    }
    let cut_off = models(0, 500_000).await.unwrap();
    assert_eq!(cut_off.status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
}

/// Who sends a letter now and then does not hold a connection for ever.
#[sqlx::test(migrations = "../migrations")]
async fn the_head_of_a_request_comes_within_a_minute(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let address = app.url.strip_prefix("http://").unwrap();
    let begin = async || {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ").await.unwrap();
        stream
    };
    let (mut slow, mut slower) = (begin().await, begin().await);
    let (mut answer, mut nothing) = (String::new(), String::new());
    done_so_far(&app).await;
    pass(Duration::from_secs(59)).await;
    slow.write_all(b"x\r\nConnection: close\r\n\r\n").await.unwrap();
    slow.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    slower.write_all(b"x").await.unwrap();
    done_so_far(&app).await;
    pass(Duration::from_secs(2)).await;
    time::timeout(Duration::from_secs(30), slower.read_to_string(&mut nothing)).await.unwrap().unwrap();
    assert_eq!(nothing, "", "it is closed");
}

/// Whatever stands in a path, no operation asks the database for what cannot be there.
#[sqlx::test(migrations = "../migrations")]
async fn no_name_in_a_path_is_a_fault_of_the_server(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let document: Value = app.json("/api/v1/openapi.json").await;
    let long: String = (0..10_000_u32).map(|n| char::from(b'a' + u8::try_from(n * n / 7 % 26).unwrap())).collect();
    let mut asked = 0;
    for (path, operations) in document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.contains('{')) {
        for method in operations.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            for name in [long.as_str(), "%00", "a%00b", "%0A"] {
                let mut parts = path.split('/').map(|part| if part.starts_with('{') { name } else { part });
                let address = parts.by_ref().collect::<Vec<_>>().join("/");
                let answer = app.request(method.clone(), &address).json(&json!({})).send().await.unwrap();
                assert!(answer.status().is_client_error(), "{method} {path}: {}", answer.status());
                assert!(answer.text().await.unwrap().len() < 5_000, "{method} {path}");
                asked += 1;
            }
        }
    }
    assert!(asked > 200, "{asked}");
}
