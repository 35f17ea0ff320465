//! Who plays each role.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use domain::role::Role;
use engine::Who;
use llm::{ChatModel, Endpoint, EndpointOptions, ModelSpec, Scripted, SetupError};

use super::plan::RunConfig;

/// A model under the name that the run gives it.
#[derive(Clone)]
pub struct Cast {
    pub name: Arc<str>,
    pub model: Arc<dyn ChatModel>,
}

/// A client for each model, made once in a process: runs that name the same model share its connections and its limits.
pub struct Clients {
    options: EndpointOptions,
    known: Mutex<HashMap<String, Cast>>,
}

impl Clients {
    pub fn new(options: EndpointOptions) -> Self {
        Self { options, known: Mutex::default() }
    }

    /// # Errors
    /// The model's key is missing, or its client cannot be made.
    pub fn get(&self, spec: &ModelSpec) -> Result<Cast, SetupError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let name = spec.to_string();
        if let Some(cast) = known.get(&name) {
            return Ok(cast.clone());
        }
        let model: Arc<dyn ChatModel> = match spec {
            ModelSpec::Scripted => Arc::new(Scripted),
            ModelSpec::Endpoint(endpoint) => Arc::new(Endpoint::new(endpoint.clone(), self.options.clone())?),
        };
        let cast = Cast { name: Arc::from(name.as_str()), model };
        known.insert(name, cast.clone());
        Ok(cast)
    }
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
    pub fn of(config: &RunConfig, clients: &Clients) -> Result<Self, SetupError> {
        Ok(Self {
            roles: config.models.iter().map(|(role, spec)| Ok((*role, clients.get(spec)?))).collect::<Result<_, _>>()?,
            panel: config.panel.iter().map(|spec| clients.get(spec)).collect::<Result<_, _>>()?,
            sub_agents: config
                .sub_agents
                .iter()
                .map(|(name, spec)| Ok((name.clone(), clients.get(spec)?)))
                .collect::<Result<_, _>>()?,
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
