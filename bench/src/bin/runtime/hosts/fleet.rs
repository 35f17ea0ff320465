//! The processes of Groundstate, each on a host of its own, some with a wrong clock.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use domain::api::workers::WorkerState;
use store::workers;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use super::super::program::{Database, Place};
use super::database;
use super::network::{Host, Network};

/// Conversations that each player plays at once.
const EACH: u32 = 16;
const READY_WITHIN: Duration = Duration::from_mins(1);
const ENGINE_PORT: u16 = 8000;

/// How many hours a process's clock goes before the machine's.
#[derive(Clone, Copy)]
struct Ahead(i64);

/// The hosts of the server, the players and the workers.
pub struct Hosts {
    pub server: Host,
    pub players: [Host; 3],
    pub workers: [Host; 2],
}

pub struct Fleet {
    pub hosts: Hosts,
    processes: Vec<(String, Child)>,
    /// Where the engines say what they were asked.
    pub engines: Vec<String>,
}

/// Starts processes with wrong clocks.
struct Clock {
    preload: PathBuf,
}

impl Hosts {
    pub fn new(network: &mut Network) -> anyhow::Result<Self> {
        Ok(Self {
            server: network.host("server")?,
            players: [network.host("player-1")?, network.host("player-2")?, network.host("player-3")?],
            workers: [network.host("worker-1")?, network.host("worker-2")?],
        })
    }
}

impl Fleet {
    /// Starts them all, and waits until the workers serve.
    pub async fn start(place: &Place, db: &Database, hosts: Hosts, median_ms: f64) -> anyhow::Result<Self> {
        let clock = Clock::build(place.path()).await?;
        let mut fleet = Self { hosts, processes: Vec::new(), engines: Vec::new() };
        let token = place.done(&database::url(), &["workers", "token", "bench"]).await?;
        fleet.serve(place, &clock, Ahead(1))?;
        for (number, ahead) in [(0, Ahead(-1)), (1, Ahead(0))] {
            fleet.work(place, number, token.trim(), median_ms, (&clock, ahead))?;
        }
        for (number, ahead) in [(0, Ahead(2)), (1, Ahead(-3)), (2, Ahead(0))] {
            fleet.play(place, number, (&clock, ahead))?;
        }
        fleet.until_ready(db).await?;
        Ok(fleet)
    }

    fn serve(&mut self, place: &Place, clock: &Clock, ahead: Ahead) -> anyhow::Result<()> {
        let host = &self.hosts.server;
        let mut command = groundstate(place, host);
        command.args(["serve", "--no-play", "--files", "files", "--listen", &at(host, 7878)]);
        self.processes.push((host.name.to_owned(), clock.ahead(&mut command, ahead).spawn()?));
        Ok(())
    }

    fn play(&mut self, place: &Place, number: usize, (clock, ahead): (&Clock, Ahead)) -> anyhow::Result<()> {
        let host = &self.hosts.players[number];
        let mut command = groundstate(place, host);
        command.args(["play", "--concurrency", &EACH.to_string()]);
        self.processes.push((host.name.to_owned(), clock.ahead(&mut command, ahead).spawn()?));
        Ok(())
    }

    /// An engine, and the worker that offers it to the pool.
    fn work(
        &mut self,
        place: &Place,
        number: usize,
        token: &str,
        median_ms: f64,
        (clock, ahead): (&Clock, Ahead),
    ) -> anyhow::Result<()> {
        let host = &self.hosts.workers[number];
        let (listen, engine) = (at(host, ENGINE_PORT), format!("http://{}", at(host, ENGINE_PORT)));
        let mut command = host.command(&place.programs().join("mock_openai"));
        command.args(["--listen", &listen, "--median-ms", &median_ms.to_string()]).stdout(Stdio::null());
        self.processes.push((format!("engine of {}", host.name), command.spawn()?));
        let server = format!("http://{}", at(&self.hosts.server, 7878));
        let mut command = groundstate(place, host);
        command.args(["worker", "--server", &server, "--insecure", "--engine", "external", "--model", "mock"]);
        command.args(["--name", host.name, "--url", &format!("{engine}/v1")]).env("GROUNDSTATE_JOIN_TOKEN", token);
        self.processes.push((host.name.to_owned(), clock.ahead(&mut command, ahead).spawn()?));
        self.engines.push(engine);
        Ok(())
    }

    async fn until_ready(&mut self, db: &Database) -> anyhow::Result<()> {
        let begun = Instant::now();
        loop {
            let all = workers::all(&mut *db.pool.acquire().await?).await?;
            let ready = all.iter().filter(|worker| worker.state == WorkerState::Ready && !worker.lost).count();
            if ready == self.hosts.workers.len() {
                return Ok(());
            }
            ensure!(begun.elapsed() < READY_WITHIN, "{ready} workers are ready: {all:?}");
            self.check()?;
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// # Errors
    /// One of the processes has ended.
    pub fn check(&mut self) -> anyhow::Result<()> {
        for (name, child) in &mut self.processes {
            if let Some(status) = child.try_wait()? {
                bail!("the process on {name} ended: {status}");
            }
        }
        Ok(())
    }
}

impl Clock {
    /// The library by which the tests of the server make clocks wrong, too.
    async fn build(folder: &Path) -> anyhow::Result<Self> {
        let preload = folder.join("clock.so");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&preload).arg("server/tests/it/cli/fleet/clock.c");
        let built = cc.status().await.context("cc, a compiler of C, is not installed")?;
        ensure!(built.success(), "clock.c cannot be built");
        Ok(Self { preload })
    }

    fn ahead<'a>(&self, command: &'a mut Command, ahead: Ahead) -> &'a mut Command {
        match ahead.0 {
            0 => command,
            hours => command.env("LD_PRELOAD", &self.preload).env("AHEAD", (hours * 3600).to_string()),
        }
    }
}

fn groundstate(place: &Place, host: &Host) -> Command {
    let mut command = host.command(&place.programs().join("groundstate"));
    command.current_dir(place.path()).env("DATABASE_URL", database::url()).env_remove("GROUNDSTATE_DATA");
    command.stdout(Stdio::null());
    command
}

fn at(host: &Host, port: u16) -> String {
    SocketAddr::from((host.address, port)).to_string()
}
