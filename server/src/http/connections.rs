//! Connections: how many there may be, how long one may take to say what it wants and to take what it asked for, and how
//! they end.

mod descriptors;
mod write_timeout;

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::response::IntoResponse;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::connection_permits::{ConnectionPermit, ConnectionPermits, ConnectionRefusal, Limits};
use super::error::HttpError;
pub use descriptors::raise as raise_descriptors;
pub use write_timeout::WriteTimeout;

/// How long the head of a request may take, from its beginning or from the end of the answer before it: who sends a letter
/// now and then would otherwise hold a connection for ever, and so would who sends nothing more. What comes after the head is
/// bounded by `limits`.
const HEAD: Duration = Duration::from_mins(1);
/// How long somebody may take nothing of what is sent to them. However slow they are, what they take in between counts.
const STALLED: Duration = Duration::from_secs(30);
/// How much of a request is read, and of an answer made, before the rest is waited for. An answer that nobody reads keeps so
/// much in memory, if it is made piece by piece.
const BUFFERED: usize = 128 << 10;
/// Until a connection is accepted again when there were too many.
const RELIEF: Duration = Duration::from_secs(1);
/// Connections beyond the limits that are told so at the same time, and how long that may take. Others are just closed.
const MOST_REFUSALS: usize = 64;
const REFUSAL: Duration = Duration::from_secs(5);

/// Serves until it is to stop, and then until what was begun is answered.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, stop: CancellationToken) {
    let (permits, refusals) = (Arc::new(ConnectionPermits::new(limits)), Arc::new(Semaphore::new(MOST_REFUSALS)));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, address)) => match permits.take(address.ip()) {
                Ok(permit) => {
                    connections.spawn(connection(stream, address, permit, router.clone(), stop.clone()));
                }
                Err(full) => {
                    if let Ok(turn) = Arc::clone(&refusals).try_acquire_owned() {
                        connections.spawn(refuse(stream, full, turn));
                    }
                }
            },
            Err(error) if is_about_one(error.kind()) => {}
            Err(error) => {
                warn!(%error, "cannot accept a connection");
                tokio::time::sleep(RELIEF).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// The right to a connection: a WebSocket holds it for as long as it lasts.
#[derive(Clone)]
pub struct HeldConnection(#[expect(dead_code, reason = "it counts as long as it is held")] Arc<ConnectionPermit>);

async fn connection(
    stream: TcpStream,
    address: SocketAddr,
    permit: ConnectionPermit,
    router: Router,
    stop: CancellationToken,
) {
    let router = TowerToHyperService::new(router);
    let held = HeldConnection(Arc::new(permit));
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        request.extensions_mut().insert(held.clone());
        router.call(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(BUFFERED);
    let stream = TokioIo::new(WriteTimeout::new(stream, STALLED));
    let mut connection = pin!(builder.serve_connection(stream, service).with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        debug!(%error, %address, "a connection broke");
    }
}

/// Answers the first request with the reason, so that it is seen where it was asked, and closes the connection.
async fn refuse(stream: TcpStream, full: ConnectionRefusal, _turn: OwnedSemaphorePermit) {
    let service = service_fn(move |_: Request<Incoming>| async move {
        Ok::<_, Infallible>(HttpError::TooManyConnections(full).into_response())
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(REFUSAL).keep_alive(false);
    // Whoever does not ask or does not read by then is not told.
    drop(tokio::time::timeout(REFUSAL, builder.serve_connection(TokioIo::new(stream), service)).await);
}

/// Whether only who connected is concerned.
const fn is_about_one(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}
