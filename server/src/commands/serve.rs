//! `groundstate serve`: the API and the web app; and it plays, unless it is told not to.

use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, ConnectionArgs};
use super::play::{PlayerArgs, until_interrupted};
use crate::http;
use crate::say::say;
use crate::telemetry;

#[derive(clap::Args)]
pub struct Serve {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:7878", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Leave playing to `groundstate play` elsewhere
    #[arg(long)]
    no_play: bool,
    #[command(flatten)]
    player: PlayerArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(args: Serve) -> anyhow::Result<ExitCode> {
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen on {}; choose another address with --listen", args.listen))?;
    telemetry::count()?;
    let connection = Connection::open(&args.connection).await?;
    say!("Groundstate listens on http://{}", listener.local_addr()?);
    let stop = CancellationToken::new();
    let done = until_interrupted(&stop, both(&args, listener, &connection, &stop)).await;
    connection.close().await;
    done?;
    Ok(ExitCode::SUCCESS)
}

async fn both(
    args: &Serve,
    listener: TcpListener,
    connection: &Connection,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let served = async {
        let server = axum::serve(listener, http::router(connection.pool.clone()));
        Ok(server.with_graceful_shutdown(stop.clone().cancelled_owned()).await?)
    };
    if args.no_play {
        return served.await;
    }
    tokio::try_join!(served, args.player.play(connection.pool.clone(), stop))?;
    Ok(())
}
