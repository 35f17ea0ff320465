//! What a run will play. Everything derives from the run's seed, so a plan is the same wherever it is made.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use domain::budget::Budget;
use domain::event::Usage;
use domain::fault::FaultRule;
use domain::forecast::Pilot;
use domain::persona::{ComplexityMix, Profile};
use domain::playbook::{AgentStyle, UserStyle};
use domain::role::Role;
use domain::scenario::Scenario;
use domain::seed::Seed;
use engine::plan::{Plan, Row};
use engine::{Case, ChatRequest};
use llm::{ModelSpec, PoolSpec, Registry};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::services::PlayedBy;
use projects::library::Library;
use store::clock;
use store::conversations::PlannedConversation;

/// Where a run of one conversation comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub conversation: Uuid,
    /// The event in whose place it goes on.
    pub seq: u32,
    /// Who wrote what stands there instead; `None`: a model said it.
    #[serde(default)]
    pub edited_by: Option<String>,
}

/// What a run keeps besides its documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    pub models: BTreeMap<Role, ModelSpec>,
    /// Judges beside the one in `models`: with it they are a panel.
    #[serde(default)]
    pub panel: Vec<ModelSpec>,
    /// How often a conversation is played again if it was spoiled by something other than the agent.
    #[serde(default)]
    pub retries: u32,
    /// Only those that differ from the role's default.
    #[serde(default)]
    pub temperatures: BTreeMap<Role, f32>,
    /// Longest reply of a role in tokens; only those that differ from the default.
    #[serde(default)]
    pub max_tokens: BTreeMap<Role, u32>,
    /// Default: as each playbook says.
    #[serde(default)]
    pub agent_style: Option<AgentStyle>,
    #[serde(default)]
    pub user_style: UserStyle,
    /// The variant of the playbook that is the agent under test.
    #[serde(default)]
    pub variant: Option<String>,
    /// Who plays a sub-agent, by its name; the others are played by the agent's model.
    #[serde(default)]
    pub sub_agents: BTreeMap<String, ModelSpec>,
    /// Who answers the tools of each service that its playbooks name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services: BTreeMap<String, PlayedBy>,
    /// Whether the work of sub-agents is also written as rows of its own.
    #[serde(default)]
    pub branches: bool,
    /// What goes wrong between agent and tools in every conversation, beside what scenarios plan.
    #[serde(default)]
    pub faults: Vec<FaultRule>,
    /// The scenarios that are played in turn, and the profiles that users are drawn from. Empty in runs whose
    /// conversations were all written when they were made.
    #[serde(default)]
    pub scenarios: Vec<String>,
    #[serde(default)]
    pub personas: Vec<String>,
    /// How users put things; empty: as the persona model weighs it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub complexity: ComplexityMix,
    /// How many conversations have the same start: positions side by side, which differ only in what the agent draws.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub samples: NonZeroU32,
    /// What models.yaml says of the models that are named here: their endpoints and prices.
    #[serde(default)]
    pub pools: Vec<PoolSpec>,
    /// Whether models are asked before their turn where nothing in between can change what they are asked.
    #[serde(default = "yes")]
    pub pipelining: bool,
    /// Whether judges are asked for each criterion by itself, all at once.
    #[serde(default)]
    pub criteria_apart: bool,
    /// The turn of another conversation from which the only one of this run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_of: Option<Origin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Pilot>,
    /// Of a run of episodes: after how many seconds without a word of its agent an episode is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<u32>,
    /// Of episodes: the budget that their environment sets. The run's own may have been raised since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_budget: Option<Budget>,
    /// Where accepted rows are written.
    pub out: String,
}

const fn yes() -> bool {
    true
}

const fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

const fn is_one(samples: &NonZeroU32) -> bool {
    samples.get() == 1
}

impl RunConfig {
    pub fn max_tokens(&self, role: Role) -> u32 {
        self.max_tokens.get(&role).copied().unwrap_or_else(|| role.default_max_tokens())
    }

    pub fn temperature(&self, role: Role) -> f32 {
        self.temperatures.get(&role).copied().unwrap_or_else(|| role.default_temperature())
    }

    /// What a call cost, in billionths of the unit of the prices.
    pub fn cost(&self, model: &str, usage: Usage) -> i64 {
        let price = self.pools.iter().find(|pool| pool.name == model).and_then(|pool| pool.price);
        price.map_or(0, |price| price.cost(usage))
    }

    pub fn registry(&self) -> Registry {
        self.pools.iter().cloned().collect()
    }

    /// Whether the agent is outside.
    pub fn plays_episodes(&self) -> bool {
        self.models.get(&Role::Agent) == Some(&ModelSpec::Outside)
    }

    /// Every model that it names.
    pub fn specs(&self) -> impl Iterator<Item = &ModelSpec> {
        self.models.values().chain(&self.panel).chain(self.sub_agents.values())
    }

    /// Every model that it asks, in words.
    pub fn asked(&self) -> BTreeSet<String> {
        let is_asked = |model: &&ModelSpec| !matches!(model, ModelSpec::Scripted | ModelSpec::Outside);
        self.specs().filter(is_asked).map(ToString::to_string).collect()
    }

    /// A request with what the run says of its role.
    pub fn complete(&self, role: Role, chat: ChatRequest) -> ChatRequest {
        ChatRequest { temperature: self.temperature(role), max_tokens: self.max_tokens(role), ..chat }
    }

    /// All who judge.
    pub fn judges(&self) -> Vec<&ModelSpec> {
        self.models.get(&Role::Judge).into_iter().chain(&self.panel).collect()
    }

    /// Role -> model, in words; sub-agents with a model of their own as `agent.NAME`, further judges as `judge.2`, services as
    /// `service.NAME`.
    pub fn model_names(&self) -> BTreeMap<String, String> {
        let roles = self.models.iter().map(|(role, model)| (role.to_string(), model.to_string()));
        let subs = self.sub_agents.iter().map(|(name, model)| (format!("{}.{name}", Role::Agent), model.to_string()));
        let panel = self.panel.iter().zip(2..).map(|(model, n)| (format!("{}.{n}", Role::Judge), model.to_string()));
        let services = self.services.iter().map(|(name, played)| (format!("service.{name}"), played.told(name)));
        roles.chain(subs).chain(panel).chain(services).collect()
    }
}

/// What a run plays in turn, and who may be the user.
pub struct Repertoire {
    scenarios: Vec<Arc<Scenario>>,
    profiles: BTreeMap<String, Profile>,
    complexity: ComplexityMix,
    samples: NonZeroU32,
}

impl Repertoire {
    /// # Errors
    /// The documents do not hold what the run plays.
    pub fn of(library: &Library, config: &RunConfig) -> anyhow::Result<Self> {
        let scenarios = config.scenarios.iter().map(|id| library.scenario(id).cloned().map_err(|e| anyhow!(e)));
        let profiles = config.personas.iter().map(|name| {
            let profile =
                library.profiles.get(name).with_context(|| format!("there is no persona profile `{name}`"))?;
            Ok((name.clone(), profile.clone()))
        });
        Ok(Self {
            scenarios: scenarios.collect::<anyhow::Result<_>>()?,
            profiles: profiles.collect::<anyhow::Result<_>>()?,
            complexity: config.complexity.clone(),
            samples: config.samples,
        })
    }

    /// A conversation of a scenario that is played for the `repeat`-th time, wherever it stands.
    ///
    /// # Errors
    /// It does not play the scenario, or nobody may be its user.
    pub fn conversation(
        &self,
        library: &Library,
        seed: i64,
        scenario: &str,
        (position, repeat): (i32, i32),
    ) -> anyhow::Result<PlannedConversation> {
        let scenario = self.scenarios.iter().find(|known| known.id == scenario);
        let scenario = scenario.context("the run does not play this scenario")?;
        let own = Seed::new(seed, &scenario.id, u32::try_from(repeat)?);
        let profile = engine::plan::draw_profile(&self.profiles, scenario, &own).map_err(|e| anyhow!(e))?;
        let complexity = engine::plan::draw_complexity(&library.personas, &self.complexity, profile, scenario, &own);
        Ok(PlannedConversation {
            id: clock::id(),
            position,
            scenario: scenario.id.clone(),
            repeat,
            persona: profile.name.clone(),
            complexity: complexity.to_string(),
            attempt: 1,
        })
    }

    pub fn plan<'a>(&'a self, library: &'a Library, seed: i64) -> Plan<'a> {
        let Self { scenarios, profiles, complexity, samples } = self;
        Plan { scenarios, profiles, model: &library.personas, complexity, samples: *samples, seed }
    }
}

pub fn planned(row: Row<'_>) -> anyhow::Result<PlannedConversation> {
    Ok(PlannedConversation {
        id: clock::id(),
        position: i32::try_from(row.position)?,
        scenario: row.scenario.id.clone(),
        repeat: i32::try_from(row.repeat)?,
        persona: row.profile.name.clone(),
        complexity: row.complexity.to_string(),
        attempt: 1,
    })
}

/// The case behind a planned conversation.
pub fn case(library: &Library, config: &RunConfig, seed: i64, planned: &PlannedConversation) -> anyhow::Result<Case> {
    let complexity = planned.complexity.parse();
    let complexity = complexity.with_context(|| format!("`{}` is no complexity", planned.complexity))?;
    let own = Seed::new(seed, &planned.scenario, u32::try_from(planned.repeat)?);
    let case = library.cases.case(&planned.scenario, &planned.persona, complexity, own).map_err(|e| anyhow!(e))?;
    Ok(Case {
        agent_style: config.agent_style.unwrap_or(case.agent_style),
        user_style: config.user_style,
        variant: config.variant.clone(),
        judges: 1 + config.panel.len(),
        sample: engine::plan::group(usize::try_from(planned.position)?, config.samples).1,
        attempt: u32::try_from(planned.attempt)?,
        faults: case.faults.iter().chain(&config.faults).cloned().collect(),
        ..case
    })
}

/// Judges that are the agent itself, or of its model family: they tend to favour its words.
pub fn family_warnings(config: &RunConfig, judges: &[ModelSpec]) -> Vec<String> {
    let own: BTreeSet<String> =
        config.models.get(&Role::Agent).into_iter().chain(config.sub_agents.values()).filter_map(llm::family).collect();
    let partial = judges.iter().filter_map(|judge| Some((judge, llm::family(judge).filter(|f| own.contains(f))?)));
    let agents: Vec<&ModelSpec> =
        config.models.get(&Role::Agent).into_iter().chain(config.sub_agents.values()).collect();
    let warning = |(judge, family)| {
        if agents.contains(&judge) {
            return format!("the agent {judge} judges itself, and models favour their own words; choose another judge");
        }
        format!(
            "the judge {judge} and the agent are both of the family `{family}`, and judges favour their own; choose another judge"
        )
    };
    partial.map(warning).collect()
}
