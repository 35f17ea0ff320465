//! A replica that does what a test says.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// What becomes of a request.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    Reply,
    /// A reply that says which model wrote it.
    ReplyAs(&'static str),
    ReplyAfter(Duration),
    /// A reply once the test opens the gate for one more.
    ReplyAtGate,
    Status(u16),
    /// With `Retry-After`, in seconds.
    Limited(&'static str),
    Hang,
    /// The connection ends in the middle of the reply.
    Cut,
    Garbage,
    /// The connection ends without an answer.
    HangUp,
}

pub struct Fake {
    pub url: String,
    port: u16,
    seen: Arc<Seen>,
    server: AbortHandle,
}

#[derive(Debug)]
struct Seen {
    requests: AtomicUsize,
    running: AtomicUsize,
    most_running: AtomicUsize,
    gate: Semaphore,
}

type Script = Arc<dyn Fn(usize) -> Act + Send + Sync>;

impl Fake {
    /// `script`: what becomes of request number n, from 0.
    pub async fn start(script: impl Fn(usize) -> Act + Send + Sync + 'static) -> Self {
        Self::listen(0, Arc::new(script)).await
    }

    async fn listen(port: u16, script: Script) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Seen {
            requests: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            most_running: AtomicUsize::new(0),
            gate: Semaphore::new(0),
        });
        let server = tokio::spawn(serve(listener, script, Arc::clone(&seen))).abort_handle();
        Self { url: format!("http://127.0.0.1:{port}/v1"), port, seen, server }
    }

    /// A URL where nobody listens.
    pub async fn nobody() -> String {
        let fake = Self::start(|_| Act::Reply).await;
        fake.stop().await;
        fake.url
    }

    /// Ends the server with all its connections.
    pub async fn stop(&self) {
        self.server.abort();
        // The port is free when the task is gone.
        while !self.server.is_finished() {
            tokio::task::yield_now().await;
        }
    }

    /// A new server where this one was.
    pub async fn again(&self, script: impl Fn(usize) -> Act + Send + Sync + 'static) -> Self {
        self.stop().await;
        Self::listen(self.port, Arc::new(script)).await
    }

    pub fn requests(&self) -> usize {
        self.seen.requests.load(Ordering::SeqCst)
    }

    pub fn running(&self) -> usize {
        self.seen.running.load(Ordering::SeqCst)
    }

    pub fn most_running(&self) -> usize {
        self.seen.most_running.load(Ordering::SeqCst)
    }

    /// Lets no more replies through.
    pub fn close_gate(&self) {
        self.seen.gate.forget_permits(usize::MAX);
    }

    /// Lets so many more replies through.
    pub fn open_gate(&self, replies: usize) {
        self.seen.gate.add_permits(replies);
    }
}

async fn serve(listener: TcpListener, script: Script, seen: Arc<Seen>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(connection(stream, Arc::clone(&script), Arc::clone(&seen)));
    }
}

/// The client may leave at any time, so failing to write is no error here.
async fn connection(mut stream: TcpStream, script: Script, seen: Arc<Seen>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = Vec::new();
    loop {
        request.clear();
        // The JSON body is the first to end in a brace.
        while !request.ends_with(b"}") {
            if stream.read_buf(&mut request).await? == 0 {
                return Ok(());
            }
        }
        let running = Running::new(&seen);
        let act = script(seen.requests.fetch_add(1, Ordering::SeqCst));
        let answer = answer(act, &seen, &stream).await;
        drop(running);
        stream.write_all(answer.as_bytes()).await?;
        if matches!(act, Act::Cut | Act::HangUp) {
            return Ok(());
        }
    }
}

async fn answer(act: Act, seen: &Seen, stream: &TcpStream) -> String {
    let mut more = [0];
    match act {
        Act::Reply | Act::ReplyAs(_) => {}
        Act::ReplyAfter(time) => tokio::time::sleep(time).await,
        Act::ReplyAtGate => tokio::select! {
            permit = seen.gate.acquire() => permit.unwrap().forget(),
            // The client has gone.
            _ = stream.peek(&mut more) => {}
        },
        Act::Status(status) => return ok("because", &format!("{status} Status")),
        Act::Limited(wait) => return ok("slower", &format!("429 Slow\r\nretry-after: {wait}")),
        Act::Hang => _ = stream.peek(&mut more).await,
        Act::Cut => {
            return "HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\ndata: {\"choices\":[]}\n\n".to_owned();
        }
        Act::Garbage => return ok("<html>", "200 OK"),
        Act::HangUp => return String::new(),
    }
    let model = if let Act::ReplyAs(model) = act { format!(r#""model":"{model}","#) } else { String::new() };
    let chunk = format!(r#"{{{model}"choices":[{{"delta":{{"content":"fine"}},"finish_reason":"stop"}}]}}"#);
    ok(&format!("data: {chunk}\n\ndata: [DONE]\n\n"), "200 OK")
}

fn ok(body: &str, status: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

struct Running<'a>(&'a Seen);

impl<'a> Running<'a> {
    fn new(seen: &'a Seen) -> Self {
        let running = seen.running.fetch_add(1, Ordering::SeqCst) + 1;
        seen.most_running.fetch_max(running, Ordering::SeqCst);
        Self(seen)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}
