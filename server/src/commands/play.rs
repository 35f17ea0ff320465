//! `groundstate play`: plays what is stored and works on jobs, together with every other process that does.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use domain::api::LEASE_SECONDS;
use llm::EndpointOptions;
use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::connection::{Connection, ConnectionArgs};
use super::interrupts::Interrupts;
use super::tools_file::ToolsArgs;
use crate::http::{self, MonitoredProcess};
use crate::jobs::{handlers, with_files, with_objects};
use crate::output::say;
use crate::playable::Player;
use crate::player_process::{self, PlayerOrder};
use crate::telemetry;
use generation::services;
use rows::RowResources;
use runtime::jobs::{self, Handlers};
use runtime::{Disks, LocalAnswers, ModelClients, Options};
use sandbox::Sandbox;
use store::Outage as _;
use store::claims::QuarantinePolicy;
use store::objects::Objects;

#[derive(clap::Args)]
pub struct Play {
    #[command(flatten)]
    player: PlayerArgs,
    /// Serve /metrics, /healthz and /readyz at this address, e.g. 127.0.0.1:7879; port 0 takes a free port
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// Folder for exports, if this process is to make them
    #[arg(long, value_name = "DIR", hide = true)]
    files: Option<PathBuf>,
    /// Place of datasets and indexes: a folder, or `s3://BUCKET/PREFIX`, if this process is to make them
    #[arg(long, env = "GROUNDSTATE_OBJECTS", value_name = "PLACE")]
    objects: Option<String>,
    #[command(flatten)]
    tools: ToolsArgs,
    /// Folder of the private PostgreSQL, whose disk must have room (for internal use)
    #[arg(long, value_name = "DIR", hide = true)]
    database_folder: Option<PathBuf>,
    /// Standard input is a socket: answer what is asked there, and stop when it closes (for internal use)
    #[arg(long, hide = true)]
    child: bool,
    /// Only work on jobs (for internal use)
    #[arg(long, hide = true)]
    only_jobs: bool,
    /// Only play tasks in quarantine, one after the other (for internal use)
    #[arg(long, hide = true)]
    quarantined: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

impl Play {
    /// Where datasets, indexes and tools are, for a process that is started.
    fn places(&self) -> Vec<OsString> {
        let files = self.files.iter().flat_map(|files| ["--files".into(), files.clone().into_os_string()]);
        let objects = self.objects.iter().flat_map(|place| ["--objects".into(), OsString::from(place)]);
        let tools = self.tools.tools.iter().flat_map(|file| ["--tools".into(), file.clone().into_os_string()]);
        files.chain(objects).chain(tools).collect()
    }
}

/// How this process plays.
#[derive(clap::Args)]
pub struct PlayerArgs {
    /// Conversations that this process plays at the same time; the number of calls to each model adapts automatically
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    concurrency: u32,
    /// How long to wait for calls in flight when the process is stopped, in seconds
    #[arg(long, default_value_t = 25, value_name = "SECONDS")]
    drain: u64,
    /// Seconds without a heartbeat after which other processes take over what this process plays
    #[arg(long, default_value_t = u64::from(LEASE_SECONDS), value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    lease: u64,
    /// How long an endpoint may take before the first byte of a reply, in seconds
    #[arg(long, default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    first_byte_timeout: u64,
}

impl PlayerArgs {
    /// Plays and works on jobs until it is asked to stop.
    pub async fn play(
        &self,
        pool: PgPool,
        (resources, answers): (RowResources, LocalAnswers),
        jobs: Handlers,
        disks: Disks,
        stop: &CancellationToken,
    ) -> anyhow::Result<()> {
        let options = Options { disks, ..self.options() };
        Player::new(pool, resources, options).with_jobs(jobs).with_answers(answers).play(stop).await
    }

    /// Plays what is in quarantine, one task at a time, until nothing is left there.
    async fn play_quarantined(
        &self,
        pool: PgPool,
        resources: RowResources,
        stop: &CancellationToken,
    ) -> anyhow::Result<()> {
        let options = Options { concurrency: 1, quarantined: QuarantinePolicy::Only, ..self.options() };
        Player::new(pool, resources, options).play(stop).await
    }

    fn options(&self) -> Options {
        Options {
            concurrency: self.concurrency as usize,
            drain: self.drain(),
            lease: Duration::from_secs(self.lease),
            ..Options::default()
        }
    }

    pub const fn drain(&self) -> Duration {
        Duration::from_secs(self.drain)
    }

    /// The same, for a process that is started.
    pub fn arguments(&self) -> Vec<OsString> {
        let Self { concurrency, drain, lease, first_byte_timeout } = self;
        let all = [
            ("concurrency", u64::from(*concurrency)),
            ("drain", *drain),
            ("lease", *lease),
            ("first-byte-timeout", *first_byte_timeout),
        ];
        all.iter().map(|(name, value)| format!("--{name}={value}").into()).collect()
    }

    /// Works on jobs until it is asked to stop, and plays nothing.
    pub async fn work_on_jobs(&self, pool: &PgPool, jobs: &Handlers, stop: &CancellationToken) -> anyhow::Result<()> {
        let options = jobs::Options { lease: Duration::from_secs(self.lease), ..jobs::Options::default() };
        Ok(jobs::serve(pool, &options, jobs, stop).await?)
    }

    /// The clients by which models are asked.
    pub fn clients(&self) -> ModelClients {
        let first_byte_timeout = Duration::from_secs(self.first_byte_timeout);
        ModelClients::new(EndpointOptions { first_byte_timeout, ..EndpointOptions::default() })
    }
}

pub async fn run(args: Play) -> anyhow::Result<ExitCode> {
    let child = args.child;
    match play_until_stopped(args).await {
        // The process that started this one starts another.
        Err(error) if child && error.is_outage() => {
            warn!(error = format!("{error:#}"), "the database is away");
            Ok(ExitCode::from(player_process::DATABASE_AWAY))
        }
        done => done,
    }
}

async fn play_until_stopped(args: Play) -> anyhow::Result<ExitCode> {
    let listener = match args.metrics {
        Some(address) => Some(
            TcpListener::bind(address)
                .await
                .with_context(|| format!("cannot listen on {address}; choose another address with --metrics"))?,
        ),
        None => None,
    };
    let connection = Connection::open(&args.connection).await?;
    let stop = CancellationToken::new();
    if let Some(listener) = listener {
        telemetry::count()?;
        say!("metrics on http://{}/metrics", listener.local_addr()?);
        let router = http::operations(MonitoredProcess { pool: connection.pool.clone(), player: None });
        tokio::spawn(async move { axum::serve(listener, router).await });
    }
    if args.child {
        telemetry::count()?;
    } else {
        say!("playing stored runs; Ctrl-C stops");
    }
    let played = until_interrupted(&stop, play(&args, &connection, &stop)).await;
    connection.close().await;
    played?;
    Ok(ExitCode::SUCCESS)
}

async fn play(args: &Play, connection: &Connection, stop: &CancellationToken) -> anyhow::Result<()> {
    let (player, pool) = (&args.player, &connection.pool);
    let tools = args.tools.read()?;
    let clients = player.clients().with_services(services::registered(&tools));
    let _following = runtime::follow(pool, &clients);
    let answers = LocalAnswers::default();
    if args.child {
        let socket = player_process::server_socket().context("--child is for processes that groundstate starts")?;
        player_process::obey(socket, stop.clone(), clients.clone(), answers.clone());
    }
    let files = args.files.clone().unwrap_or_else(|| args.connection.data_dir().join("files"));
    let objects = args.objects.as_deref().filter(|place| !place.is_empty()).map(Objects::open).transpose()?;
    let resources = RowResources::new(clients.clone(), objects.clone(), &files, tools);
    if args.quarantined {
        return player.play_quarantined(pool.clone(), resources, stop).await;
    }
    let sandbox = Sandbox::of_this_program();
    let mut handlers = handlers(&clients, &sandbox);
    if let Some(files) = &args.files {
        handlers = with_files(handlers, files);
    }
    if let Some(objects) = &objects {
        handlers = with_objects(handlers, objects, &files, &sandbox);
    }
    if args.only_jobs {
        return player.work_on_jobs(pool, &handlers, stop).await;
    }
    let order = PlayerOrder {
        arguments: [player.arguments(), args.places(), vec!["--quarantined".into()]].concat(),
        database_url: connection.url.clone(),
        drain: player.drain(),
    };
    let objects = objects.as_ref().and_then(Objects::folder);
    let folders = [args.files.as_deref(), objects, args.database_folder.as_deref(), connection.folder()];
    let disks = Disks::of(folders.into_iter().flatten().map(Path::to_owned).collect());
    let (playing, ()) = tokio::join!(
        player.play(pool.clone(), (resources, answers), handlers, disks, stop),
        player_process::watch(&order, pool, stop)
    );
    playing
}

/// Lets `playing` end by itself when somebody asks us to stop; asked twice, it is dropped.
pub async fn until_interrupted(
    stop: &CancellationToken,
    playing: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    let mut playing = std::pin::pin!(playing);
    let mut interrupts = Interrupts::listen()?;
    loop {
        tokio::select! {
            played = &mut playing => return played,
            () = interrupts.next() => {
                if stop.is_cancelled() {
                    return Ok(());
                }
                eprintln!("stopping; waiting for calls in flight, a second Ctrl-C stops at once");
                stop.cancel();
            }
        }
    }
}
