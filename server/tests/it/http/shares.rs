//! What one person may have in progress at once, and that it leaves enough to others.

mod turns;

use std::path::Path;
use std::time::Duration;

use domain::access::Role;
use domain::api::ProblemDetails;
use domain::api::documents::{Document, DocumentMetadata};
use domain::project::{DocumentId, Kind};
use futures::StreamExt as _;
use futures::stream;
use reqwest::{Method, Response, StatusCode};
use serde_json::json;
use server::http::shares::Kind::Download;
use server::http::shares::routes;
use sqlx::PgPool;
use store::documents::{self, NewVersion, Texts};
use store::{clock, projects};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::TestApp;
use super::followed::TableLock;
use crate::support::play::{HELP, planned, played};
use crate::support::{pass, until};

/// As in `server::http::shares`.
const STREAMS: usize = 16;
const DOWNLOADS: usize = 8;
/// How many documents one person may have read at once.
const READ_AT_ONCE: usize = 4;
/// More than sockets hold on their way.
const LARGE: usize = 12 << 20;

const DOCUMENT: &str = "/api/v1/projects/default/playbooks/large";

async fn assert_refused(answer: Response) {
    assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.headers()["retry-after"], "5");
    let problem: ProblemDetails = answer.json().await.unwrap();
    assert!(problem.detail.starts_with("you have as many such requests in progress"), "{}", problem.detail);
}

#[test]
fn each_route_is_there() {
    let document = serde_json::to_value(server::http::document()).unwrap();
    for (method, path, kinds) in &routes::ROUTES {
        let operation = &document["paths"][format!("/api/v1{path}")][method.as_str().to_lowercase()];
        assert!(operation.is_object(), "{method} {path}");
        assert_eq!(routes::kinds(method, &format!("/api/v1{path}")), *kinds, "{method} {path} is there twice");
    }
    assert_eq!(routes::kinds(&Method::HEAD, "/api/v1/exports/{export}/file"), [Download]);
    assert!(routes::kinds(&Method::DELETE, "/api/v1/projects/{project}/{kind}/{name}").is_empty());
}

#[sqlx::test(migrations = "../migrations")]
async fn one_person_has_a_share_of_the_streams(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let path = format!("/api/v1/runs/{}/progress", planned(&pool, &[HELP], 1, 1, &[]).await.control.run.id);
    let (ann, ben) = (app.member(Role::Viewer).await, app.member(Role::Viewer).await);
    let mut followed = Vec::new();
    for _ in 0..STREAMS {
        let stream = ann.get(&path).await;
        assert_eq!(stream.status(), StatusCode::OK);
        followed.push(stream);
    }
    assert_refused(ann.get(&path).await).await;
    assert_eq!(ben.status(&path).await, StatusCode::OK, "it is nobody else's share");
    followed.pop();
    until("one of them has ended", async || ann.status(&path).await == StatusCode::OK).await;
}

/// A preview reads many conversations, and takes one connection of the few that there are.
#[sqlx::test(migrations = "../migrations")]
async fn previews_leave_connections_to_others(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    // More than are read over four connections.
    let run = played(&pool, &[HELP], 400, 1, &[]).await.control.run.id;
    let held = TableLock::lock(&pool, "events").await;
    let pairs = json!({"source": {"run": {"id": run}}, "profile": "trl_dpo"});
    let asked = [("corpora", json!({})), ("exports", pairs)].map(|(what, spec)| {
        let request = app.request(Method::POST, &format!("/api/v1/projects/default/{what}/preview")).json(&spec);
        tokio::spawn(async move { request.send().await.unwrap() })
    });
    held.until(|waiting| waiting >= 2).await;
    for _ in 0..10 {
        assert_eq!(app.status("/api/v1/projects/default/runs").await, StatusCode::OK);
    }
    held.until(|waiting| waiting == 2).await;
    held.release().await;
    for asked in asked {
        let answer = asked.await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await.unwrap());
    }
}

async fn save_large_document(pool: &PgPool) {
    let line = "This playbook has more notes than anybody reads.\n";
    let notes = line.repeat(LARGE / 3 / line.len() + 1);
    let files: Texts = (0..3).map(|i| (format!("playbooks/large/notes{i}.md"), notes.clone())).collect();
    let version = NewVersion {
        project: projects::DEFAULT,
        id: &DocumentId::new(Kind::Playbook, "large").unwrap(),
        version: 1,
        files: Some(&files),
        hash: "of a large document",
        about: &DocumentMetadata::default(),
        message: "",
        author: "ann",
        created_at: clock::now(),
        findings: &[],
        promoted: false,
    };
    documents::insert(&mut pool.acquire().await.unwrap(), &version).await.unwrap();
}

/// Asks for the document, and reads nothing but the beginning of its answer.
async fn unread(app: &TestApp) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 << 10).unwrap();
    let mut stream = socket.connect(app.url.strip_prefix("http://").unwrap().parse().unwrap()).await.unwrap();
    let request = format!("GET {DOCUMENT} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\r\n", app.token());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.unwrap();
    assert_eq!(status, *b"HTTP/1.1 200");
    stream
}

/// Answers that wait in files, which have no names any more.
fn in_files(files: &Path) -> usize {
    let open =
        std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    open.filter(|path| path.starts_with(files)).count()
}

/// Large answers that nobody reads take neither memory nor a connection to the database, and they end.
#[sqlx::test(migrations = "../migrations")]
async fn unread_downloads_hold_up_nobody_and_are_cut_off(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    save_large_document(&pool).await;
    let (ann, ben) = (app.member(Role::Viewer).await, app.member(Role::Viewer).await);
    // One after another, the first one would be cut off on a slow machine before the last one begins; more at once would wait
    // for their turn, and be refused there.
    let begun = stream::iter((0..DOWNLOADS).map(|_| unread(&ann)));
    let unread_by_ann: Vec<_> = begun.buffer_unordered(READ_AT_ONCE).collect().await;
    assert_eq!(in_files(app.files()), DOWNLOADS);
    assert_refused(ann.get(DOCUMENT).await).await;
    assert_eq!(ann.status("/api/v1/projects/default/playbooks").await, StatusCode::OK, "she may do everything else");
    let document: Document = ben.json(DOCUMENT).await;
    assert!(document.files.values().map(String::len).sum::<usize>() >= LARGE, "who reads gets all of it");
    until("they are cut off", async || {
        // A tenth more than half a minute: nobody takes anything meanwhile.
        pass(Duration::from_secs(33)).await;
        ann.request(Method::HEAD, DOCUMENT).send().await.unwrap().status() == StatusCode::OK
            && in_files(app.files()) == 0
    })
    .await;
    for mut stream in unread_by_ann {
        let mut rest = Vec::new();
        // The end may look like a fault of the connection, which it is.
        drop(stream.read_to_end(&mut rest).await);
        assert!(rest.len() < LARGE, "{} bytes came", rest.len());
    }
}
