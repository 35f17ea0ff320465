//! Finding out what a model can, and saying so before a run spends money.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::api::probe::ModelProbe;
use domain::playbook::AgentStyle;
use domain::progress::JobProgress;
use domain::role::Role;
use llm::{ModelSpec, PoolSpec, ProbeOptions};
use runtime::jobs::{Completion, JobLease};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};

use super::plan::RunConfig;
use super::services::PlayedBy;
use projects::library::Library;
use store::clock;
use store::models;

/// Asks all endpoints of a model, those of its workers too. What is found is to be kept under the name that runs use.
///
/// # Errors
/// A key is missing, or the database cannot be reached.
pub async fn ask(pool: &PgPool, spec: &PoolSpec, options: &ProbeOptions) -> anyhow::Result<ModelProbe> {
    let members = if spec.workers { runtime::of_model(pool, &spec.name).await? } else { Vec::new() };
    let replicas = llm::probe(spec, &members, options).await?;
    Ok(ModelProbe { probed_at: clock::now(), replicas })
}

/// How long an endpoint has that a command asks.
pub const PATIENCE: Duration = Duration::from_mins(5);
/// How long an endpoint has that a job asks: somebody waits for the answer, and no longer than a minute.
const PATIENCE_OF_JOBS: Duration = Duration::from_secs(45);

/// What the job of a probe is to ask. It names where the key is, and never the key.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProbeOrder {
    pub model: PoolSpec,
    /// Tokens that a prompt and its reply may have together; what the endpoint says itself if it is absent.
    pub context_length: Option<u64>,
}

/// Asks all endpoints of a model, and keeps what is found under its name.
///
/// # Errors
/// As [`ask`].
pub async fn work(lease: JobLease) -> anyhow::Result<Completion> {
    let ProbeOrder { model, context_length } = serde_json::from_value(lease.job.spec.clone())?;
    lease.report(JobProgress::new("ask", 0, None));
    let options = ProbeOptions { context_length, patience: PATIENCE_OF_JOBS };
    let probe = ask(&lease.pool, &model, &options).await?;
    let mut tx = lease.transaction().await?;
    models::keep_probe(&mut tx, &model.name, &probe).await?;
    Ok(Completion::finished(tx, serde_json::to_value(&probe)?))
}

/// What should be known of a run's models before it plays: what they failed, and which were never probed.
///
/// # Errors
/// The database cannot be read.
pub async fn warnings(db: &mut PgConnection, config: &RunConfig, library: &Library) -> store::Result<Vec<String>> {
    let mut found = BTreeSet::new();
    let styles = styles(config, library);
    for (role, model) in cast(config) {
        let name = model.to_string();
        match models::probe(db, &name).await? {
            None => {
                found.insert(format!("{name} was never probed; `groundstate models check {name}` says what it can"));
            }
            Some(probe) => {
                let all = styles.iter().flat_map(|style| probe.warnings(role, *style));
                found.extend(all.map(|warning| format!("{role} {name}: {warning}")));
            }
        }
    }
    let stood_in = config.services.iter().filter(|(_, played)| **played == PlayedBy::StandIn);
    found.extend(stood_in.map(|(name, _)| {
        format!(
            "the service `{name}` is not registered here (--tools): its tools answer with their `scripted` templates, \
             and the run says `service.{name}: scripted`"
        )
    }));
    Ok(found.into_iter().collect())
}

/// Who plays what; what is scripted has no endpoint.
fn cast(config: &RunConfig) -> impl Iterator<Item = (Role, &ModelSpec)> {
    let roles = config.models.iter().map(|(role, model)| (*role, model));
    let sub_agents = config.sub_agents.values().map(|model| (Role::Agent, model));
    let panel = config.panel.iter().map(|model| (Role::Judge, model));
    roles
        .chain(sub_agents)
        .chain(panel)
        .filter(|(_, model)| !matches!(**model, ModelSpec::Scripted | ModelSpec::Outside))
}

/// The styles of the run's agents.
fn styles(config: &RunConfig, library: &Library) -> Vec<AgentStyle> {
    let scenarios = config.scenarios.iter().filter_map(|id| library.scenario(id).ok());
    let playbooks: BTreeSet<&str> = scenarios.map(|scenario| scenario.playbook.as_str()).collect();
    let own = |name: &&str| library.playbooks.get(*name).map(|playbook| playbook.spec.agent);
    match config.agent_style {
        Some(style) => vec![style],
        None => {
            let found: Vec<AgentStyle> = playbooks.iter().filter_map(own).collect();
            let all = [AgentStyle::FunctionCalling, AgentStyle::React, AgentStyle::Json];
            all.into_iter().filter(|style| found.contains(style)).collect()
        }
    }
}
