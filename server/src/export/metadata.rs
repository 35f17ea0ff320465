//! What a row says about where it comes from. Every key is always there, with one type, so that columns are stable.

use std::collections::{BTreeMap, BTreeSet};

use domain::calibration::OVERALL;
use domain::event::{Event, EventKind, Usage};
use domain::outcome::Outcome;
use domain::role::Role;
use domain::verdict::{Check, Verdict};
use engine::conversation::{Caller, Frame};
use engine::scripted;
use serde::Serialize;

use super::row::Source;

#[derive(Serialize)]
pub struct Metadata {
    id: String,
    run_id: String,
    created_at: String,
    generator: &'static str,
    playbook: Versioned,
    scenario: Scenario,
    persona: Persona,
    complexity: &'static str,
    seed: Seed,
    /// From 1; more if somebody else than the agent spoiled the ones before.
    attempt: i32,
    models: BTreeMap<String, String>,
    temperatures: BTreeMap<String, f64>,
    /// Roles that were played from the script: what they say is no model output.
    scripted_roles: Vec<String>,
    agent_style: &'static str,
    /// Empty: the playbook's own agent.
    variant: String,
    branch: Branch,
    world: Worlds,
    ending: &'static str,
    user_turns: u32,
    tool_calls: usize,
    accepted: bool,
    /// Whose failure it is, and why; empty if it was accepted.
    blame: &'static str,
    reason: String,
    judge: Judge,
    /// By criterion; null where the judge of this playbook has not the criterion.
    scores: BTreeMap<String, Option<u8>>,
    rationales: BTreeMap<String, Option<String>>,
    /// As people would have given them, with `overall`. Empty unless asked for; null where nobody compared the judge.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    corrected_scores: BTreeMap<String, Option<f64>>,
    overall: u8,
    overall_rationale: String,
    weighted_mean: f64,
    goal_achieved: bool,
    verifier: Verifier,
    usage: BTreeMap<String, Usage>,
}

#[derive(Serialize)]
struct Versioned {
    name: String,
    version: String,
}

#[derive(Serialize)]
struct Scenario {
    id: String,
    version: String,
    family: String,
    intent: String,
    tags: Vec<String>,
}

#[derive(Serialize)]
struct Persona {
    profile: String,
    demographics: BTreeMap<String, String>,
    traits: BTreeMap<String, f64>,
    emotions: BTreeMap<String, f64>,
}

#[derive(Serialize)]
struct Seed {
    run: i64,
    repeat: i32,
}

/// Whose messages these are. On the trunk, the agent's under test: empty texts and 0.
#[derive(Serialize)]
struct Branch {
    sub_agent: String,
    call_id: String,
    depth: usize,
}

#[derive(Serialize)]
struct Worlds {
    initial: String,
    #[serde(rename = "final")]
    end: String,
    version: u32,
}

#[derive(Serialize)]
struct Judge {
    name: String,
    /// Of its criteria and its prompt.
    version: String,
    /// More than one are a panel.
    models: Vec<String>,
    /// Of a panel, from 0 to 1; else 1.
    agreement: f64,
}

#[derive(Serialize)]
struct Verifier {
    passed: bool,
    items: Vec<Check>,
}

pub fn metadata(source: &Source<'_>, frame: &Frame) -> Metadata {
    let case = source.conversation.case();
    let state = source.conversation.state();
    let verdict = source.judged.and_then(|judged| judged.verdict.as_ref());
    let common = source.common;
    let failure = match source.outcome {
        Outcome::Accepted => None,
        Outcome::Failed { blame, reason } => Some((*blame, reason)),
    };
    // Who judges again verifies again.
    let again = source.judged.and_then(|judged| judged.verification.as_ref());
    let verification = again.or(state.verification.as_ref());
    let files = &common.library.files;
    let roles = |f: &dyn Fn(Role) -> f64| Role::ALL.into_iter().map(|r| (r.to_string(), f(r))).collect();
    let branch = branch(frame);
    let models = models(source, &branch);
    Metadata {
        id: match branch.call_id.as_str() {
            "" => source.planned.id.to_string(),
            call => format!("{}/{call}", source.planned.id),
        },
        run_id: common.run.id.to_string(),
        created_at: common.run.created_at.to_rfc3339(),
        generator: concat!("groundstate ", env!("CARGO_PKG_VERSION")),
        playbook: Versioned {
            name: case.playbook.spec.name.clone(),
            version: files.version(&format!("playbooks/{}", case.playbook.spec.name)),
        },
        scenario: Scenario {
            id: case.scenario.id.clone(),
            version: common.library.scenario_version(&case.scenario),
            family: case.scenario.family().to_owned(),
            intent: case.scenario.intent.clone(),
            tags: case.scenario.tags.clone(),
        },
        persona: Persona {
            profile: case.persona.profile.clone(),
            demographics: case.persona.demographics.clone(),
            traits: case.persona.traits.clone(),
            emotions: case.persona.emotions.clone(),
        },
        complexity: case.complexity.as_str(),
        seed: Seed { run: common.run.seed, repeat: source.planned.repeat },
        attempt: source.planned.attempt,
        temperatures: roles(&|role| (f64::from(common.config.temperature(role)) * 1000.0).round() / 1000.0),
        scripted_roles: models
            .iter()
            .filter(|(_, model)| *model == scripted::NAME)
            .map(|(role, _)| role.clone())
            .collect(),
        models,
        agent_style: match case.agent_style {
            domain::playbook::AgentStyle::FunctionCalling => "function_calling",
            domain::playbook::AgentStyle::React => "react",
        },
        variant: case.variant.clone().unwrap_or_default(),
        branch,
        world: Worlds { initial: state.initial_hash.clone(), end: state.world_hash(), version: state.world.version() },
        ending: state.ending.as_ref().map_or("unfinished", domain::outcome::Ending::as_str),
        user_turns: state.user_turns,
        tool_calls: state.calls.iter().filter(|call| call.caller != Caller::User).count(),
        accepted: *source.outcome == Outcome::Accepted,
        blame: failure.map_or("", |(blame, _)| blame.as_str()),
        reason: failure.map(|(_, reason)| reason.clone()).unwrap_or_default(),
        judge: Judge {
            name: source.judged.map_or_else(|| case.judge.spec.name.clone(), |judged| judged.judge.clone()),
            version: source
                .judged
                .map_or_else(|| case.judge.version().to_owned(), |judged| judged.judge_version.clone()),
            models: common.judges.clone(),
            agreement: verdict.and_then(Verdict::agreement).unwrap_or(1.0),
        },
        scores: by_criterion(&common.criteria, |name| verdict?.score(name)),
        rationales: by_criterion(&common.criteria, |name| {
            verdict?.scores.iter().find(|score| score.criterion == name).map(|score| score.rationale.clone())
        }),
        corrected_scores: corrected(source, verdict),
        overall: verdict.map_or(0, |v| v.overall),
        overall_rationale: verdict.map(|v| v.rationale.clone()).unwrap_or_default(),
        weighted_mean: verdict.map_or(0.0, |v| v.weighted_mean),
        goal_achieved: verdict.is_some_and(|v| v.goal_achieved),
        verifier: Verifier {
            passed: verification.is_some_and(domain::verdict::Verification::passed),
            items: verification.map(|v| v.items.clone()).unwrap_or_default(),
        },
        usage: usage(source.events),
    }
}

fn branch(frame: &Frame) -> Branch {
    let (sub_agent, call_id) = match &frame.caller {
        Caller::SubAgent { name, call_id } => (name.clone(), call_id.clone()),
        Caller::Agent | Caller::User => (String::new(), String::new()),
    };
    Branch { sub_agent, call_id, depth: frame.path.len() }
}

/// Beside the raw scores, never in their place.
fn corrected(source: &Source<'_>, verdict: Option<&Verdict>) -> BTreeMap<String, Option<f64>> {
    let common = source.common;
    if common.corrections.is_empty() {
        return BTreeMap::new();
    }
    let correction = source.judged.and_then(|judged| common.corrections.get(&judged.judge_version));
    let both = correction.zip(verdict);
    let scores = both.map(|(correction, verdict)| correction.apply(&verdict.scores)).unwrap_or_default();
    let overall = both.and_then(|(correction, verdict)| correction.overall(verdict));
    let of = |name: &str| {
        let own = scores.iter().chain(&overall).find(|corrected| corrected.criterion == name);
        own.map(|corrected| corrected.corrected)
    };
    let mut all = by_criterion(&common.criteria, of);
    all.insert(OVERALL.to_owned(), of(OVERALL));
    all
}

fn by_criterion<T>(criteria: &BTreeSet<String>, of: impl Fn(&str) -> Option<T>) -> BTreeMap<String, Option<T>> {
    criteria.iter().map(|name| (name.clone(), of(name))).collect()
}

/// Role -> model. In a branch the agent is the sub-agent.
fn models(source: &Source<'_>, branch: &Branch) -> BTreeMap<String, String> {
    let config = source.common.config;
    let mut models = config.model_names();
    // The judging that counts may have other judges than the run.
    models.retain(|role, _| role.split('.').next() != Some(Role::Judge.as_str()));
    for (i, judge) in source.common.judges.iter().enumerate() {
        let role = if i == 0 { Role::Judge.to_string() } else { format!("{}.{}", Role::Judge, i + 1) };
        models.insert(role, judge.clone());
    }
    if let Some(own) = config.sub_agents.get(&branch.sub_agent) {
        models.insert(Role::Agent.to_string(), own.to_string());
    }
    models
}

/// Tokens by role, refused attempts included: they were paid for.
fn usage(events: &[Event]) -> BTreeMap<String, Usage> {
    let mut sums: BTreeMap<String, Usage> = Role::ALL.into_iter().map(|r| (r.to_string(), Usage::default())).collect();
    for event in events {
        let (role, usage) = match &event.kind {
            EventKind::UserSpoke { usage, .. } | EventKind::UserActed { usage, .. } => (Role::SimulatedUser, usage),
            EventKind::AgentSpoke { usage, .. } => (Role::Agent, usage),
            EventKind::ToolSimulated { usage, .. } => (Role::ToolSimulator, usage),
            EventKind::Judged { usage, .. } => (Role::Judge, usage),
            EventKind::Refused { role, usage, .. } => (*role, usage),
            EventKind::ToolAnswered { usage, patch, .. } => {
                (if patch.is_empty() { Role::ToolSimulator } else { Role::StateManager }, usage)
            }
            _ => continue,
        };
        let sum = sums.entry(role.to_string()).or_default();
        sum.prompt_tokens += usage.prompt_tokens;
        sum.completion_tokens += usage.completion_tokens;
    }
    sums
}
