//! Who answers a request: models with their clients, stand-ins, and whoever is outside.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::bail;
use futures::FutureExt;
use futures::future::BoxFuture;
use llm::{EndpointOptions, Member, ModelSpec, Pool, PoolSpec, PoolStatus, Registry};
use parking_lot::Mutex;
use serde_json::Value;
use uuid::Uuid;

/// A model that loses so many calls in a row, each after all its attempts, is out of order: going on would only spoil
/// tasks.
const LOST_IN_A_ROW: u32 = 10;

/// How requests to a role are answered.
#[derive(Clone)]
pub enum Executor {
    /// The task's own stand-in answers at once: `scripted`, or a function of a workflow.
    StandIn,
    /// The task's own stand-in answers, when this lets it: for demonstrations and tests that need the time that a model takes.
    Paced(Arc<dyn Pace>),
    Model(Arc<Pool>),
    /// Something that this process reaches, such as an index or a tool.
    Service(Arc<dyn Service>),
    /// Somebody outside of this process answers, such as an outside agent or a worker.
    Outside(OutsideParty),
}

/// Who is asked outside.
#[derive(Debug, Clone)]
pub struct OutsideParty {
    /// Who answers requests of this kind.
    pub kind: Arc<str>,
    /// After how long nobody waits for an answer any more; `None`: never.
    pub patience: Option<Duration>,
}

/// Answers messages of tasks in this process.
pub trait Service: Send + Sync {
    /// The answer, or why there is none.
    fn answer(&self, task: Uuid, message: Value) -> BoxFuture<'static, Result<Value, String>>;

    /// Comes when the task may ask. A run that is paused meanwhile does not ask.
    fn turn(&self, _task: Uuid) -> BoxFuture<'static, ()> {
        futures::future::ready(()).boxed()
    }

    /// The task asks no more for now: it has ended, or is played on later, here or elsewhere.
    fn release(&self, _task: Uuid) {}
}

/// How long a stand-in takes.
pub trait Pace: Send + Sync {
    /// Returns when it may answer.
    fn wait(&self) -> BoxFuture<'static, ()>;
}

/// Who answers, under the name that the run gives it.
#[derive(Clone)]
pub struct ModelBinding {
    pub name: Arc<str>,
    pub executor: Executor,
    /// Calls in a row, of all runs of this process, that had no answer.
    lost: Arc<AtomicU32>,
}

impl ModelBinding {
    pub fn new(name: Arc<str>, executor: Executor) -> Self {
        Self { name, executor, lost: Arc::default() }
    }

    /// Counts that it answered.
    pub fn answered(&self) {
        // Nearly always there is nothing to be changed.
        if self.lost.load(Ordering::Relaxed) > 0 {
            self.lost.store(0, Ordering::Relaxed);
        }
    }

    /// Counts that a call had no answer. Whether the model is out of order.
    pub fn lost_one(&self) -> bool {
        self.lost.fetch_add(1, Ordering::Relaxed) + 1 >= LOST_IN_A_ROW
    }
}

/// A client for each model, made once in a process: runs that name the same model share its connections and its limits.
/// Cheap to clone; clones are the same clients.
#[derive(Clone)]
pub struct ModelClients {
    options: EndpointOptions,
    known: Arc<Mutex<HashMap<String, CachedClients>>>,
    services: Arc<HashMap<String, ModelBinding>>,
}

struct CachedClients {
    binding: ModelBinding,
    /// What says how the endpoints do.
    pool: Option<Arc<Pool>>,
}

impl ModelClients {
    pub fn new(options: EndpointOptions) -> Self {
        Self { options, known: Arc::default(), services: Arc::default() }
    }

    /// And services that answer tools, by name.
    #[must_use]
    pub fn with_services(self, services: impl IntoIterator<Item = (String, Arc<dyn Service>)>) -> Self {
        let binding = |(name, service): (String, _)| {
            let binding = ModelBinding::new(name.as_str().into(), Executor::Service(service));
            (name, binding)
        };
        Self { services: Arc::new(services.into_iter().map(binding).collect()), ..self }
    }

    /// The service with this name; `None` if this process has none.
    pub fn service(&self, name: &str) -> Option<&ModelBinding> {
        self.services.get(name)
    }

    /// How long its clients wait, and how often they try.
    pub fn options(&self) -> EndpointOptions {
        self.options.clone()
    }

    /// `pools`: what the run says of the models that it only names.
    ///
    /// # Errors
    /// Nothing is known of the model, its key is missing, or its client cannot be made.
    pub fn get(&self, spec: &ModelSpec, pools: &Registry) -> anyhow::Result<ModelBinding> {
        let pool = match spec {
            ModelSpec::Named(name) => Some(pools.pool(name)?),
            ModelSpec::Scripted | ModelSpec::Endpoint(_) => None,
            ModelSpec::Outside => bail!("only the agent of an episode is outside"),
        };
        // Two runs may know different models by one name. What a model costs makes it no other one: its endpoints are given
        // no more for it.
        let free = pool.map(|pool| PoolSpec { price: None, ..pool.clone() });
        let key = free.map_or_else(|| Ok(spec.to_string()), |pool| serde_json::to_string(&pool))?;
        let mut known = self.known.lock();
        if let Some(known) = known.get(&key) {
            return Ok(known.binding.clone());
        }
        let options = self.options.clone();
        let pool = match (spec, pool) {
            (_, Some(pool)) => Some(Arc::new(Pool::new(pool, options)?)),
            (ModelSpec::Endpoint(endpoint), _) => Some(Arc::new(Pool::of_endpoint(endpoint.clone(), options)?)),
            _ => None,
        };
        let executor = pool.as_ref().map_or(Executor::StandIn, |pool| Executor::Model(Arc::clone(pool)));
        let binding = ModelBinding::new(Arc::from(spec.to_string()), executor);
        known.insert(key, CachedClients { binding: binding.clone(), pool });
        Ok(binding)
    }

    /// How the endpoints do that were asked so far.
    pub fn statuses(&self) -> Vec<PoolStatus> {
        let known = self.known.lock();
        known.values().filter_map(|known| known.pool.as_ref()).map(|pool| pool.status()).collect()
    }

    /// Whether any model that was asked for so far is served by workers.
    pub fn take_workers(&self) -> bool {
        let known = self.known.lock();
        known.values().any(|known| known.pool.as_ref().is_some_and(|pool| pool.takes_workers()))
    }

    /// The workers that there are, each with the model that it serves. What cannot be asked is said.
    pub fn follow(&self, workers: &[(String, Member)]) -> Vec<String> {
        let pools: Vec<Arc<Pool>> = {
            let known = self.known.lock();
            known.values().filter_map(|known| known.pool.clone()).filter(|pool| pool.takes_workers()).collect()
        };
        let mut wrong = Vec::new();
        for pool in pools {
            let own = workers.iter().filter(|(model, _)| model == pool.name()).map(|(_, member)| member.clone());
            wrong.extend(pool.follow(&own.collect::<Vec<_>>()).iter().map(ToString::to_string));
        }
        wrong
    }
}
