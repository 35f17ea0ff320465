//! A server, its workers and their engines as processes, and a run over them while parts of it die.

mod clock;

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use domain::api::RunState;
use domain::api::workers::WorkerState;
use domain::outcome::Outcome;
use domain::role::Role;
use generation::ConversationRun;
use generation::plan::RunConfig;
use llm::PoolSpec;
use rustix::process::{Pid, Signal, kill_process};
use sqlx::PgPool;
use store::workers::LOST_AFTER;
use store::{runs, workers};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use super::worker::{QUICK, engine, gone};
use super::{groundstate, said};
use crate::support::endpoint::Endpoint;
use crate::support::play::{HELP, planned_as, stories};
use crate::support::{agent, database_url, ledger, project};

/// Nothing takes nearly so long; a machine that is busy with other tests may be slow.
const BOUND: Duration = Duration::from_mins(2);
/// Long enough for requests to be in flight whenever something dies.
const LATENCY: Duration = Duration::from_millis(200);

struct Fleet {
    pool: PgPool,
    port: u16,
    server: Child,
    token: String,
    /// What the engines answer comes from here.
    endpoint: Endpoint,
    workers: Vec<Worker>,
}

/// How many seconds a process's clock goes before the machine's.
#[derive(Clone, Copy)]
struct Ahead(i64);

/// A worker process, and the folder of its engine.
struct Worker {
    name: &'static str,
    folder: TempDir,
    process: Child,
}

impl Fleet {
    /// A server and workers that serve `qwen`.
    async fn of(pool: &PgPool, names: &[&'static str]) -> Self {
        Self::by_clocks(pool, Ahead(0), &names.iter().map(|name| (*name, Ahead(0))).collect::<Vec<_>>()).await
    }

    /// The server's clock, and that of each worker.
    async fn by_clocks(pool: &PgPool, server: Ahead, workers: &[(&'static str, Ahead)]) -> Self {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let endpoint = Endpoint::start_slow(LATENCY, agent::help).await;
        let made = said(&mut command(pool, &["workers", "token", "test"])).await;
        let (token, server) = (made.stdout.trim().to_owned(), server.of(&mut serving(pool, free)).spawn().unwrap());
        let mut fleet = Self { pool: pool.clone(), port: free, server, token, endpoint, workers: Vec::new() };
        for (name, clock) in workers {
            fleet.join(name, *clock);
        }
        fleet.until_ready(workers.len()).await;
        fleet
    }

    fn join(&mut self, name: &'static str, clock: Ahead) {
        let folder = tempfile::tempdir().unwrap();
        let upstream = self.endpoint.model().split_once('@').unwrap().1.to_owned();
        fs::write(folder.path().join("upstream"), upstream).unwrap();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let mut worker = groundstate(["worker", "--model", "qwen", "--engine", "vllm", "--name", name]);
        worker.args(["--server", &format!("http://127.0.0.1:{}", self.port), "--program"]).arg(engine());
        worker.args(QUICK.split(' ')).env("GROUNDSTATE_JOIN_TOKEN", &self.token).env("FAKE_ENGINE", folder.path());
        let process = clock.of(worker.stdout(log.try_clone().unwrap()).stderr(log)).spawn().unwrap();
        self.workers.push(Worker { name, folder, process });
    }

    async fn until_ready(&self, n: usize) {
        let ready = async || {
            let all = workers::all(&mut self.pool.acquire().await.unwrap()).await.unwrap();
            all.iter().filter(|worker| worker.state == WorkerState::Ready && !worker.lost).count() == n
        };
        self.until("all workers are ready", ready).await;
    }

    /// A run of so many conversations, which the server plays, in its middle.
    async fn amid_a_run(&self, n: usize) -> ConversationRun {
        let models = [(Role::Agent, "qwen".to_owned())];
        let run = planned_as(&self.pool, &[HELP], n, 1, &models, served_by_workers).await;
        self.until("the run is played", async || self.endpoint.requests().len() > n / 2).await;
        run
    }

    /// Every conversation was accepted, none was played again, and the ledger is in order.
    async fn assert_nothing_failed(&self, run: &ConversationRun, n: usize) {
        let ended = async || {
            let state = runs::state_of(&mut self.pool.acquire().await.unwrap(), run.control.run.id).await.unwrap();
            state == Some(RunState::Finished)
        };
        self.until("the run has ended", ended).await;
        let stories = stories(run).await;
        assert_eq!(stories.len(), n);
        for story in stories {
            assert_eq!(story.outcome, Outcome::Accepted, "{:?}", story.events.last());
        }
        ledger::check(&self.pool, run.control.run.id).await;
    }

    async fn until(&self, what: &str, reached: impl AsyncFn() -> bool) {
        let begun = Instant::now();
        while !reached().await {
            let logs = || self.workers.iter().map(Worker::log).collect::<Vec<_>>().join("\n--\n");
            assert!(begun.elapsed() < BOUND, "never: {what}\n{}", logs());
            sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Ahead {
    fn of(self, command: &mut Command) -> &mut Command {
        match self.0 {
            0 => command,
            seconds => command.env("LD_PRELOAD", clock::preload()).env("AHEAD", seconds.to_string()),
        }
    }
}

fn served_by_workers(config: &mut RunConfig) {
    config.pools = vec![PoolSpec::of_workers("qwen")];
}

impl Worker {
    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// The processes that its engine was, one after the other.
    fn engines(&self) -> Vec<Pid> {
        let starts = fs::read_to_string(self.path("starts")).unwrap_or_default();
        starts.lines().map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap()).collect()
    }

    fn signal(&self, signal: Signal) {
        kill_process(pid(&self.process), signal).unwrap();
    }

    /// As if its network were cut: nothing comes from it, and nothing is refused either.
    fn falls_silent(&self, silent: bool) {
        let signal = if silent { Signal::STOP } else { Signal::CONT };
        self.signal(signal);
        kill_process(*self.engines().last().unwrap(), signal).unwrap();
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().unwrap().cast_signed()).unwrap()
}

fn command(pool: &PgPool, arguments: &[&str]) -> Command {
    let mut command = groundstate(arguments);
    command.env("DATABASE_URL", database_url(pool)).current_dir(project());
    command
}

fn serving(pool: &PgPool, port: u16) -> Command {
    command(pool, &["serve", "--listen", &format!("127.0.0.1:{port}")])
}

#[sqlx::test(migrations = "../migrations")]
async fn what_a_worker_was_asked_that_is_killed_another_answers(pool: PgPool) {
    let fleet = Fleet::of(&pool, &["one", "two"]).await;
    let run = fleet.amid_a_run(200).await;
    fleet.workers[0].signal(Signal::KILL);
    fleet.assert_nothing_failed(&run, 200).await;
    let orphan = fleet.workers[0].engines()[0];
    fleet.until("its engine has ended too", async || gone(orphan)).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_server_that_is_killed_and_started_again_loses_nothing(pool: PgPool) {
    let mut fleet = Fleet::of(&pool, &["one", "two"]).await;
    let run = fleet.amid_a_run(200).await;
    fleet.server.start_kill().unwrap();
    fleet.server.wait().await.unwrap();
    fleet.server = serving(&pool, fleet.port).spawn().unwrap();
    fleet.assert_nothing_failed(&run, 200).await;
    fleet.until_ready(2).await;
    assert!(fleet.workers.iter().all(|worker| worker.engines().len() == 1), "engines go on while the server is away");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_rolling_restart_fails_no_row(pool: PgPool) {
    let fleet = Fleet::of(&pool, &["one", "two"]).await;
    let run = fleet.amid_a_run(400).await;
    for worker in &fleet.workers {
        let ordered = said(&mut command(&pool, &["workers", "restart", worker.name])).await;
        assert_eq!(ordered.code, Some(0), "{}", ordered.stderr);
        fleet.until("its engine is another one", async || worker.engines().len() == 2).await;
        fleet.until_ready(2).await;
    }
    fleet.assert_nothing_failed(&run, 400).await;
}

/// Far longer than a worker may be silent.
const CUT: Duration = LOST_AFTER.saturating_mul(3);

#[sqlx::test(migrations = "../migrations")]
async fn a_network_that_is_cut_is_waited_for(pool: PgPool) {
    let fleet = Fleet::of(&pool, &["one", "two"]).await;
    let run = fleet.amid_a_run(200).await;
    fleet.workers.iter().for_each(|worker| worker.falls_silent(true));
    let silent = async || {
        let since = "SELECT count(*) FROM workers WHERE heartbeat_at < now() - $1 * interval '1 second'";
        let silent = sqlx::query_scalar::<_, i64>(since).bind(CUT.as_secs_f64()).fetch_one(&pool);
        silent.await.unwrap() == 2
    };
    fleet.until("both have been silent for long", silent).await;
    let state = runs::state_of(&mut pool.acquire().await.unwrap(), run.control.run.id).await.unwrap();
    assert_eq!(state, Some(RunState::Running), "nobody could answer");
    fleet.workers.iter().for_each(|worker| worker.falls_silent(false));
    fleet.assert_nothing_failed(&run, 200).await;
}

/// Nobody's clock but the database's says who is alive, and for how long a run was played.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[sqlx::test(migrations = "../migrations")]
async fn clocks_that_disagree_change_nothing(pool: PgPool) {
    let hours = |n: i64| Ahead(n * 3600);
    let fleet = Fleet::by_clocks(&pool, hours(2), &[("one", hours(-3)), ("two", hours(1))]).await;
    let run = fleet.amid_a_run(200).await;
    let id = run.control.run.id.to_string();
    let ordered = said(&mut command(&pool, &["runs", "budget", &id, "--budget-seconds", "1800"])).await;
    assert_eq!(ordered.code, Some(0), "{}", ordered.stderr);
    fleet.workers[0].signal(Signal::KILL);
    fleet.assert_nothing_failed(&run, 200).await;
    let all = async || workers::all(&mut pool.acquire().await.unwrap()).await.unwrap();
    fleet.until("the other one is missed", async || all().await.iter().any(|w| w.name == "one" && w.lost)).await;
    assert!(all().await.iter().any(|w| w.name == "two" && !w.lost), "{:?}", fleet.workers[1].log());
}
