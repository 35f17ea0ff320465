//! Episodes: conversations whose agent is a program outside, such as a trainer or somebody's own agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::budget::Budget;
use crate::corpus::Side;
use crate::event::Usage;
use crate::fault::FaultRule;
use crate::message::{FunctionCall, FunctionKind, Message};
use crate::outcome::Blame;
use crate::persona::ComplexityMix;
use crate::playbook::UserStyle;
use crate::reward::Penalties;
use crate::role::Role;
use crate::verdict::{Check, Rule};

/// The settings of episodes. Equal settings share a run as long as the project's documents do not change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Environment {
    /// Names of playbooks; default: all of the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub playbooks: Vec<String>,
    /// Ids of scenarios, at least one; default: all scenarios of the playbooks.
    #[schema(min_items = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenarios: Option<Vec<String>>,
    /// Only the scenarios of this part; default: all. A family of scenarios is in one part only, so that what is trained on is
    /// never tested with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Side>,
    /// Id of a corpus. Its golden part says which families of scenarios are golden. Default: a tenth of the families, drawn by
    /// their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corpus: Option<String>,
    /// Names of persona profiles; default: all of the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<String>,
    /// Complexity (`simple`, `medium`, `complex` or `vague`) -> weight; default: the weights of the persona model.
    #[schema(value_type = BTreeMap<String, f64>)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub complexity: ComplexityMix,
    /// Seed from which everything random is derived; default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Role other than `agent` -> `scripted` or the name of a model; default: `scripted`.
    #[schema(value_type = BTreeMap<String, String>)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<Role, String>,
    /// Sub-agent -> model; default: `scripted`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sub_agents: BTreeMap<String, String>,
    /// Role -> 0 to 2.
    #[schema(value_type = BTreeMap<String, f32>)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub temperatures: BTreeMap<Role, f32>,
    /// How the simulated user writes: `text` or `json`; default: `text`.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_style: Option<UserStyle>,
    /// The variant of the playbook whose instructions and tools the agent gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Faults between agent and tools, in addition to those of the scenarios.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRule>,
    /// After so many seconds without a word of its agent an episode is given up, with a reward of null; default: 1800. Players look for
    /// such episodes every ten seconds.
    #[schema(minimum = 1, maximum = 604_800)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<u32>,
    /// In lists of tasks, how many groups each scenario has; default: 1. Each is another user in another world.
    #[schema(minimum = 1, maximum = 10_000)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
    /// Caps at which the run of the episodes pauses.
    #[serde(skip_serializing_if = "is_default")]
    pub budget: Budget,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Opens episodes of one group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewEpisodes {
    /// Name of an environment of the project, or of a playbook; default: `environment`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub environment: Environment,
    /// Only the scenarios of this part, in place of what the environment says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Side>,
    /// Id of a scenario of the environment; default: the next one in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Episodes with the same scenario, group and seed have the same user, world and faults. Default: a group of its own.
    #[schema(minimum = 0, maximum = 999_999)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<i32>,
    /// How many episodes of the group are opened; default: 1.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// An id of your own, a UUID, for the only episode. The same request again, such as after a lost connection, is about the same episode; an
    /// endpoint that has a key and was interrupted by a restart of the server plays on then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who plays the agent. Absent: you post its messages. With an endpoint, the server asks it for each turn and answers when the
    /// only episode has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentEndpoint>,
    /// Whether each episode gets a token of its own, for the program that plays its agent. Not with `agent`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub token: bool,
}

/// An OpenAI-compatible endpoint that plays the agent of an episode.
#[derive(Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentEndpoint {
    /// Such as `http://trainer:8000/v1`. Only addresses that the server was started with (`--agent-urls`) may be named.
    pub url: String,
    pub model: String,
    /// Sent as `Authorization: Bearer`. It is not stored, so a restart of the server interrupts the episode until the same request
    /// comes again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// 0 to 2; default: 0.7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// Longest reply, in tokens; default: 4096.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Whether its replies are asked for with token ids and log-probabilities, which exports of groups then contain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub token_ids: bool,
}

impl std::fmt::Debug for AgentEndpoint {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentEndpoint").field("url", &self.url).field("model", &self.model).finish_non_exhaustive()
    }
}

/// A turn of the agent, as an OpenAI assistant message. Other fields of such a message are ignored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct AgentMessage {
    /// The `turn` of the episode that this answers. If it is given, a message for a turn that is over is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// `assistant`, if it is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Null or absent if the message only calls tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// Null counts as none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<AgentToolCall>>,
    /// The tokens that the turn cost, to count them in the usage of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The tokens of the turn. They are stored with it, and exports of groups contain them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<MessageTokens>,
}

/// The tokens that an agent sampled as a message, under the names that vLLM gives them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageTokens {
    /// Ids of the prompt that the message was sampled after; at most 1,048,576.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_token_ids: Option<Vec<u32>>,
    /// Ids of the sampled tokens; 1 to 131,072.
    pub token_ids: Vec<u32>,
    /// The natural logarithm of the probability of each of them.
    pub logprobs: Vec<f32>,
    /// The weights that were sampled from; at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// A call, in the shape of OpenAI's. Calls get ids of their own, which the message shows as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentToolCall {
    #[serde(default)]
    pub id: String,
    #[serde(rename = "type", default)]
    pub kind: FunctionKind,
    pub function: FunctionCall,
}

/// Where an episode stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeState {
    /// The user, a tool or a sub-agent is at work. Ask again.
    Playing,
    /// It is the agent's turn.
    Waiting,
    Ended,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Episode {
    /// Also the id of its conversation.
    pub id: String,
    /// The run that holds it.
    pub run: String,
    pub playbook: String,
    pub scenario: String,
    pub group: i32,
    pub state: EpisodeState,
    /// The agent's turn that is waited for: send it with the message that answers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// At the agent's turn: the reward if the agent ended the episode now; null if somebody else has spoiled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward_if_ended: Option<u8>,
    /// The messages that the agent has seen and sent, without the first `skipped`. The first of all is its system prompt.
    pub messages: Vec<Message>,
    pub skipped: usize,
    /// The agent's tools, as OpenAI describes functions.
    #[schema(value_type = Vec<Object>)]
    pub tools: Vec<Arc<Value>>,
    /// Why the last message of the agent was refused: then it is its turn again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Present once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<EpisodeResult>,
    /// In the answer that opened it, if a token was asked for: its secret, which is shown only once. The token may read the episode
    /// without its reward, speak and call tools in it, and end it by `verify`; it opens nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// The result of an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EpisodeResult {
    /// 1 if everything that the verifier checks holds, else 0; null if somebody else than the agent spoiled the episode.
    pub reward: Option<u8>,
    /// Rule of the verifier -> share of its checks that hold, from 0 to 1.
    #[schema(value_type = BTreeMap<String, f64>)]
    pub reward_components: BTreeMap<Rule, f64>,
    /// Whose failure it is; absent if it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blame: Option<Blame>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `user_ended`, `walked_out`, `terminal`, `turn_limit`, `step_limit`, `agent_ended`; absent if it was broken off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// Faults of the agent on the way. Malformed calls and limits make the reward 0 by themselves; the others do not change it.
    pub penalties: Penalties,
    /// The checks of the verifier.
    pub checks: Vec<Check>,
}

/// Selects what is read of an episode.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct EpisodeParams {
    /// Leaves out the first messages, so many.
    pub skip: Option<usize>,
    /// Waits for the agent's turn or the end for at most so many seconds, 0 to 50; default: 0.
    #[param(maximum = 50)]
    pub wait: Option<u32>,
}

/// An environment that has a name, by which trainers ask for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NamedEnvironment {
    pub name: String,
    pub environment: Environment,
    pub changed_by: String,
    pub changed_at: DateTime<Utc>,
}
