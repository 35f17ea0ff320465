//! Whether the endpoints of a model answer as the platform needs it: asked before a run spends money. Each is asked a dozen
//! small questions, and none of them again.

mod features;
mod probe_answer;
mod question;
mod verdict;

use std::time::Duration;

use domain::api::probe::{ProbeCheck, ProbeKind, ProbeUsage, ReplicaProbe};
use domain::event::Usage;
use domain::price::Price;
use futures::future::{join, join_all};
use futures::stream::{self, StreamExt};
use strum::VariantArray;
use tokio::time::Instant;

use self::probe_answer::ProbeAnswer;
use self::verdict::Verdict;
use crate::client::{Client, TimedReply};
use crate::{EndpointOptions, Member, PoolSpec, SetupError};

/// Questions that an endpoint is asked at once.
const AT_ONCE: usize = 4;

/// How a model is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeOptions {
    /// Tokens that a prompt and its reply may have together; what the endpoint says itself if it is absent.
    pub context_length: Option<u64>,
    /// How long an endpoint has for all questions together: somebody looks on.
    pub patience: Duration,
}

/// One report for each endpoint of the model: those of its spec, then those of its workers.
///
/// # Errors
/// The key is missing, or a client cannot be made.
pub async fn probe(
    spec: &PoolSpec,
    workers: &[Member],
    options: &ProbeOptions,
) -> Result<Vec<ReplicaProbe>, SetupError> {
    let waits = EndpointOptions {
        first_byte_timeout: options.patience,
        total_timeout: options.patience,
        ..EndpointOptions::default()
    };
    let fixed = spec.endpoints().map(|endpoint| Client::new(endpoint, waits.clone()));
    let joined = workers.iter().map(|worker| Ok(Client::new(worker.endpoint(spec.model()), waits.clone())?.exact()));
    let clients = fixed.chain(joined).collect::<Result<Vec<_>, SetupError>>()?;
    Ok(join_all(clients.iter().map(|client| replica(client, spec.price, options))).await)
}

/// Whether there is anything to ask.
async fn replica(client: &Client, price: Option<Price>, options: &ProbeOptions) -> ReplicaProbe {
    let until = Instant::now() + options.patience;
    let (said, first) = join(client.context_length(), probe_answer::ask(client, ProbeKind::Reply, None, until)).await;
    let context_length = options.context_length.or(said);
    let mut all = vec![first];
    if all[0].heard.is_some() {
        let kinds =
            ProbeKind::VARIANTS.iter().copied().filter(|kind| question::is_asked(*kind) && *kind != ProbeKind::Reply);
        let rest = stream::iter(kinds).map(|kind| probe_answer::ask(client, kind, context_length, until));
        all.extend(rest.buffered(AT_ONCE).collect::<Vec<_>>().await);
    }
    let checks: Vec<ProbeCheck> = ProbeKind::VARIANTS.iter().map(|kind| check(*kind, &all)).collect();
    let features = features::of(&checks, &all, client.format());
    let usage = Some(usage(&all, price));
    ReplicaProbe { url: client.spec().base_url().to_owned(), context_length, checks, features, usage }
}

#[expect(clippy::cast_precision_loss, reason = "a cost for people to read")]
fn usage(all: &[ProbeAnswer], price: Option<Price>) -> ProbeUsage {
    let tokens: Usage = all.iter().map(|tried| tried.tokens).sum();
    ProbeUsage {
        calls: all.iter().map(|tried| tried.calls).sum(),
        prompt_tokens: tokens.prompt_tokens,
        completion_tokens: tokens.completion_tokens,
        cost: price.map_or(0.0, |price| price.cost(tokens) as f64 / 1e9),
    }
}

fn check(kind: ProbeKind, all: &[ProbeAnswer]) -> ProbeCheck {
    if let Some(tried) = all.iter().find(|tried| tried.kind == kind) {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let first_byte_ms = tried.heard.as_ref().map(|heard| milliseconds(heard.first_byte));
        return tried.verdict.clone().check(kind, first_byte_ms, milliseconds(tried.took));
    }
    let heard: Vec<&TimedReply> = all.iter().filter_map(|tried| tried.heard.as_ref()).collect();
    let verdict = match (kind, heard.first()) {
        (_, None) => Verdict::skipped("there was no reply to go by"),
        (ProbeKind::Streaming, Some(heard)) => verdict::streaming(heard.manner.parts),
        (ProbeKind::Reasoning, Some(_)) => verdict::reasoning(&heard),
        _ => Verdict::skipped("it was not asked"),
    };
    verdict.check(kind, None, 0)
}
