//! What a pool tells the metrics. Each meter is looked up when it is first used and kept: a look-up costs more than a
//! request may. The process installs its recorder before it asks any model.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use domain::event::Usage;
use domain::role::RoleId;
use futures::poll;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use parking_lot::RwLock;

use super::replica::Replica;
use crate::error::Failure;

/// The outcomes of requests, by the labels that they have.
const OUTCOMES: [&str; 8] = ["ok", "rate_limited", "error", "timeout", "cut", "garbled", "refused", "stopped"];

#[derive(Debug)]
pub struct Meters {
    /// The model as its spec names it.
    model: String,
    roles: ByRole<RoleMeters>,
    /// Only appended to.
    replicas: RwLock<Vec<Arc<ReplicaMeters>>>,
}

/// One of each for every role that was asked, made when it first was.
#[derive(Debug)]
struct ByRole<T>(RwLock<Vec<Option<Arc<T>>>>);

impl<T> Default for ByRole<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T: Default> ByRole<T> {
    fn get(&self, role: RoleId) -> Arc<T> {
        if let Some(Some(known)) = self.0.read().get(role.index()) {
            return Arc::clone(known);
        }
        let mut all = self.0.write();
        if all.len() <= role.index() {
            all.resize_with(role.index() + 1, || None);
        }
        Arc::clone(all[role.index()].get_or_insert_default())
    }
}

#[derive(Debug, Default)]
struct RoleMeters {
    waiting: OnceLock<Gauge>,
    seconds: OnceLock<Histogram>,
    retries: OnceLock<Counter>,
    prompt_tokens: OnceLock<Counter>,
    cached_tokens: OnceLock<Counter>,
    completion_tokens: OnceLock<Counter>,
}

#[derive(Debug)]
struct ReplicaMeters {
    url: String,
    roles: ByRole<ReplicaRoleMeters>,
    limit: OnceLock<Gauge>,
    up: OnceLock<Gauge>,
}

#[derive(Debug, Default)]
struct ReplicaRoleMeters {
    requests: [OnceLock<Counter>; OUTCOMES.len()],
    in_flight: OnceLock<Gauge>,
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
        let replicas = RwLock::new(urls.into_iter().map(ReplicaMeters::new).collect());
        Self { model, roles: ByRole::default(), replicas }
    }

    /// For one more replica, behind the others.
    pub fn add(&self, url: String) {
        self.replicas.write().push(ReplicaMeters::new(url));
    }

    fn replica_meters(&self, index: usize) -> Option<Arc<ReplicaMeters>> {
        self.replicas.read().get(index).cloned()
    }

    /// Waits for a slot. A call that does not get one at once is counted until then.
    pub async fn waiting<T>(&self, role: RoleId, slot: impl Future<Output = T>) -> T {
        let meters = self.roles.get(role);
        let waiting = meters.waiting.get_or_init(
            || gauge!("groundstate_model_waiting", "role" => role.as_str(), "model" => self.model.clone()),
        );
        let mut slot = pin!(slot);
        if let Poll::Ready(slot) = poll!(&mut slot) {
            return slot;
        }
        let _one_more = OneMore::in_gauge(waiting);
        slot.await
    }

    /// A request is made, number `attempt` of its call. It counts as in flight until what is returned is dropped.
    pub fn asked(&self, index: usize, role: RoleId, attempt: u32) -> Option<OneMore> {
        let (model, name) = (|| self.model.clone(), role.as_str());
        let meters = self.roles.get(role);
        let retries = meters
            .retries
            .get_or_init(|| counter!("groundstate_model_retries_total", "role" => name, "model" => model()));
        // None is counted as well: a rate needs a figure to begin with.
        retries.increment(u64::from(attempt > 1));
        let replica = self.replica_meters(index)?;
        let meters = replica.roles.get(role);
        let in_flight = meters.in_flight.get_or_init(|| {
            let replica = replica.url.clone();
            gauge!("groundstate_model_in_flight", "role" => name, "model" => model(), "replica" => replica)
        });
        Some(OneMore::in_gauge(in_flight))
    }

    /// How a replica does.
    pub fn replica(&self, index: usize, now: &Replica) {
        let Some(meters) = self.replica_meters(index) else { return };
        let set = |gauge: &OnceLock<Gauge>, name: &'static str, value: f64| {
            let labels = || [("model", self.model.clone()), ("replica", meters.url.clone())];
            gauge.get_or_init(|| gauge!(name, &labels())).set(value);
        };
        set(&meters.limit, "groundstate_model_limit", now.limit().into());
        let up = now.down_since().is_none() && !now.is_away();
        set(&meters.up, "groundstate_model_replica_up", f64::from(u8::from(up)));
    }

    /// A request ended, with this failure if it gave no reply.
    pub fn request(&self, index: usize, role: RoleId, failure: Option<&Failure>, took: Duration) {
        let (model, name) = (|| self.model.clone(), role.as_str());
        let Some(replica) = self.replica_meters(index) else { return };
        let outcome = outcome(failure);
        let requests = &replica.roles.get(role).requests[outcome];
        let requests = requests.get_or_init(|| {
            let replica = replica.url.clone();
            counter!("groundstate_model_requests_total",
                "role" => name, "model" => model(), "replica" => replica, "outcome" => OUTCOMES[outcome])
        });
        requests.increment(1);
        let meters = self.roles.get(role);
        let seconds = meters
            .seconds
            .get_or_init(|| histogram!("groundstate_model_request_seconds", "role" => name, "model" => model()));
        seconds.record(took);
    }

    /// What a reply took, as its endpoint counts it.
    pub fn tokens(&self, role: RoleId, usage: Usage) {
        let meters = self.roles.get(role);
        let count = |counter: &OnceLock<Counter>, kind: &'static str, tokens: u64| {
            let counter = counter.get_or_init(|| {
                counter!("groundstate_model_tokens_total",
                    "role" => role.as_str(), "model" => self.model.clone(), "kind" => kind)
            });
            counter.increment(tokens);
        };
        count(&meters.prompt_tokens, "prompt", usage.prompt_tokens);
        count(&meters.cached_tokens, "cached", usage.cached_tokens);
        count(&meters.completion_tokens, "completion", usage.completion_tokens);
    }
}

impl ReplicaMeters {
    fn new(url: String) -> Arc<Self> {
        Arc::new(Self { url, roles: ByRole::default(), limit: OnceLock::new(), up: OnceLock::new() })
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
        Some(Failure::Stopped { .. } | Failure::Unusable { .. }) => 7,
    }
}
