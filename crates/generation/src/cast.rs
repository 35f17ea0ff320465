//! Who plays each role.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::role::Role;
use engine::Who;
use llm::{Apart, ChatModel, EndpointOptions, Member, ModelSpec, Pool, PoolSpec, PoolStatus, Registry, Scripted};

use super::plan::RunConfig;

/// A model that loses so many calls in a row, each after all its attempts, is out of order: going on would only spoil
/// conversations.
const LOST_IN_A_ROW: u32 = 10;

/// A model under the name that the run gives it.
#[derive(Clone)]
pub struct Cast {
    pub name: Arc<str>,
    pub model: Arc<dyn ChatModel>,
    /// Calls in a row, of all runs of this process, that had no answer.
    lost: Arc<AtomicU32>,
}

impl Cast {
    pub fn new(name: Arc<str>, model: Arc<dyn ChatModel>) -> Self {
        Self { name, model, lost: Arc::default() }
    }

    /// Notes that it answered.
    pub fn answered(&self) {
        // Nearly always there is nothing to be noted.
        if self.lost.load(Ordering::Relaxed) > 0 {
            self.lost.store(0, Ordering::Relaxed);
        }
    }

    /// Notes that a call had no answer. Whether the model is out of order.
    pub fn lost_one(&self) -> bool {
        self.lost.fetch_add(1, Ordering::Relaxed) + 1 >= LOST_IN_A_ROW
    }
}

/// A client for each model, made once in a process: runs that name the same model share its connections and its limits.
/// Cheap to clone; clones are the same clients.
#[derive(Clone)]
pub struct Clients {
    options: EndpointOptions,
    known: Arc<Mutex<HashMap<String, Known>>>,
}

struct Known {
    cast: Cast,
    /// What says how the endpoints do.
    pool: Option<Arc<Pool>>,
}

impl Clients {
    pub fn new(options: EndpointOptions) -> Self {
        Self { options, known: Arc::default() }
    }

    /// `pools`: what the run says of the models that it only names.
    ///
    /// # Errors
    /// Nothing is known of the model, its key is missing, or its client cannot be made.
    pub fn get(&self, spec: &ModelSpec, pools: &Registry) -> anyhow::Result<Cast> {
        let pool = match spec {
            ModelSpec::Named(name) => Some(pools.pool(name)?),
            ModelSpec::Scripted | ModelSpec::Endpoint(_) => None,
        };
        // Two runs may know different models by one name. What a model costs makes it no other one: its endpoints are given
        // no more for it.
        let free = pool.map(|pool| PoolSpec { price: None, ..pool.clone() });
        let key = free.map_or_else(|| Ok(spec.to_string()), |pool| serde_json::to_string(&pool))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&key) {
            return Ok(known.cast.clone());
        }
        let options = self.options.clone();
        let pool = match (spec, pool) {
            (_, Some(pool)) => Some(Arc::new(Pool::new(pool, options)?)),
            (ModelSpec::Endpoint(endpoint), _) => Some(Arc::new(Pool::of_endpoint(endpoint.clone(), options)?)),
            _ => None,
        };
        let model: Arc<dyn ChatModel> = match &pool {
            Some(pool) => Arc::clone(pool) as _,
            None => Arc::new(Scripted),
        };
        let cast = Cast::new(Arc::from(spec.to_string()), model);
        known.insert(key, Known { cast: cast.clone(), pool });
        Ok(cast)
    }

    /// How the endpoints do that were asked so far.
    pub fn statuses(&self) -> Vec<PoolStatus> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().filter_map(|known| known.pool.as_ref()).map(|pool| pool.status()).collect()
    }

    /// Whether any model that was asked for so far is served by workers.
    pub fn take_workers(&self) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().any(|known| known.pool.as_ref().is_some_and(|pool| pool.takes_workers()))
    }

    /// The workers that there are, each with the model that it serves. What cannot be asked is said.
    pub fn follow(&self, workers: &[(String, Member)]) -> Vec<String> {
        let pools: Vec<Arc<Pool>> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.values().filter_map(|known| known.pool.clone()).filter(|pool| pool.takes_workers()).collect()
        };
        let mut wrong = Vec::new();
        for pool in pools {
            let own = workers.iter().filter(|(model, _)| model == pool.name()).map(|(_, member)| member.clone());
            wrong.extend(pool.follow(&own.collect::<Vec<_>>()).iter().map(ToString::to_string));
        }
        wrong
    }

    /// A panel of judges, asked as the run asks its own.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn judges(&self, specs: &[ModelSpec], pools: &Registry, config: &RunConfig) -> anyhow::Result<Vec<Cast>> {
        specs.iter().map(|spec| Ok(as_judge(self.get(spec, pools)?, config))).collect()
    }
}

fn as_judge(cast: Cast, config: &RunConfig) -> Cast {
    if config.criteria_apart { Cast { model: Arc::new(Apart(cast.model)), ..cast } } else { cast }
}

/// Who plays each role of a run.
pub struct Models {
    pub roles: BTreeMap<Role, Cast>,
    /// Judges beside the role's.
    pub panel: Vec<Cast>,
    /// Those with a model of their own, by name.
    pub sub_agents: BTreeMap<String, Cast>,
}

impl Models {
    /// # Errors
    /// As [`Clients::get`].
    pub fn of(config: &RunConfig, clients: &Clients) -> anyhow::Result<Self> {
        let pools = config.registry();
        let roles = config.models.iter().map(|(role, spec)| {
            let cast = clients.get(spec, &pools)?;
            Ok((*role, if *role == Role::Judge { as_judge(cast, config) } else { cast }))
        });
        let subs = config.sub_agents.iter().map(|(name, spec)| Ok((name.clone(), clients.get(spec, &pools)?)));
        Ok(Self {
            roles: roles.collect::<anyhow::Result<_>>()?,
            panel: clients.judges(&config.panel, &pools, config)?,
            sub_agents: subs.collect::<anyhow::Result<_>>()?,
        })
    }

    pub fn answering(&self, who: &Who) -> Option<&Cast> {
        if let Some(other) = who.judge.checked_sub(1) {
            return self.panel.get(other);
        }
        let own = who.sub_agent.as_ref().and_then(|name| self.sub_agents.get(name));
        own.or_else(|| self.roles.get(&who.role))
    }
}
