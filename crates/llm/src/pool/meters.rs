//! What a pool tells the metrics. Each meter is looked up when it is first used and kept: a look-up costs more than a
//! request may. The process installs its recorder before it asks any model.

use std::pin::pin;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::task::Poll;
use std::time::Duration;

use domain::Role;
use domain::event::Usage;
use futures::poll;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use super::replica::Replica;
use crate::error::Failure;

/// The outcomes of requests, by the labels that they have.
const OUTCOMES: [&str; 8] = ["ok", "rate_limited", "error", "timeout", "cut", "garbled", "refused", "stopped"];

type PerRole<T> = [T; Role::ALL.len()];

#[derive(Debug)]
pub struct Meters {
    /// The model as its spec names it.
    model: String,
    waiting: PerRole<OnceLock<Gauge>>,
    seconds: PerRole<OnceLock<Histogram>>,
    retries: PerRole<OnceLock<Counter>>,
    prompt_tokens: PerRole<OnceLock<Counter>>,
    cached_tokens: PerRole<OnceLock<Counter>>,
    completion_tokens: PerRole<OnceLock<Counter>>,
    /// Only appended to.
    replicas: RwLock<Vec<ReplicaMeters>>,
}

#[derive(Debug)]
struct ReplicaMeters {
    url: String,
    requests: PerRole<[OnceLock<Counter>; OUTCOMES.len()]>,
    in_flight: PerRole<OnceLock<Gauge>>,
    limit: OnceLock<Gauge>,
    up: OnceLock<Gauge>,
}

/// One more in a gauge, until it is dropped.
pub struct OneMore(Gauge);

impl OneMore {
    fn in_gauge(gauge: &Gauge) -> Self {
        gauge.increment(1.0);
        Self(gauge.clone())
    }
}

impl Drop for OneMore {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

impl Meters {
    /// For replicas with these base URLs, which hold no secret.
    pub fn new(model: String, urls: impl IntoIterator<Item = String>) -> Self {
        Self {
            model,
            waiting: Default::default(),
            seconds: Default::default(),
            retries: Default::default(),
            prompt_tokens: Default::default(),
            cached_tokens: Default::default(),
            completion_tokens: Default::default(),
            replicas: RwLock::new(urls.into_iter().map(ReplicaMeters::new).collect()),
        }
    }

    /// For one more replica, behind the others.
    pub fn add(&self, url: String) {
        self.replicas.write().unwrap_or_else(PoisonError::into_inner).push(ReplicaMeters::new(url));
    }

    fn replicas(&self) -> RwLockReadGuard<'_, Vec<ReplicaMeters>> {
        self.replicas.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a slot. Who does not get one at once is counted until then.
    pub async fn waiting<T>(&self, role: Role, slot: impl Future<Output = T>) -> T {
        let (model, name) = (|| self.model.clone(), role.as_str());
        let waiting = self.waiting[role as usize]
            .get_or_init(|| gauge!("groundstate_model_waiting", "role" => name, "model" => model()));
        let mut slot = pin!(slot);
        if let Poll::Ready(slot) = poll!(&mut slot) {
            return slot;
        }
        let _one_more = OneMore::in_gauge(waiting);
        slot.await
    }

    /// A request is made, number `attempt` of its call. It counts as in flight until what is returned is dropped.
    pub fn asked(&self, index: usize, role: Role, attempt: u32) -> Option<OneMore> {
        let (model, name) = (|| self.model.clone(), role.as_str());
        let retries = self.retries[role as usize]
            .get_or_init(|| counter!("groundstate_model_retries_total", "role" => name, "model" => model()));
        // None is counted as well: a rate needs a figure to begin with.
        retries.increment(u64::from(attempt > 1));
        let replicas = self.replicas();
        let meters = replicas.get(index)?;
        let in_flight = meters.in_flight[role as usize].get_or_init(|| {
            let replica = meters.url.clone();
            gauge!("groundstate_model_in_flight", "role" => name, "model" => model(), "replica" => replica)
        });
        Some(OneMore::in_gauge(in_flight))
    }

    /// How a replica does.
    pub fn replica(&self, index: usize, now: &Replica) {
        let replicas = self.replicas();
        let Some(meters) = replicas.get(index) else { return };
        let set = |gauge: &OnceLock<Gauge>, name: &'static str, value: f64| {
            let labels = || [("model", self.model.clone()), ("replica", meters.url.clone())];
            gauge.get_or_init(|| gauge!(name, &labels())).set(value);
        };
        set(&meters.limit, "groundstate_model_limit", now.limit().into());
        let up = now.down_since().is_none() && !now.is_away();
        set(&meters.up, "groundstate_model_replica_up", f64::from(u8::from(up)));
    }

    /// A request ended, with this failure if it gave no reply.
    pub fn request(&self, index: usize, role: Role, failure: Option<&Failure>, took: Duration) {
        let (model, name) = (|| self.model.clone(), role.as_str());
        let replicas = self.replicas();
        let Some(meters) = replicas.get(index) else { return };
        let outcome = outcome(failure);
        let requests = meters.requests[role as usize][outcome].get_or_init(|| {
            let replica = meters.url.clone();
            counter!("groundstate_model_requests_total",
                "role" => name, "model" => model(), "replica" => replica, "outcome" => OUTCOMES[outcome])
        });
        requests.increment(1);
        let seconds = self.seconds[role as usize]
            .get_or_init(|| histogram!("groundstate_model_request_seconds", "role" => name, "model" => model()));
        seconds.record(took);
    }

    /// What a reply took, as its endpoint counts it.
    pub fn tokens(&self, role: Role, usage: Usage) {
        let count = |counters: &PerRole<OnceLock<Counter>>, kind: &'static str, tokens: u64| {
            let counter = counters[role as usize].get_or_init(|| {
                counter!("groundstate_model_tokens_total",
                    "role" => role.as_str(), "model" => self.model.clone(), "kind" => kind)
            });
            counter.increment(tokens);
        };
        count(&self.prompt_tokens, "prompt", usage.prompt_tokens);
        count(&self.cached_tokens, "cached", usage.cached_tokens);
        count(&self.completion_tokens, "completion", usage.completion_tokens);
    }
}

impl ReplicaMeters {
    fn new(url: String) -> Self {
        Self {
            url,
            requests: Default::default(),
            in_flight: Default::default(),
            limit: OnceLock::new(),
            up: OnceLock::new(),
        }
    }
}

/// The place in [`OUTCOMES`].
const fn outcome(failure: Option<&Failure>) -> usize {
    match failure {
        None => 0,
        Some(Failure::RateLimited { .. }) => 1,
        Some(Failure::Unreachable { .. } | Failure::NoWorker | Failure::Refused { status: 500.., .. }) => 2,
        Some(Failure::Timeout { .. }) => 3,
        Some(Failure::CutStream) => 4,
        Some(Failure::Garbled { .. } | Failure::OtherModel { .. }) => 5,
        Some(Failure::Refused { .. }) => 6,
        Some(Failure::Stopped { .. } | Failure::Unplayable { .. }) => 7,
    }
}
