//! Who plays each role of a run of conversations.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use domain::role::Role;
use engine::Party;
use llm::{ModelSpec, Registry};
use runtime::{Executor, ModelBinding, ModelClients, OutsideParty};

use crate::plan::RunConfig;
use crate::services::PlayedBy;

pub struct Models {
    pub roles: BTreeMap<Role, ModelBinding>,
    /// Judges beside the role's.
    pub panel: Vec<ModelBinding>,
    /// Those with a model of their own, by name.
    pub sub_agents: BTreeMap<String, ModelBinding>,
    /// Who plays the others where the agent is outside: it is asked for its own turns alone.
    pub other_sub_agents: Option<ModelBinding>,
    /// Services that answer tools, by name.
    pub services: BTreeMap<String, ModelBinding>,
}

impl Models {
    /// # Errors
    /// As [`ModelClients::get`].
    pub fn of(config: &RunConfig, clients: &ModelClients) -> anyhow::Result<Self> {
        let pools = config.registry();
        let roles = config.models.iter().map(|(role, spec)| {
            let binding = match spec {
                ModelSpec::Outside => agent_outside(config),
                spec => clients.get(spec, &pools)?,
            };
            Ok((*role, binding))
        });
        let subs = config.sub_agents.iter().map(|(name, spec)| Ok((name.clone(), clients.get(spec, &pools)?)));
        Ok(Self {
            roles: roles.collect::<anyhow::Result<_>>()?,
            panel: panel(&config.panel, &pools, clients)?,
            sub_agents: subs.collect::<anyhow::Result<_>>()?,
            other_sub_agents: config.plays_episodes().then(|| clients.get(&ModelSpec::Scripted, &pools)).transpose()?,
            services: services(config, clients)?,
        })
    }

    /// A panel that judges conversations which others played: nobody else is bound.
    ///
    /// # Errors
    /// As [`ModelClients::get`].
    pub fn of_panel(specs: &[ModelSpec], pools: &Registry, clients: &ModelClients) -> anyhow::Result<Self> {
        let mut all = panel(specs, pools, clients)?;
        let first = (!all.is_empty()).then(|| (Role::Judge, all.remove(0)));
        let (sub_agents, services) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { roles: first.into_iter().collect(), panel: all, sub_agents, other_sub_agents: None, services })
    }

    pub fn answering(&self, who: &Party) -> Option<&ModelBinding> {
        if let Some(other) = who.judge.checked_sub(1) {
            return self.panel.get(other);
        }
        if let Some(service) = &who.service {
            return self.services.get(service);
        }
        let own = |name| self.sub_agents.get(name).or(self.other_sub_agents.as_ref());
        who.sub_agent.as_ref().and_then(own).or_else(|| self.roles.get(&who.role))
    }

    /// How many judge.
    pub fn judges(&self) -> usize {
        usize::from(self.roles.contains_key(&Role::Judge)) + self.panel.len()
    }
}

/// # Errors
/// A service is to be asked, and this process has none of its name.
fn services(config: &RunConfig, clients: &ModelClients) -> anyhow::Result<BTreeMap<String, ModelBinding>> {
    let binding = |(name, played): (&String, &PlayedBy)| {
        let binding = match played {
            PlayedBy::StandIn => clients.get(&ModelSpec::Scripted, &Registry::default())?,
            PlayedBy::Service => clients.service(name).cloned().with_context(|| {
                format!("it calls the service `{name}`, which is not registered in this process (--tools)")
            })?,
        };
        Ok((name.clone(), binding))
    };
    config.services.iter().map(binding).collect()
}

/// The agent of episodes.
fn agent_outside(config: &RunConfig) -> ModelBinding {
    let patience = config.idle_seconds.map(|seconds| Duration::from_secs(seconds.into()));
    let party = OutsideParty { kind: Arc::from(Role::Agent.as_str()), patience };
    ModelBinding::new(Arc::from(ModelSpec::Outside.to_string()), Executor::Outside(party))
}

fn panel(specs: &[ModelSpec], pools: &Registry, clients: &ModelClients) -> anyhow::Result<Vec<ModelBinding>> {
    specs.iter().map(|spec| clients.get(spec, pools)).collect()
}
