//! `groundstate worker`: serves models on this machine.

mod args;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use domain::Problem;
use domain::api::workers::Gpu;
use reqwest::{Client, Url};
use tokio_util::sync::CancellationToken;

use self::args::{ModelArgs, TimingArgs};
use super::interrupts::Interrupts;
use crate::output::say;
use domain::bad_input::BadInput;
use worker::config::{ModelConfig, ModelConfigError, file};
use worker::gpus::Driver;
use worker::placement::{self, Placement};
use worker::resolve::{self, Machine};
use worker::{self, Server, Worker, process};

/// It starts an inference engine, watches it, and makes it a member of the server's pool. The join token is in a
/// file, or in the environment variable `GROUNDSTATE_JOIN_TOKEN`; `groundstate workers token NAME` on the server makes one.
#[derive(clap::Args)]
pub struct WorkerArgs {
    /// The Groundstate server
    #[arg(long, env = "GROUNDSTATE_SERVER", value_name = "URL", required_unless_present = "dry_run")]
    server: Option<Url>,
    /// File that holds the join token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Send the token over plain HTTP, where others on the network can read it
    #[arg(long)]
    insecure: bool,
    /// File with several models for this machine (YAML): `models`, each with these flags as fields, and `memory_gb`
    #[arg(long, value_name = "FILE", required_unless_present = "model")]
    config: Option<PathBuf>,
    /// Print how the engines would be started, and start nothing
    #[arg(long)]
    dry_run: bool,
    /// Plan with --dry-run for GPUs with this much memory, in GB, instead of this machine's
    #[arg(long, value_name = "GB,GB", value_delimiter = ',', requires = "dry_run")]
    assume_gpus: Option<Vec<u32>>,
    #[command(flatten)]
    model: Option<ModelArgs>,
    #[command(flatten)]
    timing: TimingArgs,
}

/// What a worker starts to start an engine.
#[derive(clap::Args)]
pub struct BecomeArgs {
    #[arg(long)]
    parent: u32,
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

pub async fn run(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let workers = resolved(&args)?;
    if args.dry_run {
        print(&workers);
        return Ok(ExitCode::SUCCESS);
    }
    let server = server(&args)?;
    warn_of_open_engines(&workers);
    let (stop, now) = (CancellationToken::new(), CancellationToken::new());
    let timing = args.timing.timing();
    tokio::select! {
        ended = worker::run(&workers, &server, &timing, &stop, &now) => ended?,
        failed = heed_signals(&stop, &now) => failed?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Only returns if it cannot.
pub fn become_engine(args: &BecomeArgs) -> ExitCode {
    eprintln!("{}", process::become_engine(args.parent, &args.command));
    // As shells have it.
    ExitCode::from(127)
}

fn resolved(args: &WorkerArgs) -> anyhow::Result<Vec<Worker>> {
    let (models, blame): (Vec<ModelConfig>, Box<dyn Fn(ModelConfigError) -> Problem>) =
        match (&args.config, &args.model) {
            (Some(path), _) => {
                let read = file::read(path)?;
                (read.models.clone(), Box::new(move |unfit| read.problem(unfit.model, unfit.field, unfit.why)))
            }
            (None, Some(model)) => {
                let model = model.config();
                let flag = |field: &str| format!("--{}", field.replace('_', "-"));
                let faults = model.faults().into_iter();
                let problems: Vec<Problem> = faults.map(|(field, why)| Problem::new(flag(field), 0, "", why)).collect();
                if !problems.is_empty() {
                    bail!(BadInput(problems));
                }
                (vec![model], Box::new(move |unfit| Problem::new(flag(unfit.field), 0, "", unfit.why)))
            }
            (None, None) => bail!(BadInput::one("--model", "is missing; use --config for several models")),
        };
    let refused = |unfit: Vec<ModelConfigError>| BadInput(unfit.into_iter().map(&blame).collect());
    let placed: Vec<Placement> = placement::place(&models, &gpus(args)).map_err(refused)?;
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Ok(resolve::workers(&models, &placed, &Machine { host: &host, dry_run: args.dry_run }).map_err(refused)?)
}

fn gpus(args: &WorkerArgs) -> Vec<Gpu> {
    let Some(assumed) = &args.assume_gpus else { return Driver::open().gpus() };
    let gpu = |(index, gigabytes): (u32, &u32)| Gpu {
        index,
        name: "assumed".to_owned(),
        memory_total: u64::from(*gigabytes) * 1_000_000_000 / (1 << 20),
        memory_used: 0,
        utilisation: None,
    };
    (0..).zip(assumed).map(gpu).collect()
}

fn print(workers: &[Worker]) {
    for Worker { join, launch, gpus, .. } in workers {
        let on = gpus.as_ref().filter(|gpus| !gpus.is_empty()).map(|gpus| {
            let gpus: Vec<String> = gpus.iter().map(u32::to_string).collect();
            format!(" on GPU {}", gpus.join(", "))
        });
        say!("# {} serves `{}`{} at {}", join.name, join.model, on.unwrap_or_default(), join.url);
        match launch {
            Some(launch) => say!("{}", launch.line(join.key_env.as_deref())),
            None => say!("# somebody else runs the engine"),
        }
    }
}

fn server(args: &WorkerArgs) -> anyhow::Result<Server> {
    let Some(url) = args.server.clone() else { bail!(BadInput::one("--server", "is missing")) };
    let local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    match url.scheme() {
        "https" => {}
        "http" if local || args.insecure => {}
        "http" => {
            let why = "would send the join token unencrypted; use https, or --insecure in a network that you trust";
            bail!(BadInput::one("--server", why))
        }
        other => bail!(BadInput::one("--server", format!("begins with `{other}:`, expected https:"))),
    }
    Ok(Server { http: Client::new(), url, token: token(args)? })
}

/// Never a flag: whoever is on the machine can read the flags of its processes.
fn token(args: &WorkerArgs) -> anyhow::Result<String> {
    let token = match &args.token_file {
        Some(path) => {
            let place = || BadInput::one("--token-file", format!("{} cannot be read", path.display()));
            std::fs::read_to_string(path).with_context(place)?
        }
        None => std::env::var("GROUNDSTATE_JOIN_TOKEN").unwrap_or_default(),
    };
    let token = token.trim().to_owned();
    if token.is_empty() {
        let why = "holds no token, and neither does the environment variable GROUNDSTATE_JOIN_TOKEN; \
                   `groundstate workers token NAME` on the server makes one";
        bail!(BadInput::one("--token-file", why));
    }
    Ok(token)
}

fn warn_of_open_engines(workers: &[Worker]) {
    for Worker { join, launch, .. } in workers {
        let open = launch.as_ref().is_some_and(|launch| launch.args.iter().any(|arg| arg == "0.0.0.0"));
        if open && join.key_env.is_none() {
            eprintln!(
                "{}: everybody who can reach this machine can use the engine; --key-env gives it a key",
                join.name
            );
        }
    }
}

/// The first signal lets the workers drain, the second one lets them leave at once.
async fn heed_signals(stop: &CancellationToken, now: &CancellationToken) -> anyhow::Result<()> {
    let mut interrupts = Interrupts::listen()?;
    interrupts.next().await;
    eprintln!("draining: running requests finish; a second Ctrl-C leaves at once");
    stop.cancel();
    interrupts.next().await;
    now.cancel();
    std::future::pending().await
}
