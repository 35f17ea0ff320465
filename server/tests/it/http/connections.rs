//! How many connections there may be, and how long somebody may do nothing with one.

mod permits;
mod write_timeout;

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::StatusCode;
use server::http::ConnectionLimits;
use sqlx::PgPool;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time;

use super::TestApp;
use crate::support::{pass, until};

/// A connection from one of the addresses of this machine.
async fn from(address: &str, app: &TestApp) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(address.parse().unwrap(), 0)).unwrap();
    socket.connect(app.url.strip_prefix("http://").unwrap().parse().unwrap()).await.unwrap()
}

/// The head and the body of the answer to a request over a connection that may be used again.
async fn asked(stream: &mut TcpStream) -> String {
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    while !answer.ends_with("\r\n\r\nok") {
        let mut some = [0; 1_000];
        match stream.read(&mut some).await.unwrap() {
            0 => break,
            len => answer.push_str(std::str::from_utf8(&some[..len]).unwrap()),
        }
    }
    answer
}

fn is_welcome(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("ok")
}

#[track_caller]
fn assert_refused(answer: &str, status: StatusCode, why: &str) {
    let answer = answer.to_lowercase();
    assert!(answer.starts_with(&format!("http/1.1 {} ", status.as_u16())), "{answer}");
    for part in ["connection: close\r\n", "retry-after: 5\r\n", "content-type: application/problem+json\r\n", why] {
        assert!(answer.contains(part), "no `{part}` in {answer}");
    }
}

/// Who has all the connections that one address may have keeps nobody else out.
#[sqlx::test(migrations = "../migrations")]
async fn one_address_has_a_share_of_the_connections(pool: PgPool) {
    let app = TestApp::with_connections(&pool, ConnectionLimits { in_all: 4, per_place: Some(2) }).await;
    let mut idle = Vec::new();
    for address in ["127.0.0.2", "127.0.0.2", "127.0.0.3"] {
        let mut stream = from(address, &app).await;
        assert!(is_welcome(&asked(&mut stream).await), "{address}");
        idle.push(stream);
    }
    let refused = asked(&mut from("127.0.0.2", &app).await).await;
    assert_refused(&refused, StatusCode::TOO_MANY_REQUESTS, "too many connections from your address");
    let mut last = from("127.0.0.4", &app).await;
    assert!(is_welcome(&asked(&mut last).await), "there is room for somebody else");
    let refused = asked(&mut from("127.0.0.5", &app).await).await;
    assert_refused(&refused, StatusCode::SERVICE_UNAVAILABLE, "as many connections as it takes");
    drop(last);
    until("somebody has left", async || is_welcome(&asked(&mut from("127.0.0.5", &app).await).await)).await;
    assert!(is_welcome(&asked(&mut idle[0]).await), "who was there stays");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_connection_that_nobody_uses_is_closed_after_a_minute(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let mut stream = from("127.0.0.1", &app).await;
    for _ in 0..2 {
        assert!(is_welcome(&asked(&mut stream).await), "it is kept for less than a minute");
        // Whatever the server was to do by now is done when it has answered somebody else.
        assert_eq!(app.status("/healthz").await, StatusCode::OK);
        pass(Duration::from_secs(59)).await;
    }
    pass(Duration::from_secs(2)).await;
    let mut more = [0; 10];
    let closed = time::timeout(Duration::from_secs(30), stream.read(&mut more));
    assert_eq!(closed.await.unwrap().unwrap(), 0);
}
