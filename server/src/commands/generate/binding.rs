//! Which model plays which role.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::persona::{Complexity, ComplexityMix};
use domain::playbook::{AgentStyle, UserStyle};
use domain::problem::did_you_mean;
use domain::role::Role;
use engine::Playbook;
use llm::ModelSpec;
use strum::VariantArray;

/// A model is `scripted`, `NAME@BASE_URL` or `NAME@BASE_URL@KEY_VARIABLE`.
#[derive(clap::Args)]
pub struct Bindings {
    /// Who plays the agent under test: `scripted`, `NAME@BASE_URL`, `NAME@BASE_URL@KEY_VARIABLE` or a name of
    /// models.yaml
    #[arg(long, default_value = "scripted", value_name = "MODEL")]
    agent: String,
    /// Who plays a sub-agent, as NAME=MODEL (repeat the flag); default: the model that plays the agent
    #[arg(long = "sub-agent", value_name = "NAME=MODEL")]
    sub_agents: Vec<String>,
    /// Who plays the simulated user
    #[arg(long, default_value = "scripted", value_name = "MODEL")]
    user: String,
    /// Who answers calls of tools that are simulated by a model
    #[arg(long, default_value = "scripted", value_name = "MODEL")]
    tool_simulator: String,
    /// Who writes the change that such a call makes to the world
    #[arg(long, default_value = "scripted", value_name = "MODEL")]
    state_manager: String,
    /// Who judges (repeat the flag for a panel, whose median counts)
    #[arg(long = "judge", default_value = "scripted", value_name = "MODEL")]
    judges: Vec<String>,
    /// Sampling temperature of a role, as ROLE=VALUE (repeat the flag)
    #[arg(long = "temperature", value_name = "ROLE=VALUE")]
    temperatures: Vec<String>,
    /// Longest reply of a role in tokens, reasoning included, as ROLE=TOKENS (repeat the flag)
    #[arg(long = "max-tokens", value_name = "ROLE=TOKENS")]
    max_tokens: Vec<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Style {
    FunctionCalling,
    React,
    /// One JSON object a turn, held to its schema
    Json,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum UserForm {
    Text,
    /// One JSON object a turn, held to its schema
    Json,
}

impl From<UserForm> for UserStyle {
    fn from(form: UserForm) -> Self {
        match form {
            UserForm::Text => Self::Text,
            UserForm::Json => Self::Json,
        }
    }
}

impl From<Style> for AgentStyle {
    fn from(style: Style) -> Self {
        match style {
            Style::FunctionCalling => Self::FunctionCalling,
            Style::React => Self::React,
            Style::Json => Self::Json,
        }
    }
}

impl Bindings {
    pub fn models(&self, problem: &mut impl FnMut(&str, String)) -> BTreeMap<Role, ModelSpec> {
        let mut models = BTreeMap::new();
        for (role, flag, text) in [
            (Role::Agent, "--agent", &self.agent),
            (Role::SimulatedUser, "--user", &self.user),
            (Role::ToolSimulator, "--tool-simulator", &self.tool_simulator),
            (Role::StateManager, "--state-manager", &self.state_manager),
        ] {
            match text.parse::<ModelSpec>() {
                Ok(spec) => {
                    models.insert(role, spec);
                }
                Err(e) => problem(flag, e.to_string()),
            }
        }
        models
    }

    /// All who judge, in the order of the flags.
    pub fn judges(&self, problem: &mut impl FnMut(&str, String)) -> Vec<ModelSpec> {
        judges(&self.judges, problem)
    }

    pub fn sub_agents(
        &self,
        playbooks: &[&Arc<Playbook>],
        problem: &mut impl FnMut(&str, String),
    ) -> BTreeMap<String, ModelSpec> {
        let known: Vec<&str> = playbooks.iter().flat_map(|playbook| playbook.sub_agents()).collect();
        let mut models = BTreeMap::new();
        for text in &self.sub_agents {
            match sub_agent(text, &known) {
                Ok((name, spec)) => {
                    models.insert(name, spec);
                }
                Err(e) => problem("--sub-agent", e),
            }
        }
        models
    }

    pub fn temperatures(&self, problem: &mut impl FnMut(&str, String)) -> BTreeMap<Role, f32> {
        by_name("--temperature", &self.temperatures, &roles(), problem, |value| match value.parse() {
            Ok(value) if (0.0..=2.0).contains(&value) => Ok(value),
            _ => Err(format!("`{value}` is not a temperature from 0 to 2")),
        })
    }

    pub fn max_tokens(&self, problem: &mut impl FnMut(&str, String)) -> BTreeMap<Role, u32> {
        by_name("--max-tokens", &self.max_tokens, &roles(), problem, |value| match value.parse() {
            Ok(value) if value > 0 => Ok(value),
            _ => Err(format!("`{value}` is not a number of tokens")),
        })
    }
}

/// All models, each with the flag that names it.
pub fn named<'a>(
    models: &'a BTreeMap<Role, ModelSpec>,
    panel: &'a [ModelSpec],
    sub_agents: &'a BTreeMap<String, ModelSpec>,
) -> impl Iterator<Item = (&'static str, &'a ModelSpec)> {
    let flag = |role: &Role| match role {
        Role::Agent => "--agent",
        Role::SimulatedUser => "--user",
        Role::ToolSimulator => "--tool-simulator",
        Role::StateManager => "--state-manager",
        Role::Judge => "--judge",
    };
    let roles = models.iter().map(move |(role, spec)| (flag(role), spec));
    let judges = panel.iter().map(|spec| ("--judge", spec));
    roles.chain(judges).chain(sub_agents.values().map(|spec| ("--sub-agent", spec)))
}

/// How users put things, from the flags.
pub fn complexity(given: &[String], problem: &mut impl FnMut(&str, String)) -> ComplexityMix {
    let known = Complexity::VARIANTS.iter().map(|name| (name.into_str(), *name)).collect::<Vec<_>>();
    by_name("--complexity", given, &known, problem, |value| match value.parse::<f64>() {
        Ok(weight) if weight.is_finite() && weight > 0.0 => Ok(weight),
        _ => Err(format!("`{value}` is not a weight above 0")),
    })
}

/// Each named by a flag of its own.
pub fn judges(texts: &[String], problem: &mut impl FnMut(&str, String)) -> Vec<ModelSpec> {
    let mut models: Vec<ModelSpec> = Vec::new();
    for text in texts {
        match text.parse::<ModelSpec>() {
            Ok(spec) if spec == ModelSpec::Scripted && texts.len() > 1 => {
                problem("--judge", "`scripted` is not a model and cannot be on a panel".to_owned());
            }
            Ok(spec) => models.push(spec),
            Err(e) => problem("--judge", e.to_string()),
        }
    }
    models
}

fn sub_agent(text: &str, known: &[&str]) -> Result<(String, ModelSpec), String> {
    let (name, model) = text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=MODEL"))?;
    if !known.contains(&name) {
        let hint = did_you_mean(name, known.iter().copied());
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(format!("there is no sub-agent `{name}`{hint}; known: {known}"));
    }
    Ok((name.to_owned(), model.parse().map_err(|e: llm::SpecError| e.to_string())?))
}

/// Values given as NAME=VALUE.
fn by_name<K: Copy + Ord, T>(
    flag: &str,
    given: &[String],
    known: &[(&str, K)],
    problem: &mut impl FnMut(&str, String),
    read: impl Fn(&str) -> Result<T, String>,
) -> BTreeMap<K, T> {
    let mut values = BTreeMap::new();
    for text in given {
        let parsed = name_and_value(text, known).and_then(|(name, value)| Ok((name, read(value)?)));
        match parsed {
            Ok((name, value)) => {
                values.insert(name, value);
            }
            Err(e) => problem(flag, e),
        }
    }
    values
}

fn name_and_value<'a, K: Copy>(text: &'a str, known: &[(&str, K)]) -> Result<(K, &'a str), String> {
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=VALUE; names: {}", names.join(", ")))?;
    let found = known.iter().find(|(known, _)| *known == name).ok_or_else(|| {
        format!("there is no `{name}`{}; known: {}", did_you_mean(name, names.iter().copied()), names.join(", "))
    })?;
    Ok((found.1, value))
}

fn roles() -> [(&'static str, Role); 5] {
    Role::ALL.map(|role| (role.as_str(), role))
}
