//! A command as the agent: one process for each episode, which speaks to the server by HTTP or MCP.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::Context;
use domain::Problem;
use domain::api::MOST_SAMPLES;
use domain::api::episodes::{Environment, Episode, NewEpisodes};
use domain::bad_input::BadInput;
use domain::corpus::Side;
use futures::{StreamExt, stream};
use generation::episodes::GROUPS_BY_CLIENTS;
use parking_lot::Mutex;
use reqwest::Url;
use tokio::process::Command;
use tokio::sync::OnceCell;

use super::agent_process::AgentProcess;
use super::report::{self, Trial, TriedEpisode};
use super::server::Server;
use crate::commands::interrupts::Interrupts;
use crate::commands::{BAD_INPUT, INTERRUPTED, ReportFormat, SPOILED};
use crate::output::say;

/// After so many starts in a row that cannot be opened, the others are not tried.
const MOST_UNOPENED: u32 = 5;

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
    /// How many episodes, each with a user, a world and faults of its own
    #[arg(long, short, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    n: u32,
    /// How many times each of them is played, with the same user, world and faults
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_SAMPLES)))]
    samples: u32,
    /// Seed of the users, worlds and faults [default: as the environment says]
    #[arg(long, allow_negative_numbers = true)]
    seed: Option<i64>,
    /// Group number of the first episode; the next ones follow. With the same scenario, seed and number, an episode has the same user,
    /// world and faults as before [default: new groups]
    #[arg(long, requires = "scenario", value_parser = clap::value_parser!(i32).range(0..i64::from(GROUPS_BY_CLIENTS)))]
    group: Option<i32>,
    /// How many of them at once
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    concurrency: u32,
    /// After so many seconds a command that has not ended is stopped
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// The command and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub async fn run(args: TryArgs) -> anyhow::Result<ExitCode> {
    // Else the command could read the other token in /proc, where the environment of this process stands.
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).ok();
    let mut trial = Trial::default();
    let ended = try_all(&args, &mut trial).await;
    match args.format {
        ReportFormat::Text => {
            if !trial.is_empty() {
                say!("{}", report::text(&trial));
            }
            ended.map(|()| exit_code(&trial))
        }
        ReportFormat::Json => {
            let code = match ended {
                Ok(()) => exit_code(&trial),
                Err(error) => {
                    let (code, problems) = problems(error);
                    trial.problems = problems;
                    code
                }
            };
            say!("{}", report::json(&trial)?);
            Ok(code)
        }
    }
}

fn exit_code(trial: &Trial) -> ExitCode {
    if trial.is_interrupted {
        ExitCode::from(INTERRUPTED)
    } else if trial.is_spoiled() {
        ExitCode::from(SPOILED)
    } else {
        ExitCode::SUCCESS
    }
}

/// Why nothing more could be tried, for the report.
fn problems(error: anyhow::Error) -> (ExitCode, Vec<Problem>) {
    match error.downcast::<BadInput>() {
        Ok(BadInput(problems)) => (ExitCode::from(BAD_INPUT), problems),
        Err(error) => (ExitCode::from(SPOILED), vec![Problem::new("--server", 0, "", format!("{error:#}"))]),
    }
}

async fn try_all(args: &TryArgs, trial: &mut Trial) -> anyhow::Result<()> {
    let server = Server::new(&args.server, &args.token_env, &args.to)?;
    let mut interrupts = Interrupts::listen()?;
    let ended = play_all(args, &server, &mut interrupts, trial).await;
    tokio::select! {
        () = server.give_up_open() => {}
        // Asked again to stop: the server gives them up after a while.
        () = interrupts.next() => {}
    }
    ended
}

async fn play_all(
    args: &TryArgs,
    server: &Server,
    interrupts: &mut Interrupts,
    trial: &mut Trial,
) -> anyhow::Result<()> {
    let player = Player::new(args, server).await?;
    let all = 0..u64::from(args.n) * u64::from(args.samples);
    let attempts = stream::iter(all).map(|at| player.attempt(at)).buffer_unordered(args.concurrency as usize);
    // When it is dropped, commands that still run are stopped.
    let mut attempts = std::pin::pin!(attempts);
    loop {
        let attempt = tokio::select! {
            attempt = attempts.next() => attempt,
            () = interrupts.next() => {
                trial.is_interrupted = true;
                return Ok(());
            }
        };
        let Some(attempt) = attempt.transpose()? else { return Ok(()) };
        tell(args.format, &attempt);
        match attempt {
            Attempt::Played(episode) => trial.episodes.push(*episode),
            Attempt::Unplayed(reason) => trial.unplayed.push(reason),
        }
    }
}

/// Programs read the report alone.
fn tell(format: ReportFormat, attempt: &Attempt) {
    let line = match attempt {
        Attempt::Played(episode) => report::line(episode),
        Attempt::Unplayed(reason) => report::unplayed_line(reason),
    };
    match format {
        ReportFormat::Text => say!("{line}"),
        ReportFormat::Json => eprintln!("{line}"),
    }
}

enum Attempt {
    Played(Box<TriedEpisode>),
    /// The others are played on.
    Unplayed(String),
}

/// The samples of a start that nobody plays yet, or why they could not be opened.
type OpenedSamples = Result<Mutex<Vec<Episode>>, String>;

struct Player<'a> {
    args: &'a TryArgs,
    server: &'a Server,
    /// In place of the environment's name, if its seed is another one.
    environment: Option<Environment>,
    /// The first sample that is played opens all of its start: those of the next one would wait for too long.
    starts: Vec<OnceCell<OpenedSamples>>,
    /// Starts in a row that could not be opened.
    unopened: AtomicU32,
}

impl<'a> Player<'a> {
    async fn new(args: &'a TryArgs, server: &'a Server) -> anyhow::Result<Self> {
        let last = args.group.map(|first| i64::from(first) + i64::from(args.n) - 1);
        if last.is_some_and(|last| last >= i64::from(GROUPS_BY_CLIENTS)) {
            let message = format!("the last of {} groups must be at most {}", args.n, GROUPS_BY_CLIENTS - 1);
            return Err(BadInput::one("--group", message).into());
        }
        let environment = match args.seed {
            Some(_) => Some(Environment { seed: args.seed, ..server.environment(&args.environment).await? }),
            None => None,
        };
        let starts = (0..args.n).map(|_| OnceCell::new()).collect();
        Ok(Self { args, server, environment, starts, unopened: AtomicU32::new(0) })
    }

    /// One episode, from its first turn to its verification.
    ///
    /// # Errors
    /// The others would fail as well.
    async fn attempt(&self, at: u64) -> anyhow::Result<Attempt> {
        let start = u32::try_from(at / u64::from(self.args.samples))?;
        let cell = self.starts.get(start as usize).context("there is no such start")?;
        let next = match cell.get_or_try_init(|| self.open(start)).await? {
            Ok(opened) => opened.lock().pop().ok_or("the server opened too few episodes"),
            Err(reason) => Err(reason.as_str()),
        };
        match next {
            Ok(episode) => self.play(episode).await,
            Err(reason) => Ok(Attempt::Unplayed(reason.to_owned())),
        }
    }

    /// Opens the samples of a start. The others are played also if they cannot be opened.
    ///
    /// # Errors
    /// The others would fail as well.
    async fn open(&self, start: u32) -> anyhow::Result<OpenedSamples> {
        match self.server.open(&self.order(start)?).await {
            Ok(opened) => {
                self.unopened.store(0, Ordering::Relaxed);
                Ok(Ok(Mutex::new(opened)))
            }
            Err(error) if error.is::<BadInput>() => Err(error),
            Err(error) => {
                let in_a_row = self.unopened.fetch_add(1, Ordering::Relaxed) + 1;
                if in_a_row >= MOST_UNOPENED {
                    return Err(error.context(format!("{in_a_row} requests in a row opened no episode")));
                }
                Ok(Err(format!("{error:#}")))
            }
        }
    }

    fn order(&self, start: u32) -> anyhow::Result<NewEpisodes> {
        let name = self.environment.is_none().then(|| self.args.environment.clone());
        let group = match self.args.group {
            Some(first) => Some(first + i32::try_from(start)?),
            None => None,
        };
        Ok(NewEpisodes {
            name,
            environment: self.environment.clone().unwrap_or_default(),
            split: self.args.split,
            scenario: self.args.scenario.clone(),
            group,
            samples: Some(self.args.samples),
            token: true,
            ..NewEpisodes::default()
        })
    }

    async fn play(&self, episode: Episode) -> anyhow::Result<Attempt> {
        let agent = match AgentProcess::start(self.command(&episode)?) {
            Ok(agent) => agent,
            // There is no room for one more process now.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::OutOfMemory) => {
                return Ok(Attempt::Unplayed(format!("the command cannot be started: {error}")));
            }
            Err(error) => {
                let program = self.args.command.first().map_or("", String::as_str);
                return Err(BadInput::one("COMMAND", format!("{program} cannot be started: {error}")).into());
            }
        };
        let trouble = agent.trouble(Duration::from_secs(self.args.timeout)).await;
        let trouble = trouble.unwrap_or_else(|error| Some(format!("the command cannot be waited for: {error}")));
        // One episode that cannot be verified does not stop the others.
        let tried = match self.server.verify(&episode.id).await {
            Ok(ended) => TriedEpisode::new(ended, trouble),
            Err(error) => TriedEpisode::new(episode, trouble.or_else(|| Some(in_a_line(error)))),
        };
        Ok(Attempt::Played(Box::new(tried)))
    }

    fn command(&self, episode: &Episode) -> anyhow::Result<Command> {
        let (program, arguments) = self.args.command.split_first().context("no command")?;
        let at = self.server.episode(&episode.id)?;
        let token = episode.token.as_deref().context("the server gave no token for the episode")?;
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_withheld(name, &self.args.token_env)) {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .env("GROUNDSTATE_EPISODE", &episode.id)
            .env("GROUNDSTATE_EPISODE_URL", at.as_str())
            .env("GROUNDSTATE_MCP_URL", format!("{at}/mcp"))
            .env("GROUNDSTATE_URL", self.server.url().as_str().trim_end_matches('/'))
            .env("GROUNDSTATE_TOKEN", token);
        Ok(command)
    }
}

/// Whether the command does not get a variable: by what it holds, the command could read what the scenarios expect.
fn is_withheld(name: &OsStr, token_env: &str) -> bool {
    name == token_env || name == "DATABASE_URL" || name.as_encoded_bytes().starts_with(b"GROUNDSTATE_")
}

fn in_a_line(error: anyhow::Error) -> String {
    match error.downcast::<BadInput>() {
        Ok(BadInput(problems)) => problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; "),
        Err(error) => format!("{error:#}"),
    }
}
