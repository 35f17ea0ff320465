//! An author, a runner and a viewer of one project do their worst at once. The members of another project see nothing of it:
//! their pages come, and their run is played to its end.

use std::sync::Arc;

use domain::access::{Role, Scope};
use domain::api::{RunState, RunSummary};
use futures::future::join_all;
use reqwest::header::AUTHORIZATION;
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::projects;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{Duration, MOST_MEMORY, PROJECT, ask_without_a_pause, bank, own, peak_memory};
use crate::http::archive::filled;
use crate::http::{somebody, token};
use crate::support::play::{HANDOVER, HELP};
use crate::support::process::{Listening, groundstate};
use crate::support::until;

const CALM: &str = "/api/v1/projects/calm";
/// How long they go on.
const RAGE: Duration = Duration::from_secs(15);
/// Requests of each of them that wait for an answer at the same time.
const AT_ONCE: usize = 8;

/// One of those who ask the server.
#[derive(Clone)]
struct Member {
    client: Client,
    url: Arc<str>,
    secret: Arc<str>,
}

impl Member {
    async fn of(pool: &PgPool, url: &str, project: Uuid, role: Role, scopes: &[Scope]) -> Self {
        let user = somebody(pool, &format!("{role}-{project}"), false).await;
        projects::set_role(&mut pool.acquire().await.unwrap(), project, user, role.into_str()).await.unwrap();
        let secret = token(pool, user, scopes).await.into();
        Self { client: llm::http_client().build().unwrap(), url: url.into(), secret }
    }

    async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> reqwest::Result<(StatusCode, String)> {
        let request = self.client.request(method, format!("{}{path}", self.url)).bearer_auth(&self.secret);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let response = request.timeout(Duration::from_mins(2)).send().await?;
        Ok((response.status(), response.text().await?))
    }

    async fn json(&self, path: &str) -> Value {
        let (status, text) = self.ask(Method::GET, path, None).await.unwrap();
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Asks for all of these again and again. An answer may be a refusal, but there is one.
    fn rage(&self, requests: Vec<(Method, String, Option<Value>)>, until: Instant, raging: &mut JoinSet<usize>) {
        let requests = Arc::new(requests);
        for first in 0..AT_ONCE {
            let (member, requests) = (self.clone(), Arc::clone(&requests));
            raging.spawn(async move {
                let mut answered = 0;
                for (method, path, body) in requests.iter().cycle().skip(first) {
                    if Instant::now() > until {
                        break;
                    }
                    // The server may end a connection that takes more than its share.
                    if let Ok((status, text)) = member.ask(method.clone(), path, body.as_ref()).await {
                        assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{path}: {text}");
                        answered += 1;
                    }
                }
                answered
            });
        }
    }

    /// Asks for something large and reads nothing of it.
    async fn stall(&self, path: &str) -> Option<TcpStream> {
        let address = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).await.ok()?;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{AUTHORIZATION}: Bearer {}\r\n\r\n", self.secret);
        stream.write_all(request.as_bytes()).await.ok()?;
        Some(stream)
    }
}

/// Documents that take all the time and memory that a check may have.
fn of_an_author() -> Vec<(Method, String, Option<Value>)> {
    let code = own("tools.star");
    let with = |more: &str| json!({"files": bank(&[("tools.star", format!("{code}\n{more}\n"))])});
    let check = format!("{PROJECT}/playbooks/retail_bank/check");
    let drafts = |body: &str| {
        let at = code.find("def get_customer(").unwrap();
        let end = at + code[at..].find("\ndef ").unwrap();
        let code = format!("{}def get_customer(world, args):\n{body}{}", &code[..at], &code[end..]);
        json!({"drafts": {"playbooks/retail_bank/tools.star": code},
               "calls": [{"tool": "get_customer", "arguments": {"customer_id": "cus_1001"}}]})
    };
    let try_calls = format!("{PROJECT}/playbooks/retail_bank/try");
    let brackets = "[".repeat(50_000);
    vec![
        (Method::POST, check.clone(), Some(with(&format!("_x = {brackets}")))),
        (Method::POST, check, Some(with("_x = [i * j for i in range(100000) for j in range(100000)]"))),
        (Method::POST, try_calls.clone(), Some(drafts("    return {\"x\": [\"x\" * 1000000 for i in range(2000)]}\n"))),
        (
            Method::POST,
            try_calls,
            Some(drafts("    n = 0\n    for i in range(1000000000):\n        n += i\n    return n\n")),
        ),
    ]
}

/// Orders that name what is not there, judges without number, and a run that takes all players.
fn of_a_runner() -> Vec<(Method, String, Option<Value>)> {
    let runs = format!("{PROJECT}/runs");
    let unknown: Vec<String> = (0..140_000).map(|i| format!("unknown_{i}")).collect();
    vec![
        (Method::POST, format!("{runs}/preview"), Some(json!({"scenarios": unknown, "n": 10}))),
        (Method::POST, runs.clone(), Some(json!({"scenarios": [HELP], "n": 10, "panel": vec!["scripted"; 40_000]}))),
        (Method::POST, runs, Some(json!({"scenarios": [HELP, HANDOVER], "n": 2_000_000, "seed": 1}))),
    ]
}

/// Lists, facets and archives, as fast as they come.
fn of_a_viewer() -> Vec<(Method, String, Option<Value>)> {
    let get = |path: &str| (Method::GET, format!("{PROJECT}{path}"), None);
    vec![
        get("/archive"),
        get("/conversations?limit=1000"),
        get("/conversations/facets?search=a"),
        get("/playbooks/retail_bank"),
        get(&format!("/scenarios?search={}", "a".repeat(20_000))),
    ]
}

#[sqlx::test(migrations = "../migrations")]
async fn an_author_a_runner_and_a_viewer_at_once_disturb_nobody_else(pool: PgPool) {
    let app = filled(&pool).await;
    let (status, made) = app.send(Method::POST, "/api/v1/projects", &json!({"name": "calm"})).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let calm = projects::named(&mut pool.acquire().await.unwrap(), "calm").await.unwrap().unwrap().id;
    let archive = app.get(&format!("{PROJECT}/archive")).await.bytes().await.unwrap();
    let request = app.request(Method::PUT, &format!("{CALM}/archive")).header("content-type", "application/zip");
    assert_eq!(request.body(archive).send().await.unwrap().status(), StatusCode::OK);
    drop(app);

    let server = Listening::start(&mut groundstate(&pool, &["serve", "--listen", "127.0.0.1:0"])).await;
    until("it is ready", async || server.get("/readyz").await.is_ok()).await;
    let pid = server.child.id().unwrap();
    let end = Instant::now() + RAGE;
    let mut raging = JoinSet::new();
    for (role, scopes, requests) in [
        (Role::Author, [Scope::Author, Scope::Read], of_an_author()),
        (Role::Runner, [Scope::Run, Scope::Read], of_a_runner()),
        (Role::Viewer, [Scope::Read, Scope::Read], of_a_viewer()),
    ] {
        let member = Member::of(&pool, &server.url, projects::DEFAULT, role, &scopes).await;
        member.rage(requests, end, &mut raging);
    }
    let viewer = Member::of(&pool, &server.url, calm, Role::Runner, &[Scope::Run, Scope::Read]).await;
    let idle = join_all((0..200).map(|_| viewer.stall("/api/v1/projects/calm/archive"))).await;
    let healthy = tokio::spawn(ask_without_a_pause(viewer.client.clone(), format!("{}/healthz", server.url)));

    let order = json!({"scenarios": [HELP, HANDOVER], "n": 8, "seed": 2});
    let (status, text) = viewer.ask(Method::POST, &format!("{CALM}/runs"), Some(&order)).await.unwrap();
    assert_eq!(status, StatusCode::CREATED, "{text}");
    let run: RunSummary = serde_json::from_str(&text).unwrap();
    let mut pages = 0;
    while Instant::now() < end {
        for page in ["/runs", "/scenarios", "/conversations", "/playbooks/retail_bank"] {
            viewer.json(&format!("{CALM}{page}")).await;
            pages += 1;
        }
        sleep(Duration::from_millis(50)).await;
    }
    until("the run of others has ended", async || {
        viewer.json(&format!("/api/v1/runs/{}", run.id)).await["state"] == json!(RunState::Finished)
    })
    .await;
    drop(idle);
    let mut answered = 0;
    while let Some(of_one) = raging.join_next().await {
        answered += of_one.unwrap();
    }
    // How fast they come is measured elsewhere: here everything shares two cores with other tests.
    assert!(pages >= 4 && answered >= AT_ONCE, "{pages} pages, {answered} answers to attacks");
    assert!(!healthy.is_finished(), "{:?}", healthy.await);
    healthy.abort();
    assert!(peak_memory(pid) < MOST_MEMORY, "{} KiB", peak_memory(pid));
    assert_eq!(server.stopped().await, Some(0), "it is the same process");
}
