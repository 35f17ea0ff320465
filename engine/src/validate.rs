//! Is a scenario sound? References, facts that the backend contradicts, and the proof that it can be solved.

mod leaks;

use std::sync::Arc;

use domain::expectation::ActionPattern;
use domain::finding::{Finding, Rule};
use domain::outcome::{Ending, Outcome};
use domain::patch::join;
use domain::persona::{Complexity, Persona, Speech};
use domain::playbook::AgentStyle;
use domain::problem::did_you_mean;
use domain::scenario::{Scenario, ScriptStep};
use domain::verdict::Verification;
use serde_json::Value;

use crate::case::{Case, Seed};
use crate::conversation::{Conversation, Next, State};
use crate::facts;
use crate::faults;
use crate::judge::Judge;
use crate::playbook::Playbook;
use crate::scripted;
use crate::tools::grounding::Sources;
use crate::verifier;
use crate::world::InitialWorld;

/// All that is wrong with a scenario. Empty: it is sound and proved solvable.
pub fn scenario(playbook: &Arc<Playbook>, judge: &Arc<Judge>, scenario: &Arc<Scenario>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !playbook.spec.intents.contains(&scenario.intent) {
        let hint = did_you_mean(&scenario.intent, playbook.spec.intents.iter().map(String::as_str));
        let message = format!("`{}` is no intent of the playbook{hint}", scenario.intent);
        findings.push(Finding::new(Rule::UnknownIntent, "/intent", message));
    }
    let initial = Arc::new(InitialWorld::from(playbook.initial_world(&scenario.system_facts)));
    if let Err(fault) = playbook.check_world(&initial.world) {
        let message = format!("the initial world is invalid: {fault}");
        findings.push(Finding::new(Rule::InvalidWorld, "/system_facts", message));
    }
    let mut sources = Sources::default();
    sources.add(&initial.world.to_json());
    let contradictions = contradictions(scenario, &sources);
    // A fact that is wrong in `user_facts` and right in the script is one mistake, not two.
    if contradictions.is_empty() {
        findings.extend(leaks::leaks(scenario, &sources));
    }
    findings.extend(contradictions);
    findings.extend(unknown_tools(playbook, scenario));
    findings.extend(script_shape(scenario, playbook));
    let tools: Vec<&str> = playbook.spec.tools.iter().map(|tool| tool.name.as_str()).collect();
    let faults = faults::problems(&scenario.faults, &tools);
    findings
        .extend(faults.into_iter().map(|(i, problem)| Finding::new(Rule::FaultRule, format!("/faults/{i}"), problem)));
    if findings.is_empty() {
        findings.extend(proof(playbook, judge, scenario, &initial));
    }
    findings
}

/// Facts that the user is said to know and the backend does not have.
fn contradictions(scenario: &Scenario, sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, value) in &scenario.user_facts {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        for fact in facts::tokens(&text).filter(|fact| !sources.knows(fact)) {
            let message = format!(
                "the user is said to know `{fact}`, which stands nowhere in the system facts; \
                 a choice of the user belongs in user_request, a false belief in user_mistakes"
            );
            findings.push(Finding::new(Rule::ContradictedFact, join("/user_facts", name), message));
        }
    }
    findings
}

fn unknown_tools(playbook: &Playbook, scenario: &Scenario) -> Vec<Finding> {
    let expected = &scenario.expected_outcome;
    let patterns = |at: &'static str, patterns: &[ActionPattern]| {
        patterns
            .iter()
            .enumerate()
            .map(move |(i, p)| (format!("/expected_outcome/{at}/{i}"), p.tool.clone(), p.args.clone()))
            .collect::<Vec<_>>()
    };
    let calls = scenario.script.iter().enumerate().flat_map(|(i, step)| {
        [("calls", &step.calls), ("user_calls", &step.user_calls)].into_iter().flat_map(move |(list, calls)| {
            let calls = calls.iter().enumerate();
            calls.map(move |(j, c)| (format!("/script/{i}/{list}/{j}"), c.tool.clone(), c.args.clone()))
        })
    });
    let all = calls.chain(patterns("actions", &expected.actions)).chain(patterns("forbidden", &expected.forbidden));
    let mut findings = Vec::new();
    for (at, name, args) in all {
        let Some(tool) = playbook.tool(&name) else {
            let hint = did_you_mean(&name, playbook.spec.all_tools().map(|t| t.name.as_str()));
            let message = format!("the playbook has no tool `{name}`{hint}");
            findings.push(Finding::new(Rule::UnknownTool, format!("{at}/tool"), message));
            continue;
        };
        let known = tool.spec.parameters.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        for arg in args.keys().filter(|arg| !known.contains_key(*arg)) {
            let hint = did_you_mean(arg, known.keys().map(String::as_str));
            let message = format!("`{name}` has no argument `{arg}`{hint}");
            findings.push(Finding::new(Rule::UnknownArgument, format!("{at}/args/{arg}"), message));
        }
    }
    findings
}

fn script_shape(scenario: &Scenario, playbook: &Playbook) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, step) in scenario.script.iter().enumerate() {
        let kinds = [step.user.is_some(), !step.user_calls.is_empty(), step.agent.is_some(), !step.calls.is_empty()];
        if kinds.into_iter().filter(|there| *there).count() != 1 {
            let message = "a step is exactly one of `user`, `user_calls`, `agent` and `calls`";
            findings.push(Finding::new(Rule::ScriptShape, format!("/script/{i}"), message));
        }
        let next = scenario.script.get(i + 1);
        if kinds[1] && next.is_none_or(|next| next.user.is_none() && next.user_calls.is_empty()) {
            let message = "after its calls the user says something: a step with `user` is to follow";
            findings.push(Finding::new(Rule::ScriptShape, format!("/script/{i}"), message));
        }
        findings.extend(misplaced(step, i, playbook));
    }
    if scenario.script.first().is_none_or(|s| s.user.is_none() && s.user_calls.is_empty()) {
        findings.push(Finding::new(Rule::ScriptShape, "/script", "starts with what the user says"));
    }
    let ends = scenario.script.last().is_some_and(|step| {
        let terminal =
            |name: &str| playbook.tool(name).is_some_and(|t| t.simulate() == domain::playbook::Simulate::Terminal);
        step.agent.is_some() || step.calls.iter().any(|c| terminal(&c.tool))
    });
    if !ends {
        let message = "ends with what the agent says or with a terminal tool";
        findings.push(Finding::new(Rule::ScriptShape, "/script", message));
    }
    findings
}

/// Calls in the hands of somebody who cannot make them.
fn misplaced(step: &ScriptStep, i: usize, playbook: &Playbook) -> Vec<Finding> {
    let spec = &playbook.spec;
    let users = |name: &str| spec.user_tools.iter().any(|tool| tool.name == name);
    let mut findings = Vec::new();
    for (j, call) in step.user_calls.iter().enumerate().filter(|(_, call)| !users(&call.tool)) {
        let message = format!("`{}` is no tool of the user", call.tool);
        findings.push(Finding::new(Rule::MisplacedCall, format!("/script/{i}/user_calls/{j}/tool"), message));
    }
    let variants = spec.variants.iter().map(|variant| Some(variant.name.as_str()));
    for (j, call) in step.calls.iter().enumerate().filter(|(_, call)| playbook.tool(&call.tool).is_some()) {
        let at = format!("/script/{i}/calls/{j}/tool");
        if playbook.sub_agent(&call.tool).is_some() {
            let message = format!("`{}` is a sub-agent: name the calls that it is to make", call.tool);
            findings.push(Finding::new(Rule::MisplacedCall, at, message));
            continue;
        }
        let mut all = [None].into_iter().chain(variants.clone());
        if let Some(variant) = all.find(|variant| playbook.route(playbook.agent(*variant), &call.tool).is_none()) {
            let agent = variant.map_or("the agent".to_owned(), |name| format!("the variant `{name}`"));
            let message = format!("{agent} can call `{}` neither itself nor by a sub-agent", call.tool);
            findings.push(Finding::new(Rule::MisplacedCall, at, message));
        }
    }
    findings
}

/// How a script is played to prove it.
const WAYS: [(Complexity, AgentStyle); 5] = [
    (Complexity::Medium, AgentStyle::FunctionCalling),
    (Complexity::Vague, AgentStyle::FunctionCalling),
    (Complexity::Medium, AgentStyle::React),
    (Complexity::Simple, AgentStyle::FunctionCalling),
    (Complexity::Complex, AgentStyle::FunctionCalling),
];

/// The solvability proof: the reference actions reach the expected outcome, for every way the user may open and for
/// both kinds of agent, and doing nothing does not.
fn proof(
    playbook: &Arc<Playbook>,
    judge: &Arc<Judge>,
    scenario: &Arc<Scenario>,
    initial: &Arc<InitialWorld>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let variants = playbook.spec.variants.iter().map(|variant| Some(variant.name.clone()));
    let plain = case(playbook, judge, scenario, initial);
    for variant in [None].into_iter().chain(variants) {
        // What a user leaves unsaid does not depend on who listens, so one agent hears every way of saying it.
        let ways = if variant.is_none() { &WAYS[..] } else { &WAYS[..3] };
        for &(complexity, agent_style) in ways {
            let case = Case { complexity, agent_style, variant: variant.clone(), ..plain.clone() };
            let (conversation, outcome) = play(Conversation::new(Arc::new(case)));
            let verified = conversation.state().verification.iter();
            if let Some(broken) = verified.flat_map(verifier::undecided).next() {
                let message = format!("the policy rule {broken}");
                findings.push(Finding::new(Rule::UnreachableOutcome, "/expected_outcome", message));
                return findings;
            }
            if let Outcome::Failed { blame, reason } = &outcome {
                let why = why_not(conversation.state(), &format!("{blame}: {reason}"));
                let who = variant.map(|name| format!(" with the variant `{name}`")).unwrap_or_default();
                let how =
                    if complexity == Complexity::Medium { String::new() } else { format!(" for a {complexity} user") };
                let message = format!("the script does not reach it{who}{how}: {why}");
                findings.push(Finding::new(Rule::UnreachableOutcome, "/expected_outcome", message));
                return findings;
            }
        }
    }
    let idle = plain;
    let state = State { ending: Some(Ending::UserEnded), ..State::new(initial) };
    if verifier::verify(&idle, &state).passed() {
        let message = "doing nothing already satisfies it; name what must be done or told";
        findings.push(Finding::new(Rule::TrivialOutcome, "/expected_outcome", message));
    }
    findings
}

/// What the verifier found, or else the outcome; and the calls that were refused, which often are the cause.
fn why_not(state: &State, outcome: &str) -> String {
    let found = state.verification.iter().flat_map(Verification::failures).map(|check| check.detail.clone());
    let mut why: Vec<String> = found.collect();
    if why.is_empty() {
        why.push(outcome.to_owned());
    }
    let refused = state.calls.iter().filter(|call| !call.answer.succeeded());
    why.extend(refused.map(|call| {
        let said = call.note.as_ref().unwrap_or(&call.content);
        format!("`{}` answered `{said}`", call.tool)
    }));
    why.join("; ")
}

fn case(playbook: &Arc<Playbook>, judge: &Arc<Judge>, scenario: &Arc<Scenario>, initial: &Arc<InitialWorld>) -> Case {
    let nobody = Persona { profile: String::new(), demographics: [].into(), traits: [].into(), emotions: [].into() };
    Case {
        playbook: Arc::clone(playbook),
        scenario: Arc::clone(scenario),
        judge: Arc::clone(judge),
        initial: Arc::clone(initial),
        persona: nobody,
        guidance: Vec::new(),
        complexity: Complexity::Medium,
        speech: Speech::default(),
        agent_style: AgentStyle::FunctionCalling,
        variant: None,
        judges: 1,
        attempt: 1,
        faults: scenario.faults.clone(),
        seed: Seed::new(0, &scenario.id, 0),
    }
}

/// Plays a conversation to its end with every role scripted.
pub fn play(mut conversation: Conversation) -> (Conversation, Outcome) {
    loop {
        match conversation.next() {
            Next::Done(outcome) => return (conversation, outcome),
            Next::Act => {
                conversation.act();
            }
            Next::Ask(ask) => {
                match scripted::reply(&ask, &conversation) {
                    Ok(reply) => conversation.hear(reply),
                    Err(reason) => conversation.lose(&reason),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests;
