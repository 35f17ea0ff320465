//! Runs: what is ordered, how far they are, by what they are played, and what was asked of models.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::budget::Budget;
use crate::fault::FaultRule;
use crate::persona::ComplexityMix;
use crate::playbook::{AgentStyle, UserStyle};
use crate::role::Role;

/// Most samples of a group. Papers on learning from groups of rollouts use 4 to 64.
pub const MOST_SAMPLES: u32 = 1_000;

/// An order for a run. Absent fields have the default of `groundstate generate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = Order)]
#[expect(clippy::struct_excessive_bools, reason = "what is asked of a run is independent of each other")]
pub struct RunOrder {
    /// Names of playbooks; default: all of the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub playbooks: Vec<String>,
    /// Ids of scenarios, at least one; default: all scenarios of the playbooks, in turn.
    #[schema(min_items = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenarios: Option<Vec<String>>,
    /// Of these, only scenarios whose solve rate in an earlier run is in a band: nothing is learned from what is always solved, or
    /// never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solve_rates: Option<SolveRateBand>,
    /// Names of persona profiles; default: all of the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<String>,
    /// Complexity (`simple`, `medium`, `complex` or `vague`) -> weight; default: the weights of the persona model.
    #[schema(value_type = BTreeMap<String, f64>)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub complexity: ComplexityMix,
    /// How many conversations; default: 24.
    #[schema(minimum = 1, maximum = 100_000_000)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    /// How many times each of them is played; default: 1. What is played from the same start is a group: its samples have the
    /// same user, world and faults, and differ only in what the agent's model draws.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// Seed from which everything random is derived; default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Role -> `scripted` or the name of a model; default: `scripted`.
    #[schema(value_type = BTreeMap<String, String>)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<Role, String>,
    /// Judges in addition to the one in `models`: together they are a panel, whose median counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub panel: Vec<String>,
    /// Sub-agent -> model; default: the agent's model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sub_agents: BTreeMap<String, String>,
    /// Role -> 0 to 2.
    #[schema(value_type = BTreeMap<String, f32>)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub temperatures: BTreeMap<Role, f32>,
    /// Role -> longest reply in tokens.
    #[schema(value_type = BTreeMap<String, u32>)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub max_tokens: BTreeMap<Role, u32>,
    /// `function_calling`, `react` or `json`; default: as each playbook says.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_style: Option<AgentStyle>,
    /// How the simulated user writes: `text` or `json`; default: `text`.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_style: Option<UserStyle>,
    /// The variant of the playbook that is the agent under test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Whether the work of sub-agents is also written as rows of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub branches: bool,
    /// Faults between agent and tools, in addition to those of the scenarios.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRule>,
    /// How often a conversation is played again if it was spoiled by something other than the agent; default: 2.
    #[schema(maximum = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// Of the runs of a project, those of higher priority are played first.
    #[serde(skip_serializing_if = "is_default")]
    pub priority: i32,
    /// Conversations that all players together play at once.
    #[schema(minimum = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<i32>,
    /// Caps at which the run pauses.
    #[serde(skip_serializing_if = "is_default")]
    pub budget: Budget,
    /// Make model calls one after another, even where they could be made at once.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_pipelining: bool,
    /// Ask judges about each criterion in a call of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub criteria_apart: bool,
    /// Do not begin before the run is resumed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// Play only this many conversations, then pause. The forecast of the whole run is made from them.
    #[schema(minimum = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<i32>,
}

/// Scenarios by how often they were solved. Those that have no reward in the run are in no band.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SolveRateBand {
    /// Id of a run of the project.
    pub run: String,
    /// From 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub min: f64,
    /// From 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub max: f64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a run with this order would play.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderPreview {
    pub playbooks: Vec<String>,
    /// How many conversations, all samples of each group counted.
    pub planned: usize,
    /// Played in turn.
    pub scenarios: Vec<String>,
    pub personas: Vec<String>,
    /// Role -> model.
    pub models: BTreeMap<String, String>,
    /// Variants that the order may name: those that all its playbooks have.
    pub variants: BTreeSet<String>,
    /// Sub-agents of its playbooks, which may have models of their own.
    pub sub_agents: BTreeSet<String>,
    /// Warnings to read before money is spent: checks that its models failed, and judges that judge their own model.
    pub warnings: Vec<String>,
}

fn conversations() -> String {
    "conversations".to_owned()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunSummary {
    pub id: String,
    /// The kind of its tasks: `conversations`, `episodes`, which are conversations whose agent is outside, or the rows of a `workflow`.
    #[serde(default = "conversations")]
    pub kind: String,
    /// Its playbooks, separated by commas, or its workflow.
    pub playbook: String,
    pub seed: i64,
    pub created_at: DateTime<Utc>,
    pub planned: i64,
    pub finished: i64,
    pub accepted: i64,
    /// Failures by who is to blame; of rows by how they ended.
    pub failures: BTreeMap<String, i64>,
    /// Attempts that were spoiled by something other than the agent, by who is to blame. They were played again and
    /// count nowhere else.
    #[serde(default)]
    pub played_again: BTreeMap<String, i64>,
    pub state: RunState,
    /// Why it was paused, if not by a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_because: Option<String>,
    /// Of the runs of a project, those of higher priority are played first.
    pub priority: i32,
    /// When its first conversation was claimed, and when its last one ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
    /// Usage of models, by role and model.
    #[serde(default)]
    pub usage: Vec<UsageSummary>,
}

impl RunSummary {
    /// Whether its tasks are rows of a workflow, and no conversations.
    pub fn plays_rows(&self) -> bool {
        self.kind != conversations() && self.kind != "episodes"
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunChange {
    /// Of the runs of a project, those of higher priority are played first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Replaces all caps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// What decides how a run is played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunTerms {
    /// Hash of the documents that the run was started with.
    pub library: String,
    /// Conversations that all players together play at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<i32>,
    pub budget: Budget,
    /// The models that play it, each once; roles that follow the script have none.
    pub models: BTreeSet<String>,
    /// Models, temperatures, scenarios, personas and the rest of its order.
    pub config: Value,
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum RunState {
    /// Players play it.
    Running,
    /// No model is asked until it is resumed.
    Paused,
    /// Every conversation has ended.
    Finished,
    /// It was cancelled before that, for good.
    Cancelled,
}

impl RunState {
    /// Whether nothing is played any more, unless what was spoiled is played again.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled)
    }

    /// Whether what was spoiled may be played again: what was cancelled was ended for good.
    pub const fn may_play_again(self) -> bool {
        !matches!(self, Self::Cancelled)
    }
}

/// Usage of one model in one role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageSummary {
    pub role: String,
    pub model: String,
    /// Calls of the model, including failed ones.
    pub calls: i64,
    /// Requests beyond the first of each call.
    pub retries: i64,
    pub prompt_tokens: i64,
    /// Tokens of prompts that came from a prefix cache; 0 also if the endpoint does not report it.
    #[serde(default)]
    pub cached_tokens: i64,
    pub completion_tokens: i64,
    /// In the unit of the model's prices.
    pub cost: f64,
}

impl UsageSummary {
    /// The share of what it read that a prefix cache held, 0 to 1; None if its endpoint tells of none.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn cache_hits(&self) -> Option<f64> {
        (self.cached_tokens > 0).then(|| self.cached_tokens as f64 / self.prompt_tokens.max(self.cached_tokens) as f64)
    }
}

/// After how long a silence others take over what a process plays, unless it says otherwise itself.
pub const LEASE_SECONDS: u32 = 15;
