//! The tools of an MCP server, which is asked once and then let go.

mod session;

use std::future::Future;
use std::time::Duration;

use anyhow::bail;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::process::Command;

use super::Target;
use crate::commands::interrupts::Interrupts;
use domain::bad_input::BadInput;
use projects::import::imported_interface::ImportedInterface;
use projects::import::mcp::{self, ServerListing};
use session::SessionError;
use tools::Process;

#[derive(clap::Args)]
pub struct Mcp {
    /// A command that starts the server, such as "npx some-server --flag", or the http(s) URL of a running server
    #[arg(value_name = "COMMAND|URL")]
    server: String,
    /// Seconds that the server has to list its tools
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    #[command(flatten)]
    pub(super) target: Target,
}

/// # Errors
/// [`BadInput`] if the server cannot be reached, says nothing in time, or offers no tool that can be imported.
pub async fn read(args: &Mcp) -> anyhow::Result<ImportedInterface> {
    let limit = Duration::from_secs(args.timeout);
    // Before a process is started, which must not outlive this one.
    let interrupts = Interrupts::listen()?;
    let listed = if args.server.starts_with("http://") || args.server.starts_with("https://") {
        within(limit, interrupts, over_http(&args.server)).await?
    } else {
        over_process(&args.server, limit, interrupts).await?
    };
    let imported = listed.and_then(|listed| mcp::import(&listed));
    Ok(imported.map_err(|why| BadInput::one("COMMAND|URL", why))?)
}

/// The process ends with this function, whatever happens.
async fn over_process(
    command: &str,
    limit: Duration,
    interrupts: Interrupts,
) -> anyhow::Result<Result<ServerListing, String>> {
    let (mut process, transport) = match prepared(command).and_then(Process::start) {
        Ok(started) => started,
        Err(why) => return Ok(Err(why)),
    };
    let listing = async {
        let listed = session::list(transport).await;
        // Nobody talks to it any more: if it is well made, it ends now, without being killed.
        let ended = process.ended().await;
        match listed {
            Err(SessionError::Broken(why)) => {
                Err(ended.map_or(why, |status| format!("ended before it had listed its tools ({status})")))
            }
            Err(SessionError::Useless(why)) => Err(why),
            Ok(listed) => Ok(listed),
        }
    };
    let listed = within(limit, interrupts, listing).await?;
    Ok(listed.map_err(|why| process.overheard(why)))
}

/// # Errors
/// It is no command.
fn prepared(command: &str) -> Result<Command, String> {
    let words = shlex::split(command).ok_or("is not a command: a quote is not closed")?;
    let (name, arguments) = words.split_first().ok_or("is not a command: it is empty")?;
    let mut command = Command::new(name);
    command.args(arguments);
    Ok(command)
}

async fn over_http(url: &str) -> Result<ServerListing, String> {
    let client = reqwest::Client::builder().build().map_err(|fault| session::cause(&fault))?;
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    let listed = session::list(StreamableHttpClientTransport::with_client(client, config)).await;
    listed.map_err(|(SessionError::Broken(why) | SessionError::Useless(why))| why)
}

/// Ctrl-C ends the command in an orderly way, too: a process that was started must not outlive it.
async fn within(
    limit: Duration,
    mut interrupts: Interrupts,
    listing: impl Future<Output = Result<ServerListing, String>>,
) -> anyhow::Result<Result<ServerListing, String>> {
    tokio::select! {
        listed = tokio::time::timeout(limit, listing) => {
            let late = format!("has not listed its tools within {} s (--timeout)", limit.as_secs());
            Ok(listed.unwrap_or(Err(late)))
        }
        () = interrupts.next() => bail!("interrupted"),
    }
}
