//! `groundstate serve`: the API and the web app.

use crate::say::say;
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context;
use tokio::net::TcpListener;

use super::connection::{Connection, ConnectionArgs};
use crate::http;

#[derive(clap::Args)]
pub struct Serve {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:7878", value_name = "ADDRESS")]
    listen: SocketAddr,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(args: Serve) -> anyhow::Result<ExitCode> {
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen on {}; choose another address with --listen", args.listen))?;
    let connection = Connection::open(&args.connection).await?;
    say!("Groundstate listens on http://{}", listener.local_addr()?);
    let served = axum::serve(listener, http::router(connection.pool.clone()))
        .with_graceful_shutdown(async {
            // Without signals nothing could stop us but a kill; then stopping at once is the honest answer.
            let _ = super::interrupted().await;
        })
        .await;
    connection.close().await;
    served?;
    Ok(ExitCode::SUCCESS)
}
