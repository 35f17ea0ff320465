//! Watches a running engine, and decides whether it still works.

use std::time::{Duration, Instant};

use domain::api::workers::WorkerState;
use tokio::time::sleep;

use super::Supervisor;
use crate::health::Fault;
use crate::load::Sample;
use crate::process::LastLines;
use crate::report::report;
use domain::text;

/// How much rarer an engine that says nothing of its load is asked for a token: somebody may pay for it.
const RARER: u32 = 4;

/// A fault, from when it was first seen.
struct OngoingFault {
    since: Instant,
    /// It was asked for a token and failed; only a token shows that it is over.
    at_answering: bool,
}

impl Supervisor<'_> {
    /// Watches the engine, and says how it does. Returns when it must be started anew: why.
    pub(super) async fn tend(&self, output: Option<&LastLines>) -> String {
        match self.until_ready(output).await {
            Ok(()) => self.while_ready().await,
            Err(why) => why,
        }
    }

    async fn until_ready(&self, output: Option<&LastLines>) -> Result<(), String> {
        let begun = Instant::now();
        let mut said = None;
        loop {
            let found = match self.probe.lists().await {
                Ok(()) => self.probe.answers().await,
                fault => fault,
            };
            let seconds = begun.elapsed().as_secs();
            let Err(fault) = found else {
                report!(self.name, "healthy after {seconds} s; it serves `{}`", self.probe.model);
                self.status.set_state(WorkerState::Ready, None);
                return Ok(());
            };
            if self.launch.is_some() && begun.elapsed() > self.timing.start_limit {
                return Err(format!("The engine was not healthy after {seconds} s: {fault}."));
            }
            let last = output.and_then(LastLines::last).map(|line| format!("; it says: {}", text::line(&line)));
            let last = last.unwrap_or_default();
            match &fault {
                Fault::Away(_) if self.launch.is_some() => {
                    self.status.set_state(WorkerState::Starting, Some(format!("starting for {seconds} s{last}")));
                }
                fault => {
                    let detail = fault.to_string();
                    if said.as_ref() != Some(&detail) {
                        report!(self.name, "not healthy: {detail}");
                    }
                    self.status.set_state(WorkerState::Unhealthy, Some(format!("{detail}{last}")));
                    said = Some(detail);
                }
            }
            sleep(self.timing.probe_every).await;
        }
    }

    async fn while_ready(&self) -> String {
        let mut answered = Instant::now();
        let mut trouble: Option<OngoingFault> = None;
        loop {
            sleep(self.timing.probe_every).await;
            let sample = self.probe.load().await;
            self.status.sampled(sample.clone());
            let due =
                answered.elapsed() >= self.answer_every(&sample) || trouble.as_ref().is_some_and(|t| t.at_answering);
            let mut at_answering = false;
            let found = match self.probe.lists().await {
                Ok(()) if due => {
                    at_answering = true;
                    answered = Instant::now();
                    self.writes(&sample).await
                }
                found => found,
            };
            let Err(fault) = found else {
                if trouble.take().is_some() {
                    report!(self.name, "it answers again");
                    self.status.set_state(WorkerState::Ready, None);
                }
                continue;
            };
            // A server that is busy may be late once.
            let sure = at_answering || trouble.is_some() || matches!(fault, Fault::Wrong(_));
            let known = trouble.get_or_insert(OngoingFault { since: Instant::now(), at_answering });
            known.at_answering |= at_answering;
            if sure {
                if self.status.state() != WorkerState::Unhealthy {
                    report!(self.name, "not healthy: {fault}");
                }
                self.status.set_state(WorkerState::Unhealthy, Some(fault.to_string()));
            }
            if self.launch.is_some() && known.since.elapsed() >= self.timing.patience {
                return format!("The engine was unusable for {} s: {fault}.", known.since.elapsed().as_secs());
            }
        }
    }

    /// An engine without work need not prove that it can; whoever asks it first will see.
    fn answer_every(&self, sample: &Sample) -> Duration {
        match sample.busy() {
            Some(0) => Duration::MAX,
            Some(_) => self.timing.answer_every,
            None if self.launch.is_some() => self.timing.answer_every,
            None => self.timing.answer_every * RARER,
        }
    }

    /// Whether it writes a token. One that is full lets the request wait, but writes for others meanwhile.
    async fn writes(&self, before: &Sample) -> Result<(), Fault> {
        match self.probe.answers().await {
            Err(Fault::Silent(why)) => {
                let after = self.probe.load().await;
                match (before.tokens, after.tokens) {
                    (Some(before), Some(after)) if after > before => Ok(()),
                    _ => Err(Fault::Silent(why)),
                }
            }
            found => found,
        }
    }
}
