//! Keeps one engine well: starts it, waits until it answers, starts it anew when it does not, and lets it end what it has
//! begun before it is stopped.

mod engine_watch;

use std::time::{Duration, Instant};

use domain::api::workers::{WorkerOrder, WorkerState};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::backoff::Backoff;
use super::diagnosis::{Exit, diagnose};
use super::engine::Launch;
use super::health::Probe;
use super::process::Process;
use super::report::report;
use super::status::Status;

/// After so long a time without a fault it counts as well, and the next restart is quick again.
const WELL: Duration = Duration::from_mins(5);
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// How long the server is waited for that is to send no more work. While it is away, its players know it anyway.
const HEARD: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct Timing {
    /// How often the engine is asked what it serves.
    pub probe_every: Duration,
    /// How often one that works is asked for a token.
    pub answer_every: Duration,
    /// How long one token may take while the engine writes nothing else either.
    pub answer_timeout: Duration,
    /// How long an engine may be of no use before it is started anew.
    pub patience: Duration,
    /// How long it may take to start.
    pub start_limit: Duration,
    /// How long what was begun is waited for.
    pub drain_limit: Duration,
    /// How long it may take to end.
    pub stop_grace: Duration,
    /// Before it is started again for the first time.
    pub first_wait: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        let s = Duration::from_secs;
        Self {
            probe_every: s(2),
            answer_every: s(15),
            answer_timeout: s(30),
            patience: s(60),
            start_limit: s(1800),
            drain_limit: s(600),
            stop_grace: s(30),
            first_wait: s(1),
        }
    }
}

pub struct Supervisor<'a> {
    pub name: &'a str,
    /// None if somebody else runs the engine.
    pub launch: Option<&'a Launch>,
    pub key: Option<&'a str>,
    pub probe: &'a Probe,
    pub status: &'a Status,
    pub timing: &'a Timing,
}

/// Why an engine ends.
enum EngineEnd {
    Drain,
    Restart,
    /// It ended, or it is of no use.
    Failed(String),
}

impl Supervisor<'_> {
    /// Keeps the engine until it is to leave, and has ended what it has begun. It still runs then: it is stopped when
    /// nobody counts on it any more.
    ///
    /// # Errors
    /// It cannot be started at all.
    pub async fn run(&self, stop: &CancellationToken) -> anyhow::Result<Option<Process>> {
        let mut backoff = Backoff::new(self.timing.first_wait, LONGEST_WAIT);
        let mut orders = self.status.orders();
        loop {
            let mut engine = self.start()?;
            let begun = Instant::now();
            let end = self.life(engine.as_mut(), &mut orders, stop).await;
            match end {
                EngineEnd::Drain => {
                    self.drain().await;
                    return Ok(engine);
                }
                EngineEnd::Restart => {
                    self.drain().await;
                    report!(self.name, "the engine is restarted, as ordered");
                    self.stop(engine).await;
                    self.status.set_state(WorkerState::Starting, Some("it is restarted, as ordered".to_owned()));
                }
                EngineEnd::Failed(why) => {
                    if begun.elapsed() >= WELL {
                        backoff.reset();
                    }
                    let restarts = self.status.restarted();
                    let wait = backoff.next();
                    let detail = format!("{why} It is started again (restart {restarts}).");
                    report!(
                        self.name,
                        "{why} Started again in {:.0} s (restart {restarts}).",
                        wait.as_secs_f64().ceil()
                    );
                    self.status.set_state(WorkerState::Unhealthy, Some(detail));
                    self.stop(engine).await;
                    tokio::select! {
                        () = sleep(wait) => {}
                        end = asked(&mut orders, stop) => if matches!(end, EngineEnd::Drain) {
                            return Ok(None);
                        }
                    }
                }
            }
        }
    }

    fn start(&self) -> anyhow::Result<Option<Process>> {
        let Some(launch) = self.launch else { return Ok(None) };
        report!(self.name, "starting {}", launch.program);
        Ok(Some(Process::start(self.name, launch, self.key)?))
    }

    async fn stop(&self, engine: Option<Process>) {
        if let Some(engine) = engine {
            engine.stop(self.timing.stop_grace).await;
        }
    }

    async fn life(
        &self,
        engine: Option<&mut Process>,
        orders: &mut watch::Receiver<WorkerOrder>,
        stop: &CancellationToken,
    ) -> EngineEnd {
        let output = engine.as_ref().map(|engine| engine.output());
        tokio::select! {
            // What an engine says when it ends tells more than that it does not answer.
            biased;
            end = asked(orders, stop) => end,
            (exit, lines) = ended(engine) => EngineEnd::Failed(format!("The engine: {}.", diagnose(exit, &lines))),
            why = self.tend(output.as_ref()) => EngineEnd::Failed(why),
        }
    }

    /// Takes nothing new, and waits for what was begun.
    async fn drain(&self) {
        let doing = "it finishes its requests and takes no new ones";
        report!(self.name, "draining: {doing}");
        self.status.set_state(WorkerState::Draining, Some(doing.to_owned()));
        timeout(HEARD, self.status.heard(WorkerState::Draining)).await.ok();
        // What the players sent before they heard of it is still on its way.
        sleep(self.timing.probe_every).await;
        let begun = Instant::now();
        while begun.elapsed() < self.timing.drain_limit {
            let sample = self.probe.load().await;
            let busy = sample.busy();
            self.status.sampled(sample);
            match busy {
                Some(0) => return,
                Some(_) => sleep(self.timing.probe_every).await,
                // It does not say. Those who asked it wait for their answers, and ask elsewhere if there are none.
                None => return sleep(self.timing.probe_every * 2).await,
            }
        }
        report!(self.name, "it still works after {} s; not waiting any longer", self.timing.drain_limit.as_secs());
    }
}

/// Waits until people want something of it.
async fn asked(orders: &mut watch::Receiver<WorkerOrder>, stop: &CancellationToken) -> EngineEnd {
    loop {
        tokio::select! {
            () = stop.cancelled() => return EngineEnd::Drain,
            Ok(()) = orders.changed() => match *orders.borrow_and_update() {
                WorkerOrder::Serve => {}
                WorkerOrder::Restart => return EngineEnd::Restart,
                WorkerOrder::Drain => return EngineEnd::Drain,
            },
        }
    }
}

/// Waits until the engine ends by itself.
async fn ended(engine: Option<&mut Process>) -> (Exit, Vec<String>) {
    match engine {
        Some(engine) => {
            let exit = engine.ended().await;
            (exit, engine.lines())
        }
        None => std::future::pending().await,
    }
}
