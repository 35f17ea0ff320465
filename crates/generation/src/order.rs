//! An order for a run, as it comes over HTTP: checked against the documents and the registry of models, every mistake
//! with its place.

pub mod limits;
pub mod selection;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use domain::api::{FieldError, MOST_SAMPLES, RunOrder};
use domain::fault;
use domain::forecast::Pilot;
use domain::problem::{MOST_PROBLEMS, did_you_mean, explained};
use domain::role::Role;
use llm::{ModelSpec, PoolSpec, Registry};
use tools::Tools;
use uuid::Uuid;

use self::selection::Selection;
use super::plan::RunConfig;
use super::run::Terms;
use crate::services;
use projects::library::Library;

/// Most conversations of a run.
const MOST: u32 = 100_000_000;
const MOST_RETRIES: u32 = 100;

/// An order that was checked and can be stored.
pub struct CheckedOrder {
    pub config: RunConfig,
    pub terms: Terms,
}

/// Collects mistakes.
struct OrderChecker<'a> {
    library: &'a Library,
    registry: &'a Registry,
    tools: &'a Tools,
    errors: Vec<FieldError>,
}

/// # Errors
/// Every mistake, with a pointer into the order.
pub fn check(
    order: &RunOrder,
    library: &Library,
    registry: &Registry,
    tools: &Tools,
    project: Uuid,
) -> Result<CheckedOrder, Vec<FieldError>> {
    let too_much = limits::problems(order);
    if !too_much.is_empty() {
        return Err(too_much.into_iter().map(|(at, detail)| FieldError::at(&at, detail)).collect());
    }
    let mut checking = OrderChecker { library, registry, tools, errors: Vec::new() };
    let ordered = checking.ordered(order, project);
    if checking.errors.is_empty() { Ok(ordered) } else { Err(checking.errors) }
}

impl OrderChecker<'_> {
    fn wrong(&mut self, pointer: &str, detail: impl Into<String>) {
        self.errors.push(FieldError::at(pointer, detail));
    }

    fn ordered(&mut self, order: &RunOrder, project: Uuid) -> CheckedOrder {
        let (library, mut found) = (self.library, Vec::new());
        let mut flag = |flag: &str, message: String| found.push((flag.to_owned(), message));
        let chosen = order.scenarios.as_deref();
        if chosen.is_some_and(<[String]>::is_empty) {
            flag("--scenario", "none is chosen: name at least one, or leave them out to play all".to_owned());
        }
        let mut selection = Selection::new(library, &order.playbooks, chosen.unwrap_or_default(), &mut flag);
        let profiles = selection::profiles(library, &order.personas, &mut flag);
        if chosen.is_none() {
            selection.retain_playable(&profiles);
        }
        if let Some(variant) = &order.variant {
            selection.check_variant(variant, &mut flag);
        }
        for (flag, message) in found {
            self.wrong(pointer_of(&flag), message);
        }
        if selection.scenarios.is_empty() && self.errors.is_empty() {
            self.wrong("/playbooks", format!("`{}` has no scenario to play", selection.names()));
        }
        self.numbers(order);
        let (samples, planned) = self.amount(order);
        let known: Vec<&str> = selection.playbooks.iter().flat_map(|playbook| playbook.sub_agents()).collect();
        let sub_agents = self.sub_agents(order, &known);
        let models = Role::ALL.map(|role| {
            let text = order.models.get(&role).map_or("scripted", String::as_str);
            (role, self.model(&format!("/models/{role}"), text))
        });
        let panel: Vec<ModelSpec> =
            order.panel.iter().enumerate().map(|(i, text)| self.model(&format!("/panel/{i}"), text)).collect();
        let models = BTreeMap::from(models);
        if panel.contains(&ModelSpec::Scripted) || (!panel.is_empty() && models[&Role::Judge] == ModelSpec::Scripted) {
            self.wrong("/panel", "`scripted` is not a model and cannot be on a panel");
        } else if panel.contains(&models[&Role::Judge]) {
            self.wrong("/panel", format!("`{}` judges already", models[&Role::Judge]));
        }
        let pools = self.pools(models.values().chain(&panel).chain(sub_agents.values()));
        let mut budget = order.budget.clone();
        let forecast = order.forecast.map(|after| Pilot::within(after, &mut budget));
        let scenarios: Vec<String> = selection.scenarios.iter().map(|scenario| scenario.id.clone()).collect();
        let services = services::of_scenarios(library, &scenarios, self.tools).unwrap_or_else(|reason| {
            self.wrong("/scenarios", reason);
            BTreeMap::new()
        });
        let config = RunConfig {
            models,
            panel,
            retries: order.retries.unwrap_or(2),
            temperatures: order.temperatures.clone(),
            max_tokens: order.max_tokens.clone(),
            agent_style: order.agent_style,
            user_style: order.user_style.unwrap_or_default(),
            variant: order.variant.clone(),
            sub_agents,
            branch_of: None,
            branches: order.branches,
            faults: order.faults.clone(),
            services,
            scenarios,
            personas: profiles.keys().cloned().collect(),
            complexity: order.complexity.clone(),
            samples,
            pools,
            pipelining: !order.no_pipelining,
            criteria_apart: order.criteria_apart,
            out: String::new(),
            forecast,
            idle_seconds: None,
            environment_budget: None,
        };
        self.faults(order, &selection);
        let terms = Terms {
            project,
            playbook: selection.names(),
            seed: order.seed.unwrap_or(1),
            planned: planned as usize,
            priority: order.priority,
            max_in_flight: order.max_in_flight,
            budget,
            paused: order.paused,
            episodes: false,
        };
        CheckedOrder { config, terms }
    }

    /// Samples of each group, and conversations in all.
    fn amount(&mut self, order: &RunOrder) -> (NonZeroU32, u32) {
        let n = order.n.unwrap_or(24);
        if !(1..=MOST).contains(&n) {
            self.wrong("/n", format!("must be from 1 to {MOST}"));
        }
        let samples = order.samples.unwrap_or(1);
        if !(1..=MOST_SAMPLES).contains(&samples) {
            self.wrong("/samples", format!("must be from 1 to {MOST_SAMPLES}"));
        }
        let planned = n.saturating_mul(samples);
        if planned > MOST && self.errors.is_empty() {
            let all = u64::from(n) * u64::from(samples);
            self.wrong("/n", format!("{n} times {samples} samples are {all} conversations; a run has at most {MOST}"));
        }
        (NonZeroU32::new(samples).unwrap_or(NonZeroU32::MIN), planned)
    }

    fn numbers(&mut self, order: &RunOrder) {
        if order.retries.is_some_and(|retries| retries > MOST_RETRIES) {
            self.wrong("/retries", format!("must be at most {MOST_RETRIES}"));
        }
        if order.max_in_flight.is_some_and(|n| n < 1) {
            self.wrong("/max_in_flight", "must be at least 1");
        }
        if order.forecast.is_some_and(|n| n < 1) {
            self.wrong("/forecast", "must be at least 1");
        }
        for (field, message) in order.budget.problems() {
            self.wrong(&format!("/budget/{field}"), message);
        }
        for (name, weight) in &order.complexity {
            if !(weight.is_finite() && *weight > 0.0) {
                self.wrong(&format!("/complexity/{name}"), "must be a weight above 0; leave out what is not wanted");
            }
        }
        for (role, value) in &order.temperatures {
            if !(0.0..=2.0).contains(value) {
                self.wrong(&format!("/temperatures/{role}"), "must be from 0 to 2");
            }
        }
        for (role, _) in order.max_tokens.iter().filter(|(_, tokens)| **tokens == 0) {
            self.wrong(&format!("/max_tokens/{role}"), "must be at least 1");
        }
    }

    /// Only models of the registry: who may start runs does not thereby say where this server connects to.
    fn model(&mut self, pointer: &str, text: &str) -> ModelSpec {
        match text.parse::<ModelSpec>() {
            Ok(ModelSpec::Endpoint(_)) => {
                self.wrong(
                    pointer,
                    "name a model of the registry (GET /api/v1/models); addresses are not accepted here",
                );
            }
            Ok(spec) => return spec,
            Err(error) => self.wrong(pointer, error.to_string()),
        }
        ModelSpec::Scripted
    }

    fn sub_agents(&mut self, order: &RunOrder, known: &[&str]) -> BTreeMap<String, ModelSpec> {
        let (mut models, mut unknown) = (BTreeMap::new(), Vec::new());
        for (name, text) in &order.sub_agents {
            if known.contains(&name.as_str()) {
                models.insert(name.clone(), self.model(&format!("/sub_agents/{name}"), text));
            } else {
                unknown.push(name);
            }
        }
        let why = |name: &String| {
            let hint = did_you_mean(name, known.iter().copied());
            FieldError::at(&format!("/sub_agents/{name}"), format!("there is no sub-agent `{name}`{hint}"))
        };
        self.errors.extend(explained(MOST_PROBLEMS, unknown, why, |more| FieldError::at("/sub_agents", more)));
        models
    }

    fn pools<'a>(&mut self, specs: impl Iterator<Item = &'a ModelSpec>) -> Vec<PoolSpec> {
        let mut used: Vec<PoolSpec> = Vec::new();
        for spec in specs {
            let ModelSpec::Named(name) = spec else { continue };
            match self.registry.pool(name) {
                Ok(pool) if used.contains(pool) => {}
                Ok(pool) => used.push(pool.clone()),
                Err(error) => self.wrong("/models", error.to_string()),
            }
        }
        used
    }

    fn faults(&mut self, order: &RunOrder, selection: &Selection<'_>) {
        let tools = selection.playbooks.iter().flat_map(|playbook| &playbook.spec.tools);
        let tools: Vec<&str> = tools.map(|tool| tool.name.as_str()).collect();
        for (i, message) in fault::problems(&order.faults, &tools) {
            self.wrong(&format!("/faults/{i}"), message);
        }
    }
}

/// The fields of an order that the flags of a command stand for.
fn pointer_of(flag: &str) -> &'static str {
    match flag {
        "--playbook" => "/playbooks",
        "--scenario" => "/scenarios",
        "--persona" => "/personas",
        "--variant" => "/variant",
        _ => "",
    }
}
