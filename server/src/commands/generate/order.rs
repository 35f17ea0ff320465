//! What the flags order, read together with the documents of the project.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use domain::Problem;
use domain::api::MOST_SAMPLES;
use domain::bad_input::BadInput;
use domain::persona::Profile;
use domain::playbook::AgentStyle;
use domain::role::Role;
use domain::scenario::Scenario;
use generation::order::selection::{self, Selection};
use generation::plan::RunConfig;
use generation::run::{self, Terms};
use generation::services;
use llm::EndpointOptions;
use projects::library::Library;
use runtime::ModelClients;

use super::{Generate, binding, faults};
use crate::commands::models_file;

/// What the flags ask for, checked.
pub struct Order {
    pub library: Library,
    pub config: RunConfig,
    pub terms: Terms,
    /// What is played in turn, and by whom.
    pub scenarios: Vec<Arc<Scenario>>,
    pub profiles: BTreeMap<String, Profile>,
}

/// Reads documents and flags. `solved`: the only scenarios that are played, if a band of solve rates is asked for.
pub fn read(args: &Generate, solved: Option<&BTreeSet<String>>) -> anyhow::Result<Order> {
    let library = Library::load(&args.project)?;
    let mut problems = Vec::new();
    let mut flag = |flag: &str, message: String| problems.push(Problem::new(flag, 0, "", message));
    let mut selection = Selection::new(&library, &args.playbooks, &args.scenarios, &mut flag);
    let mut models = args.bindings.models(&mut flag);
    let mut panel = args.bindings.judges(&mut flag);
    if !panel.is_empty() {
        models.insert(Role::Judge, panel.remove(0));
    }
    let profiles = selection::profiles(&library, &args.personas, &mut flag);
    if args.scenarios.is_empty() {
        selection.retain_playable(&profiles);
    }
    let sub_agents = args.bindings.sub_agents(&selection.playbooks, &mut flag);
    if let Some(variant) = &args.variant {
        selection.check_variant(variant, &mut flag);
    }
    let complexity = binding::complexity(&args.complexity, &mut flag);
    let temperatures = args.bindings.temperatures(&mut flag);
    let max_tokens = args.bindings.max_tokens(&mut flag);
    check_out(&args.out, &mut flag);
    let registry = models_file::read(&args.project)?;
    let pools = models_file::used(&registry, binding::named(&models, &panel, &sub_agents), &mut flag);
    let mut terms = args.terms.terms(&mut flag);
    let faults = match &args.faults {
        Some(file) => faults::read(file, &selection.playbooks)?,
        None => Ok(Vec::new()),
    };
    let faults = faults.unwrap_or_else(|own| {
        problems.extend(own);
        Vec::new()
    });
    if !problems.is_empty() {
        bail!(BadInput(problems));
    }
    let playbook = selection.names();
    if let Some(solved) = solved {
        selection.scenarios.retain(|scenario| solved.contains(&scenario.id));
        if selection.scenarios.is_empty() {
            bail!(BadInput::one("--solve-rates", "no scenario of the order has a solve rate in that band"));
        }
    }
    if selection.scenarios.is_empty() {
        bail!(BadInput::one("--playbook", format!("`{playbook}` has no scenario to play")));
    }
    let agent_style = args.agent_style.map(AgentStyle::from);
    let out = std::path::absolute(&args.out)?.display().to_string();
    let (variant, branches) = (args.variant.clone(), args.branches);
    let retries = args.retries;
    let scenarios: Vec<String> = selection.scenarios.iter().map(|scenario| scenario.id.clone()).collect();
    let services = services::of_scenarios(&library, &scenarios, &args.tools.read()?)
        .map_err(|reason| BadInput::one("--scenario", reason))?;
    let config = RunConfig {
        branch_of: None,
        forecast: None,
        idle_seconds: None,
        environment_budget: None,
        models,
        panel,
        retries,
        temperatures,
        max_tokens,
        agent_style,
        user_style: args.user_style.into(),
        variant,
        sub_agents,
        branches,
        faults,
        services,
        scenarios,
        personas: profiles.keys().cloned().collect(),
        complexity,
        samples: args.samples,
        pools,
        pipelining: !args.no_pipelining,
        criteria_apart: args.criteria_apart,
        out,
    };
    run::check(&library, &config, args.seed).map_err(|e| BadInput::one("--persona", e.to_string()))?;
    check_keys(&config)?;
    let scenarios = selection.scenarios;
    let planned = args.n as usize * args.samples.get() as usize;
    terms = Terms { playbook, seed: args.seed, planned, ..terms };
    Ok(Order { library, config, terms, scenarios, profiles })
}

pub fn samples(text: &str) -> Result<NonZeroU32, String> {
    let found = text.parse().ok().filter(|samples: &NonZeroU32| samples.get() <= MOST_SAMPLES);
    found.ok_or_else(|| format!("expected a number from 1 to {MOST_SAMPLES}"))
}

/// Keys are looked for before anything is stored.
fn check_keys(config: &RunConfig) -> Result<(), BadInput> {
    let (clients, registry) = (ModelClients::new(EndpointOptions::default()), config.registry());
    let named = binding::named(&config.models, &config.panel, &config.sub_agents);
    let missing = |(flag, spec)| Some(Problem::new(flag, 0, "", clients.get(spec, &registry).err()?.to_string()));
    let problems: Vec<Problem> = named.filter_map(missing).collect();
    if problems.is_empty() { Ok(()) } else { Err(BadInput(problems)) }
}

/// A run may take hours: whether its rows can be written is asked first.
fn check_out(out: &Path, flag: &mut impl FnMut(&str, String)) {
    let folder = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        flag("--out", format!("the folder {} does not exist", folder.display()));
    } else if out.exists() && !out.is_file() {
        flag("--out", format!("{} is not a regular file", out.display()));
    }
}
