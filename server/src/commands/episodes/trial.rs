//! A command as the agent: one process for each episode, which speaks to the server by HTTP or MCP.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use domain::api::ProblemDetails;
use domain::api::episodes::{Episode, EpisodeState};
use domain::bad_input::BadInput;
use domain::corpus::Side;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::process::Command;

use super::agent_process::AgentProcess;
use super::report::{self, TriedEpisode};
use crate::commands::interrupts::Interrupts;
use crate::commands::{INTERRUPTED, SPOILED};
use crate::output::say;

/// An episode is waited for so many times 50 seconds.
const MOST_WAITS: usize = 12;

/// The command is started once for each episode. It finds the episode in its environment: `GROUNDSTATE_EPISODE_URL` for its
/// messages, `GROUNDSTATE_MCP_URL` for its tools, `GROUNDSTATE_TOKEN` for both, and `GROUNDSTATE_EPISODE`, the id. The token opens this
/// episode and nothing else. When the command ends, the episode is verified as it stands. What it prints goes to standard error.
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
    // Else the command could read the other token in /proc, where the environment of this process stands.
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).ok();
    let server = Server::of(&args)?;
    let mut interrupts = Interrupts::listen()?;
    let mut all = Vec::new();
    let stopped = {
        let tried = stream::iter(0..args.n).map(|_| server.tried(&args)).buffer_unordered(args.concurrency as usize);
        let mut tried = std::pin::pin!(tried);
        loop {
            let next = tokio::select! {
                next = tried.next() => next,
                () = interrupts.next() => break Stopped::Interrupted,
            };
            match next {
                None => break Stopped::Done,
                Some(Err(error)) => break Stopped::Failed(error),
                Some(Ok(episode)) => {
                    say!("{}", report::line(&episode));
                    all.push(episode);
                }
            }
        }
    };
    server.give_up_open().await;
    if !all.is_empty() {
        say!("{}", report::summary(&all));
    }
    let no_rewards = all.iter().all(|episode| episode.reward().is_none());
    let no_agents = all.iter().all(|episode| episode.trouble.is_some());
    match stopped {
        Stopped::Failed(error) => Err(error),
        Stopped::Interrupted => Ok(ExitCode::from(INTERRUPTED)),
        Stopped::Done if no_rewards || no_agents => Ok(ExitCode::from(SPOILED)),
        Stopped::Done => Ok(ExitCode::SUCCESS),
    }
}

enum Stopped {
    Done,
    Interrupted,
    Failed(anyhow::Error),
}

struct Server {
    client: Client,
    url: Url,
    token: String,
    /// Episodes whose command still runs, or could not be started.
    open: Mutex<HashSet<String>>,
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
        Ok(Self { client: Client::new(), url: args.server.clone(), token, open: Mutex::default() })
    }

    /// One episode, from its first turn to its verification.
    async fn tried(&self, args: &TryArgs) -> anyhow::Result<TriedEpisode> {
        let order = json!({"name": args.environment, "split": args.split, "scenario": args.scenario, "token": true});
        let opened: Vec<Episode> = self.post(&["projects", &args.to, "episodes"], &order).await?;
        let episode = opened.into_iter().next().context("the server opened no episode")?;
        self.open.lock().insert(episode.id.clone());
        let trouble = self.play(args, &episode).await?;
        self.open.lock().remove(&episode.id);
        // One episode that cannot be verified does not stop the others.
        match self.verified(&episode.id).await {
            Ok(ended) => Ok(TriedEpisode { episode: ended, trouble }),
            Err(error) => Ok(TriedEpisode { episode, trouble: Some(trouble.unwrap_or_else(|| format!("{error:#}"))) }),
        }
    }

    /// The result of an episode. A command that was stopped may have left it while users and tools still answer.
    async fn verified(&self, id: &str) -> anyhow::Result<Episode> {
        for _ in 0..MOST_WAITS {
            let mut url = self.at(&["episodes", id])?;
            url.set_query(Some("wait=50"));
            let episode: Episode = self.answered(self.client.get(url)).await?;
            if episode.state != EpisodeState::Playing {
                break;
            }
        }
        self.post(&["episodes", id, "verify"], &json!({})).await
    }

    /// Why the command did not come to a good end.
    async fn play(&self, args: &TryArgs, episode: &Episode) -> anyhow::Result<Option<String>> {
        let (program, arguments) = args.command.split_first().context("no command")?;
        let at = self.at(&["episodes", &episode.id])?;
        let token = episode.token.as_deref().context("the server gave no token for the episode")?;
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_withheld(name, &args.token_env)) {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .env("GROUNDSTATE_EPISODE", &episode.id)
            .env("GROUNDSTATE_EPISODE_URL", at.as_str())
            .env("GROUNDSTATE_MCP_URL", format!("{at}/mcp"))
            .env("GROUNDSTATE_URL", self.url.as_str().trim_end_matches('/'))
            .env("GROUNDSTATE_TOKEN", token);
        let agent = AgentProcess::start(command)
            .map_err(|error| BadInput::one("COMMAND", format!("{program} cannot be started: {error}")))?;
        Ok(agent.trouble(Duration::from_secs(args.timeout)).await?)
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
        self.answered(self.client.post(self.at(path)?).json(body)).await
    }

    async fn answered<T: DeserializeOwned>(&self, request: RequestBuilder) -> anyhow::Result<T> {
        let response = request.bearer_auth(&self.token).send().await.context("the server cannot be reached")?;
        let status = response.status();
        if status.is_success() {
            return response.json().await.context("the server's answer cannot be read");
        }
        let problem: Option<ProblemDetails> = response.json().await.ok();
        let Some(problem) = problem else { bail!("the server answered {status}; it does not seem to be Groundstate") };
        bail!(BadInput::one(blamed(status, &problem), problem.detail))
    }

    /// Gives up the episodes that nobody plays any more.
    async fn give_up_open(&self) {
        let open: Vec<String> = self.open.lock().drain().collect();
        for id in open {
            let Ok(url) = self.at(&["episodes", &id]) else { continue };
            // If it fails, the server gives the episode up after a while.
            self.client.delete(url).bearer_auth(&self.token).send().await.ok();
        }
    }
}

/// Whether the command does not get a variable: by what it holds, the command could read what the scenarios expect.
fn is_withheld(name: &OsStr, token_env: &str) -> bool {
    name == token_env || name == "DATABASE_URL" || name.as_encoded_bytes().starts_with(b"GROUNDSTATE_")
}

/// The argument that the server's answer is about.
fn blamed(status: StatusCode, problem: &ProblemDetails) -> &'static str {
    let pointer = problem.errors.first().map_or("", |error| error.pointer.as_str());
    match (status, pointer) {
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => "--token-env",
        (StatusCode::NOT_FOUND, _) => "--to",
        (_, "/name") => "--environment",
        (_, "/scenario" | "/environment/scenarios") => "--scenario",
        (_, "/split" | "/environment/split") => "--split",
        _ => "--server",
    }
}
