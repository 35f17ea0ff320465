//! One question, and what came of it.

use std::time::Duration;

use domain::api::probe::{ProbeKind, ProbeOutcome};
use tokio::time::{Instant, timeout_at};

use super::question;
use super::verdict::{self, Verdict};
use crate::client::{Client, Heard};
use crate::deaf;

pub struct Tried {
    pub kind: ProbeKind,
    pub verdict: Verdict,
    pub heard: Option<Heard>,
    pub took: Duration,
}

impl Tried {
    pub fn passed(&self) -> bool {
        self.verdict.outcome == ProbeOutcome::Passed
    }
}

pub async fn ask(client: &Client, kind: ProbeKind, context_length: Option<u64>, until: Instant) -> Tried {
    let begun = Instant::now();
    let answered = timeout_at(until, answer(client, kind, context_length)).await;
    let late = || {
        (Verdict::failed("it took too long, together with the questions before; try again when it is less busy"), None)
    };
    let (verdict, heard) = answered.unwrap_or_else(|_| late());
    Tried { kind, verdict, heard, took: begun.elapsed() }
}

async fn answer(client: &Client, kind: ProbeKind, context_length: Option<u64>) -> (Verdict, Option<Heard>) {
    let asked = match question::of(kind, context_length) {
        Ok(asked) => asked,
        Err(why) => return (Verdict::skipped(why), None),
    };
    if kind == ProbeKind::Seed {
        let (one, other) = futures::join!(client.ask(&asked, &deaf), client.ask(&asked, &deaf));
        return match (one, other) {
            (Ok(one), Ok(other)) => (verdict::same(&one.reply, &other.reply), Some(one)),
            (Err(failed), _) | (_, Err(failed)) => (Verdict::skipped(failed.failure.to_string()), None),
        };
    }
    match client.ask(&asked, &deaf).await {
        Ok(heard) => (verdict::of(kind, &heard.reply, context_length), Some(heard)),
        Err(failed) => (verdict::of_failure(kind, &failed.failure), None),
    }
}
