//! Servers that hang, crawl or die in the middle: what an HTTP library would not do.

use std::time::Duration;

use futures::future::join_all;
use llm::{EndpointOptions, Failure};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{MS, ask, content, delta, end, endpoint, events, failure, options};

#[derive(Clone)]
enum Step {
    Send(String),
    /// One byte per packet.
    Dribble(String),
    Pause(Duration),
    Hang,
}

use Step::{Dribble, Hang, Pause, Send};

const SOON: Duration = Duration::from_millis(250);

/// Plays the steps to every connection, then closes it. Returns the base URL.
async fn play(steps: Vec<Step>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, steps.clone()));
        }
    });
    url
}

/// The client may leave at any time, so failing to write is no error here.
async fn answer(mut stream: TcpStream, steps: Vec<Step>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    receive(&mut stream).await?;
    for step in steps {
        match step {
            Send(text) => stream.write_all(text.as_bytes()).await?,
            Dribble(text) => {
                for byte in text.bytes() {
                    stream.write_all(&[byte]).await?;
                    tokio::task::yield_now().await;
                }
            }
            Pause(time) => tokio::time::sleep(time).await,
            Hang => std::future::pending().await,
        }
    }
    Ok(())
}

/// Reads one request: its JSON body is the first to end in a brace.
async fn receive(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"}") {
        if stream.read_buf(&mut request).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

/// The head of an answer that ends when the connection does.
fn head() -> Step {
    Send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".into())
}

/// The head of an answer in chunks, and one chunk that is shorter than it says.
fn broken_chunk() -> Step {
    Send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\ndata: {\"choices\"".into())
}

fn reply() -> String {
    events(&[delta(&json!({ "content": "fi" })), delta(&json!({ "content": "në" })), end("stop")])
}

fn half() -> Step {
    Send(events(&[delta(&json!({ "content": "fi" }))]).replace("data: [DONE]\n\n", ""))
}

fn hasty() -> EndpointOptions {
    EndpointOptions { max_attempts: 2, first_byte_timeout: SOON, idle_timeout: SOON, ..options() }
}

#[tokio::test]
async fn servers_that_fail_in_the_middle() {
    let ping = || [Send(": ping\n\n".into()), Pause(10 * MS)];
    let pings = std::iter::repeat_with(ping).take(500).flatten();
    let cases = [
        ("hangs up at once", vec![], "cannot be reached"),
        ("never answers", vec![Hang], "the first byte of the reply took longer than 250ms"),
        ("answers without a body", vec![head(), Hang], "the first byte of the reply took longer than 250ms"),
        ("stops sending", vec![head(), half(), Hang], "the next part of the reply took longer than 250ms"),
        ("only keeps alive", [head()].into_iter().chain(pings).collect(), "the whole reply took longer than 1s"),
        ("closes early", vec![head(), half()], "broke off in the middle"),
        ("closes within a chunk", vec![broken_chunk()], "broke off in the middle"),
        ("answers with no HTTP", vec![Send("SSH-2.0-OpenSSH\r\n".into())], "cannot be reached"),
    ];
    // All at once: each is mostly waiting.
    join_all(cases.into_iter().map(async |(name, steps, expected): (_, Vec<Step>, _)| {
        let options = EndpointOptions { total_timeout: 4 * SOON, ..hasty() };
        let error = endpoint(&play(steps).await, options).ask(&ask()).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{name}: {error}");
        assert_eq!(error.attempts, 2, "{name}");
    }))
    .await;
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let Failure::Unreachable { reason } = failure(endpoint(&url, hasty()).ask(&ask()).await) else { panic!() };
    assert!(reason.contains("refused"), "{reason}");
}

#[tokio::test]
async fn servers_that_are_only_slow_or_odd() {
    let slow =
        |wait: Duration| reply().split_inclusive("\n\n").flat_map(|part| [Send(part.into()), Pause(wait)]).collect();
    let steps: Vec<Vec<Step>> = vec![
        vec![head(), Dribble(reply())],
        // Together longer than the idle timeout, no pause alone is.
        [vec![head()], slow(SOON / 3)].concat(),
        // All was said, but the server keeps the connection open, without [DONE].
        vec![head(), Send(reply().replace("data: [DONE]\n\n", "")), Hang],
        // The connection breaks after all was said.
        vec![
            Send("HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n".into()),
            Send(reply().replace("data: [DONE]\n\n", "")),
        ],
    ];
    for (position, steps) in steps.into_iter().enumerate() {
        let options = EndpointOptions { max_attempts: 1, ..hasty() };
        let reply = endpoint(&play(steps).await, options).ask(&ask()).await;
        assert_eq!(content(reply), "finë", "{position}");
    }
}

#[tokio::test]
async fn a_connection_serves_one_request_after_another() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let body = reply();
    let answer = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n", body.len());
    // Only one connection is ever accepted, and the end of the body comes a little after `[DONE]`.
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await?;
        while receive(&mut stream).await.is_ok() {
            stream.write_all(answer.as_bytes()).await?;
            tokio::time::sleep(MS).await;
            stream.write_all(b"0\r\n\r\n").await?;
        }
        std::io::Result::Ok(())
    });
    let endpoint = endpoint(&url, EndpointOptions { max_attempts: 1, ..hasty() });
    for _ in 0..3 {
        assert_eq!(content(endpoint.ask(&ask()).await), "finë");
    }
}
