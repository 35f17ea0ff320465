//! Is a scenario sound? References, facts that the backend contradicts, and the proof that it can be solved.

use std::sync::Arc;

use domain::expectation::ActionPattern;
use domain::outcome::{Ending, Outcome};
use domain::patch::join;
use domain::persona::{Complexity, Persona};
use domain::playbook::AgentStyle;
use domain::problem::did_you_mean;
use domain::scenario::Scenario;
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

/// What is wrong, with the pointer of the field in the scenario.
pub type Finding = (String, String);

/// All that is wrong with a scenario. Empty: it is sound and proved solvable.
pub fn scenario(playbook: &Arc<Playbook>, judge: &Arc<Judge>, scenario: &Arc<Scenario>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !playbook.spec.intents.contains(&scenario.intent) {
        let hint = did_you_mean(&scenario.intent, playbook.spec.intents.iter().map(String::as_str));
        findings.push(("/intent".into(), format!("`{}` is no intent of the playbook{hint}", scenario.intent)));
    }
    let initial = Arc::new(InitialWorld::from(playbook.initial_world(&scenario.system_facts)));
    if let Err(fault) = playbook.check_world(&initial.world) {
        findings.push(("/system_facts".into(), format!("the initial world is invalid: {fault}")));
    }
    findings.extend(contradictions(scenario, &initial.world.to_json()));
    findings.extend(unknown_tools(playbook, scenario));
    findings.extend(script_shape(scenario, playbook));
    let tools: Vec<&str> = playbook.spec.tools.iter().map(|tool| tool.name.as_str()).collect();
    let faults = faults::problems(&scenario.faults, &tools);
    findings.extend(faults.into_iter().map(|(i, problem)| (format!("/faults/{i}"), problem)));
    if findings.is_empty() {
        findings.extend(proof(playbook, judge, scenario, &initial));
    }
    findings
}

/// Facts that the user is said to know and the backend does not have.
fn contradictions(scenario: &Scenario, world: &Value) -> Vec<Finding> {
    let mut sources = Sources::default();
    sources.add(world);
    let mut findings = Vec::new();
    for (name, value) in &scenario.user_facts {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        for fact in facts::tokens(&text).filter(|fact| !sources.knows(fact)) {
            let message = format!(
                "the user is said to know `{fact}`, which stands nowhere in the system facts; \
                 a choice of the user belongs in user_request, a false belief in user_mistakes"
            );
            findings.push((join("/user_facts", name), message));
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
        step.calls
            .iter()
            .enumerate()
            .map(move |(j, c)| (format!("/script/{i}/calls/{j}"), c.tool.clone(), c.args.clone()))
    });
    let all = calls.chain(patterns("actions", &expected.actions)).chain(patterns("forbidden", &expected.forbidden));
    let mut findings = Vec::new();
    for (at, name, args) in all {
        let Some(tool) = playbook.tool(&name) else {
            let hint = did_you_mean(&name, playbook.spec.tools.iter().map(|t| t.name.as_str()));
            findings.push((format!("{at}/tool"), format!("the playbook has no tool `{name}`{hint}")));
            continue;
        };
        let known = tool.spec.parameters.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        for arg in args.keys().filter(|arg| !known.contains_key(*arg)) {
            let hint = did_you_mean(arg, known.keys().map(String::as_str));
            findings.push((format!("{at}/args/{arg}"), format!("`{name}` has no argument `{arg}`{hint}")));
        }
    }
    findings
}

fn script_shape(scenario: &Scenario, playbook: &Playbook) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, step) in scenario.script.iter().enumerate() {
        let kinds = u8::from(step.user.is_some()) + u8::from(step.agent.is_some()) + u8::from(!step.calls.is_empty());
        if kinds != 1 {
            findings.push((format!("/script/{i}"), "a step is exactly one of `user`, `agent` and `calls`".to_owned()));
        }
    }
    if scenario.script.first().is_none_or(|s| s.user.is_none()) {
        findings.push(("/script".into(), "starts with what the user says".into()));
    }
    let ends = scenario.script.last().is_some_and(|step| {
        let terminal =
            |name: &str| playbook.tool(name).is_some_and(|t| t.simulate() == domain::playbook::Simulate::Terminal);
        step.agent.is_some() || step.calls.iter().any(|c| terminal(&c.tool))
    });
    if !ends {
        findings.push(("/script".into(), "ends with what the agent says or with a terminal tool".into()));
    }
    findings
}

/// The solvability proof: the reference actions reach the expected outcome, for every way the user may open and for
/// both kinds of agent, and doing nothing does not.
fn proof(
    playbook: &Arc<Playbook>,
    judge: &Arc<Judge>,
    scenario: &Arc<Scenario>,
    initial: &Arc<InitialWorld>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (complexity, style) in [
        (Complexity::Medium, AgentStyle::FunctionCalling),
        (Complexity::Vague, AgentStyle::FunctionCalling),
        (Complexity::Medium, AgentStyle::React),
    ] {
        let case = Arc::new(case(playbook, judge, scenario, initial, complexity, style));
        let (conversation, outcome) = play(Conversation::new(Arc::clone(&case)));
        if let Outcome::Failed { blame, reason } = &outcome {
            let why = why_not(conversation.state(), &format!("{blame}: {reason}"));
            findings.push(("/expected_outcome".to_owned(), format!("the script does not reach it: {why}")));
            return findings;
        }
    }
    let idle = case(playbook, judge, scenario, initial, Complexity::Medium, AgentStyle::FunctionCalling);
    let state = State { ending: Some(Ending::UserEnded), ..State::new(initial) };
    if verifier::verify(&idle, &state).passed() {
        findings.push((
            "/expected_outcome".into(),
            "doing nothing already satisfies it; name what must be done or told".into(),
        ));
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

fn case(
    playbook: &Arc<Playbook>,
    judge: &Arc<Judge>,
    scenario: &Arc<Scenario>,
    initial: &Arc<InitialWorld>,
    complexity: Complexity,
    agent_style: AgentStyle,
) -> Case {
    let nobody = Persona { profile: String::new(), demographics: [].into(), traits: [].into(), emotions: [].into() };
    Case {
        playbook: Arc::clone(playbook),
        scenario: Arc::clone(scenario),
        judge: Arc::clone(judge),
        initial: Arc::clone(initial),
        persona: nobody,
        guidance: Vec::new(),
        complexity,
        complexity_guidance: String::new(),
        agent_style,
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
