//! Hours of runs against a model with latency, jobs of every kind and episodes beside them, and a process killed every
//! minute.

mod jobs;
mod samples;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use domain::api::RunState;
use domain::storage::ProjectStorage;
use parking_lot::Mutex;
use rows::plays_rows;
use rustix::fs::statvfs;
use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::PgPool;
use store::ledger::Broken;
use store::runs::{self, Run};
use store::{control, ledger, measure};
use tokio::process::Child;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use uuid::Uuid;

use self::jobs::{JobCounts, JobsBeside};
use self::samples::{Sample, Samples};
use super::api::Caller;
use super::cases::{ended, row, summary};
use super::episodes;
use super::machine;
use super::program::{Database, Place};
use super::workflows;

/// One lives through it all; of the others one is killed at a time.
const PLAYERS: usize = 4;
/// The dataset whose rows are played.
const PAGES: &str = "pages";
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often the server is asked for the same, before that is an error.
const LOOKS: u32 = 10;
const SAMPLE_EVERY: u64 = 30;
const KILL_EVERY: u64 = 60;
/// One run in so many is of rows of a workflow, played by stand-ins.
const ROWS_EVERY: usize = 4;
/// Conversations of the run that jobs are about.
const FOR_JOBS: u32 = 200;
/// More than are made, the branches among them.
const MOST_RUNS: i64 = 10_000;
/// What docs/deploy.md says that a conversation takes.
const PLANNED_BYTES: f64 = 15_000.0;
/// Memory and disk settle until then.
const WARM: Duration = Duration::from_mins(5);

#[derive(clap::Args, Clone)]
pub struct Flags {
    /// No run is begun after so long; the last one is played to its end
    #[arg(long, default_value_t = 120)]
    minutes: u64,
    /// Conversations and rows in all
    #[arg(long, default_value_t = 2_000_000)]
    n: u32,
    /// Conversations or rows of each run
    #[arg(long, default_value_t = 50_000)]
    each: u32,
    /// Conversations that each of the four players plays at once
    #[arg(long, default_value_t = 96)]
    concurrency: u32,
    /// Median of the model's latency
    #[arg(long, default_value_t = 300.0)]
    median_ms: f64,
    /// File of the samples
    #[arg(long, default_value = "soak.csv")]
    csv: PathBuf,
}

/// The processes, what was played, and what was done to them.
struct Soak<'a> {
    place: &'a Place,
    db: &'a Database,
    flags: &'a Flags,
    caller: Caller,
    server: u32,
    model: u32,
    players: Vec<Child>,
    /// Runs that are played, the newest last, and those that have ended.
    open: Vec<Run>,
    done: Vec<Run>,
    /// Of the runs that have ended.
    audits: JoinSet<store::Result<Vec<Broken>>>,
    /// Conversations and rows that are stored to be played.
    stored: u32,
    /// Those of runs that have ended.
    ended: Tasks,
    kills: u64,
    counts: Arc<Mutex<JobCounts>>,
    begun: Instant,
}

/// How many tasks there are of each kind.
#[derive(Clone, Copy, Default)]
struct Tasks {
    conversations: i64,
    rows: i64,
}

impl Tasks {
    fn add(&mut self, run: &Run, tasks: i64) {
        *if plays_rows(&run.kind) { &mut self.rows } else { &mut self.conversations } += tasks;
    }

    const fn all(self) -> i64 {
        self.conversations + self.rows
    }
}

pub async fn case(place: &Place, flags: &Flags) -> anyhow::Result<()> {
    let mut samples = Samples::new(&flags.csv)?;
    let db = place.database().await?;
    let (model, url) = place.model(&["--median-ms", &flags.median_ms.to_string()]).await?;
    place.name_model(&url, 10_000)?;
    place.add(Path::new("."), &[&format!("workflows/{}", workflows::FUNNEL)])?;
    place.done(&db.url, &["sync", "--push"]).await?;
    let (server, url) = place.serve(&db, &["--no-play", "--objects", "objects"]).await?;
    let mut players = (0..PLAYERS)
        .map(|_| place.play(&db, flags.concurrency, &workflows::STORAGE))
        .collect::<anyhow::Result<Vec<_>>>()?;
    workflows::dataset(place, &db, PAGES, flags.each.into(), workflows::web_page).await?;
    let subject = place.run(&db, FOR_JOBS, &["--agent", "mock"]).await?;
    ended(&db.pool, &subject, &mut players).await?;
    let mut soak = Soak {
        place,
        db: &db,
        flags,
        caller: Caller::administrator(&db.pool, url).await?,
        server: server.id().context("no process")?,
        model: model.id().context("no process")?,
        players,
        open: Vec::new(),
        done: Vec::new(),
        audits: JoinSet::new(),
        stored: 0,
        ended: Tasks::default(),
        kills: 0,
        counts: Arc::default(),
        begun: Instant::now(),
    };
    episodes::environment(&soak.caller).await?;
    let beside = JobsBeside::new(place, soak.caller.clone(), subject.id, Arc::clone(&soak.counts));
    let counts = Arc::clone(&soak.counts);
    let playing = async {
        soak.play(&mut samples).await?;
        counts.lock().is_over = true;
        anyhow::Ok(())
    };
    let asking = async {
        beside.run().await;
        Ok(())
    };
    tokio::try_join!(playing, asking)?;
    soak.report(&samples);
    soak.audit().await?;
    drop((soak, server, model));
    db.stop().await;
    Ok(())
}

async fn audit(db: PgPool, run: Uuid) -> store::Result<Vec<Broken>> {
    ledger::broken_in(&mut *db.acquire().await?, run).await
}

impl Soak<'_> {
    /// One run after the other, and each second a look at what is due.
    async fn play(&mut self, samples: &mut Samples) -> anyhow::Result<()> {
        let mut clock = interval(LOOK_EVERY);
        clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let (mut sampled, mut minutes, mut before) = (0, 0, 0);
        loop {
            clock.tick().await;
            let all = self.progress().await?;
            let seconds = self.begun.elapsed().as_secs();
            let is_over = seconds / 60 >= self.flags.minutes || self.stored >= self.flags.n;
            if self.left_to_begin().await? == 0 && !is_over {
                self.next_run().await?;
            }
            if is_over && self.open.is_empty() {
                return Ok(());
            }
            if seconds / SAMPLE_EVERY > sampled {
                sampled = seconds / SAMPLE_EVERY;
                samples.add(self.sample(all).await?)?;
            }
            if seconds / KILL_EVERY > minutes {
                minutes = seconds / KILL_EVERY;
                self.kill_one().await?;
                self.say(minutes, all.all(), all.all() - before);
                before = all.all();
            }
        }
    }

    fn say(&self, minutes: u64, all: i64, in_it: i64) {
        let (kills, counts) = (self.kills, self.counts.lock());
        let (jobs, failed) = (counts.ended.values().sum::<u32>(), &counts.failed);
        println!(
            "{minutes} min: {all} conversations and rows, {in_it} in the last one; {kills} kills, {jobs} jobs, failed {failed:?}"
        );
    }

    async fn next_run(&mut self) -> anyhow::Result<()> {
        let n = self.flags.each.min(self.flags.n - self.stored);
        let number = self.done.len() + self.open.len();
        let run = if number % ROWS_EVERY == ROWS_EVERY - 1 && n == self.flags.each {
            workflows::order(self.place, self.db, workflows::FUNNEL, PAGES).await?
        } else {
            self.place.run(self.db, n, &["--agent", "mock", "--seed", &number.to_string()]).await?
        };
        self.open.push(run);
        self.stored += n;
        Ok(())
    }

    /// Counts the tasks that have ended.
    async fn progress(&mut self) -> anyhow::Result<Tasks> {
        let mut open = Tasks::default();
        for run in std::mem::take(&mut self.open) {
            let now = summary(&self.db.pool, &run).await?;
            ensure!(
                matches!(now.state, RunState::Running | RunState::Finished),
                "a run is {}: {:?}",
                now.state,
                now.paused_because
            );
            if now.state == RunState::Finished {
                self.ended.add(&run, now.finished);
                self.audits.spawn(audit(self.db.pool.clone(), run.id));
                self.done.push(run);
            } else {
                open.add(&run, now.finished);
                self.open.push(run);
            }
        }
        let Tasks { conversations, rows } = self.ended;
        Ok(Tasks { conversations: conversations + open.conversations, rows: rows + open.rows })
    }

    /// Of the newest run.
    async fn left_to_begin(&self) -> anyhow::Result<i32> {
        match self.open.last() {
            Some(run) => Ok(measure::left_to_begin(&mut *self.db.pool.acquire().await?, run.id).await?),
            None => Ok(0),
        }
    }

    /// One of the players in turn, or the process that works on the server's jobs. All but that one are started again here.
    async fn kill_one(&mut self) -> anyhow::Result<()> {
        let turn = usize::try_from(self.kills)? % PLAYERS;
        self.kills += 1;
        if turn == 0 {
            if let Some(pid) = self.jobs_process().and_then(|pid| Pid::from_raw(pid.cast_signed())) {
                kill_process(pid, Signal::KILL)?;
            }
            return Ok(());
        }
        self.players[turn].kill().await?;
        self.players[turn] = self.place.play(self.db, self.flags.concurrency, &workflows::STORAGE)?;
        Ok(())
    }

    fn jobs_process(&self) -> Option<u32> {
        let children = machine::children(self.server).into_iter();
        children.filter(|(_, line)| line.contains("--only-jobs")).map(|(pid, _)| pid).next()
    }

    /// What stands there. A machine that was stopped for a while may refuse a request or two.
    async fn look<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        for _ in 0..LOOKS {
            match self.caller.get(path).await {
                Ok((found, _)) => return Ok(found),
                Err(error) => println!("{error:#}"),
            }
            sleep(LOOK_EVERY).await;
        }
        bail!("{path} was refused {LOOKS} times")
    }

    async fn sample(&mut self, all: Tasks) -> anyhow::Result<Sample> {
        if let Some(status) = self.players[0].try_wait()? {
            bail!("the player that nobody kills ended: {status}");
        }
        // As somebody does who looks at what is played.
        if let Some(run) = self.open.last() {
            let list = if plays_rows(&run.kind) { "rows" } else { "conversations" };
            self.look::<Value>(&format!("/api/v1/runs/{}/{list}", run.id)).await?;
        }
        let storage: ProjectStorage = self.look("/api/v1/projects/default/storage").await?;
        let players: Vec<u64> = self.players.iter().filter_map(Child::id).map(machine::memory).collect();
        let disk = statvfs(self.place.path())?;
        let postmaster = self.db.postmaster()?;
        let postgres = machine::children(postmaster).iter().map(|(pid, _)| machine::own_memory(*pid)).sum::<u64>();
        let jobs = u64::from(self.counts.lock().ended.values().sum::<u32>());
        Ok([
            self.begun.elapsed().as_secs(),
            all.conversations.cast_unsigned(),
            all.rows.cast_unsigned(),
            jobs,
            self.kills,
            machine::memory(self.server),
            self.jobs_process().map_or(0, machine::memory),
            players[0],
            players[1..].iter().sum(),
            machine::memory(self.model),
            postgres + machine::own_memory(postmaster),
            measure::size(&mut *self.db.pool.acquire().await?).await?.cast_unsigned(),
            storage.used.runs.cast_unsigned(),
            disk.f_bavail * disk.f_frsize,
        ])
    }

    fn report(&self, samples: &Samples) {
        let seconds = self.begun.elapsed().as_secs_f64();
        let Tasks { conversations, rows } = self.ended;
        row("conversations", &format!("{conversations} and {rows} rows in {:.0} min", seconds / 60.0));
        row("runs", &self.done.len().to_string());
        row("processes killed by SIGKILL", &self.kills.to_string());
        let counts = self.counts.lock();
        row("jobs that ended", &format!("{:?}", counts.ended));
        row("jobs that failed", &format!("{:?}", counts.failed));
        samples.report();
        let (database, counted) = (samples.growth("database_bytes", WARM), samples.growth("storage_bytes", WARM));
        row(
            "disk a conversation: database, as the product counts it, as docs/deploy.md plans",
            &format!("{:.1} KB, {:.1} KB, {:.0} KB", database / 1e3, counted / 1e3, PLANNED_BYTES / 1e3),
        );
    }

    /// Those of the runs that were audited as they ended, and of all others: branches and episodes.
    async fn audit(&mut self) -> anyhow::Result<()> {
        let begun = Instant::now();
        let mut broken = Vec::new();
        while let Some(found) = self.audits.join_next().await {
            broken.extend(found??);
        }
        let mut db = self.db.pool.acquire().await?;
        let runs = runs::list(&mut db, MOST_RUNS).await?;
        for id in runs.iter().filter(|id| self.done.iter().all(|done| done.id != **id)) {
            let run = runs::get(&mut db, *id).await?.context("a run is gone")?;
            if run.kind == runs::EPISODES {
                // It has no end of its own.
                control::cancel(&mut db, *id).await?;
            }
            broken.extend(ledger::broken_in(&mut db, *id).await?);
        }
        broken.extend(ledger::broken_by_orphans(&mut db).await?);
        let took = begun.elapsed().as_secs();
        row(
            "rules of the ledger that are broken",
            &format!("{} in {} runs, the last of them audited in {took} s", broken.len(), runs.len()),
        );
        ensure!(broken.is_empty(), "the ledger is broken: {broken:?}");
        Ok(())
    }
}
