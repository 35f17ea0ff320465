//! Connections: how long one may take to say what it wants, and how they end.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

/// How long the head of a request may take, from its beginning or from the end of the answer before it: who sends a letter
/// now and then would otherwise hold a connection for ever. What comes after the head is bounded by `limits`.
const HEAD: Duration = Duration::from_mins(1);
/// Until a connection is accepted again when there were too many.
const RELIEF: Duration = Duration::from_secs(1);

/// Serves until it is to stop, and then until what was begun is answered.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, address)) => {
                connections.spawn(connection(stream, address, router.clone(), stop.clone()));
            }
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

async fn connection(stream: TcpStream, address: SocketAddr, router: Router, stop: CancellationToken) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        router.call(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
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

/// Whether only who connected is concerned.
const fn is_about_one(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}
