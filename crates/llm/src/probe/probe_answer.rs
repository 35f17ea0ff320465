//! One question of a probe, and its answer.

use std::time::Duration;

use domain::api::probe::{ProbeKind, ProbeOutcome};
use domain::chat::ChatRequest;
use domain::event::Usage;
use tokio::time::{Instant, timeout_at};

use super::question;
use super::verdict::{self, Verdict};
use crate::client::{Client, TimedReply};
use crate::deaf;

pub struct ProbeAnswer {
    pub kind: ProbeKind,
    pub verdict: Verdict,
    pub heard: Option<TimedReply>,
    pub took: Duration,
    /// Requests that were sent, including failed ones.
    pub calls: u32,
    /// As far as the endpoint said.
    pub tokens: Usage,
}

impl ProbeAnswer {
    pub fn passed(&self) -> bool {
        self.verdict.outcome == ProbeOutcome::Passed
    }
}

pub async fn ask(client: &Client, kind: ProbeKind, context_length: Option<u64>, until: Instant) -> ProbeAnswer {
    let begun = Instant::now();
    let (Answer { verdict, heard, tokens }, calls) = match question::of(kind, context_length) {
        Ok(asked) => {
            let answered = timeout_at(until, answer(client, kind, &asked, context_length)).await;
            (answered.unwrap_or_else(|_| late()), if kind == ProbeKind::Seed { 2 } else { 1 })
        }
        Err(why) => (Verdict::skipped(why).into(), 0),
    };
    ProbeAnswer { kind, verdict, heard, took: begun.elapsed(), calls, tokens }
}

fn late() -> Answer {
    Verdict::failed("it took too long, together with the questions before; try again when it is less busy").into()
}

struct Answer {
    verdict: Verdict,
    heard: Option<TimedReply>,
    tokens: Usage,
}

impl From<Verdict> for Answer {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, heard: None, tokens: Usage::default() }
    }
}

async fn answer(client: &Client, kind: ProbeKind, asked: &ChatRequest, context_length: Option<u64>) -> Answer {
    if kind == ProbeKind::Seed {
        return twice(client, asked).await;
    }
    match client.ask(asked, kind == ProbeKind::TokenIds, &deaf).await {
        Ok(heard) => {
            let verdict = verdict::of(kind, &heard.reply, context_length);
            Answer { verdict, tokens: heard.reply.usage, heard: Some(heard) }
        }
        Err(failed) => verdict::of_failure(kind, &failed.failure).into(),
    }
}

async fn twice(client: &Client, asked: &ChatRequest) -> Answer {
    let (one, other) = futures::join!(client.ask(asked, false, &deaf), client.ask(asked, false, &deaf));
    let tokens = [&one, &other].into_iter().flatten().map(|heard| heard.reply.usage).sum();
    match (one, other) {
        (Ok(one), Ok(other)) => Answer { verdict: verdict::same(&one.reply, &other.reply), heard: Some(one), tokens },
        (Err(failed), _) | (_, Err(failed)) => Answer { tokens, ..Verdict::skipped(failed.failure.to_string()).into() },
    }
}
