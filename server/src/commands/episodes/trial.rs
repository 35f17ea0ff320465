//! A command as the agent: one process for each episode, which speaks to the server by HTTP or MCP.

use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use domain::api::ProblemDetails;
use domain::api::episodes::Episode;
use domain::bad_input::BadInput;
use domain::corpus::Side;
use futures::{StreamExt, stream};
use reqwest::{Client, Method, Url};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use super::report::{self, TriedEpisode};
use crate::commands::SPOILED;
use crate::output::say;

/// The command is started once for each episode. It finds the episode in its environment: `GROUNDSTATE_EPISODE_URL` for its
/// messages, `GROUNDSTATE_MCP_URL` for its tools, `GROUNDSTATE_TOKEN` for both, and `GROUNDSTATE_EPISODE`, the id. When it ends, the
/// episode is verified as it stands.
#[derive(clap::Args)]
pub struct TryArgs {
    /// The server
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7878")]
    server: Url,
    /// The environment variable that holds a token for the server, with the scope `run`
    #[arg(long, value_name = "VARIABLE", default_value = "GROUNDSTATE_TOKEN")]
    token_env: String,
    /// The project on the server
    #[arg(long, value_name = "NAME", default_value = "default")]
    to: String,
    /// An environment of the project, or a playbook
    #[arg(long, value_name = "NAME")]
    environment: String,
    /// Only scenarios of this part: `train` or `golden`
    #[arg(long, value_name = "PART")]
    split: Option<Side>,
    /// Only this scenario
    #[arg(long, value_name = "ID")]
    scenario: Option<String>,
    /// How many episodes
    #[arg(long, short, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    n: u32,
    /// How many of them at once
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    concurrency: u32,
    /// After so many seconds a command that has not ended is stopped
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// The command and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub async fn run(args: TryArgs) -> anyhow::Result<ExitCode> {
    let server = Server::of(&args)?;
    let tried = stream::iter(0..args.n).map(|_| server.tried(&args)).buffer_unordered(args.concurrency as usize);
    let mut tried = std::pin::pin!(tried);
    let mut all = Vec::new();
    while let Some(episode) = tried.next().await {
        let episode = episode?;
        say!("{}", report::line(&episode));
        all.push(episode);
    }
    say!("{}", report::summary(&all));
    let all_spoiled = all.iter().all(|episode| episode.reward().is_none());
    Ok(if all_spoiled { ExitCode::from(SPOILED) } else { ExitCode::SUCCESS })
}

struct Server {
    client: Client,
    url: Url,
    token: String,
}

impl Server {
    fn of(args: &TryArgs) -> anyhow::Result<Self> {
        let token = std::env::var(&args.token_env).unwrap_or_default().trim().to_owned();
        if token.is_empty() {
            let message = format!(
                "the environment variable {} holds no token; make one with `groundstate tokens`",
                args.token_env
            );
            bail!(BadInput::one("--token-env", message));
        }
        if args.server.cannot_be_a_base() {
            bail!(BadInput::one("--server", "is not the address of a server"));
        }
        Ok(Self { client: Client::new(), url: args.server.clone(), token })
    }

    /// One episode, from its first turn to its verification.
    async fn tried(&self, args: &TryArgs) -> anyhow::Result<TriedEpisode> {
        let order = json!({"name": args.environment, "split": args.split, "scenario": args.scenario});
        let opened: Vec<Episode> = self.post(&["projects", &args.to, "episodes"], &order).await?;
        let episode = opened.into_iter().next().context("the server opened no episode")?;
        let trouble = self.play(args, &episode).await?;
        let ended: Episode = self.post(&["episodes", &episode.id, "verify"], &json!({})).await?;
        Ok(TriedEpisode { episode: ended, trouble })
    }

    /// Why the command did not come to a good end.
    async fn play(&self, args: &TryArgs, episode: &Episode) -> anyhow::Result<Option<String>> {
        let (program, arguments) = args.command.split_first().context("no command")?;
        let at = self.at(&["episodes", &episode.id])?;
        let output = || if args.concurrency == 1 { Stdio::inherit() } else { Stdio::null() };
        let command = Command::new(program)
            .args(arguments)
            .env("GROUNDSTATE_EPISODE", &episode.id)
            .env("GROUNDSTATE_EPISODE_URL", at.as_str())
            .env("GROUNDSTATE_MCP_URL", format!("{at}/mcp"))
            .env("GROUNDSTATE_URL", self.url.as_str())
            .env("GROUNDSTATE_TOKEN", &self.token)
            .stdin(Stdio::null())
            .stdout(output())
            .stderr(output())
            .kill_on_drop(true)
            .spawn();
        let mut command =
            command.map_err(|error| BadInput::one("COMMAND", format!("{program} cannot be started: {error}")))?;
        Ok(match timeout(Duration::from_secs(args.timeout), command.wait()).await {
            Ok(ended) => {
                let status = ended?;
                (!status.success()).then(|| format!("the command ended with {status}"))
            }
            Err(_) => {
                command.kill().await?;
                Some(format!("the command was stopped after {} seconds", args.timeout))
            }
        })
    }

    fn at(&self, path: &[&str]) -> anyhow::Result<Url> {
        let mut url = self.url.clone();
        url.path_segments_mut()
            .map_err(|()| BadInput::one("--server", "is not the address of a server"))?
            .pop_if_empty()
            .extend(["api", "v1"])
            .extend(path);
        Ok(url)
    }

    async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &Value) -> anyhow::Result<T> {
        let request = self.client.request(Method::POST, self.at(path)?).bearer_auth(&self.token).json(body);
        let response = request.send().await.context("the server cannot be reached")?;
        let status = response.status();
        if status.is_success() {
            return response.json().await.context("the server's answer cannot be read");
        }
        let problem: Option<ProblemDetails> = response.json().await.ok();
        let Some(problem) = problem else { bail!("the server answered {status}; it does not seem to be Groundstate") };
        bail!(BadInput::one("--server", format!("{}: {}", problem.title.to_lowercase(), problem.detail)))
    }
}
