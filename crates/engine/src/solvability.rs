//! Is a scenario sound? What its documents say of it (`domain::validate`), its initial world, the routes of its agents,
//! and the proof that it can be solved.

use std::sync::Arc;

use domain::event::Answer;
use domain::finding::{Finding, Rule};
use domain::outcome::{Ending, Outcome};
use domain::persona::Complexity;
use domain::playbook::AgentStyle;
use domain::scenario::Scenario;
use domain::task::rehearse;
use domain::transcript::EndEvent;
use domain::verdict::Verification;

use crate::case::{Case, InitialWorld};
use crate::conversation::Conversation;
use crate::conversation_state::State;
use crate::judge::Judge;
use crate::playbook::Playbook;
use crate::rehearsal::ended;
use crate::tools::grounding::Sources;
use crate::verifier;

/// All that is wrong with a scenario. Empty: it is sound and proved solvable.
pub fn scenario(playbook: &Arc<Playbook>, judge: &Arc<Judge>, scenario: &Arc<Scenario>) -> Vec<Finding> {
    let mut findings = domain::validate::scenario(&playbook.spec, scenario);
    let initial = Arc::new(InitialWorld::from(playbook.initial_world(&scenario.system_facts)));
    if let Err(fault) = playbook.check_world(&initial.world, &playbook.now_in(scenario)) {
        let message = format!("the initial world is invalid: {fault}");
        findings.push(Finding::new(Rule::InvalidWorld, "/system_facts", message));
    }
    let mut sources = Sources::default();
    sources.add(&initial.world.to_json());
    findings.extend(domain::validate::facts::scenario(scenario, |fact| sources.knows(fact)));
    findings.extend(misplaced(playbook, scenario));
    if findings.is_empty() {
        findings.extend(proof(playbook, judge, scenario, &initial));
    }
    findings
}

/// Calls of the script that no agent can make, neither itself nor by a sub-agent.
fn misplaced(playbook: &Playbook, scenario: &Scenario) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, step) in scenario.script.iter().enumerate() {
        for (j, call) in step.calls.iter().enumerate().filter(|(_, call)| playbook.tool(&call.tool).is_some()) {
            let message = out_of_reach(playbook, &call.tool);
            let at = format!("/script/{i}/calls/{j}/tool");
            findings.extend(message.map(|message| Finding::new(Rule::MisplacedCall, at, message)));
        }
    }
    findings
}

fn out_of_reach(playbook: &Playbook, tool: &str) -> Option<String> {
    if playbook.sub_agent(tool).is_some() {
        return Some(format!("`{tool}` is a sub-agent: name the calls that it is to make"));
    }
    let variants = playbook.spec.variants.iter().map(|variant| Some(variant.name.as_str()));
    let mut all = [None].into_iter().chain(variants);
    let variant = all.find(|variant| playbook.route(playbook.agent(*variant), tool).is_none())?;
    let agent = variant.map_or("the agent".to_owned(), |name| format!("the variant `{name}`"));
    Some(format!("{agent} can call `{tool}` neither itself nor by a sub-agent"))
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
    let plain = Case::of(Arc::clone(playbook), Arc::clone(judge), Arc::clone(scenario), Arc::clone(initial));
    for variant in [None].into_iter().chain(variants) {
        // What a user leaves unsaid does not depend on who listens, so one agent hears every way of saying it.
        let ways = if variant.is_none() { &WAYS[..] } else { &WAYS[..3] };
        for &(complexity, agent_style) in ways {
            let case = Case { complexity, agent_style, variant: variant.clone(), ..plain.clone() };
            let (conversation, outcome) = play(Conversation::new(Arc::new(case)));
            let verified = conversation.state().transcript.verification.iter();
            if let Some(broken) = verified.flat_map(verifier::undecided).next() {
                let message = format!("the policy rule {broken}");
                findings.push(Finding::new(Rule::UnreachableOutcome, "/expected_outcome", message));
                return findings;
            }
            if variant.is_none() && complexity == Complexity::Medium {
                findings.extend(rules_of_failed_calls(&conversation));
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
    let mut state = State::new(initial);
    state.transcript.end = Some(EndEvent { seq: 0, ending: Ending::UserEnded });
    if verifier::verify(&idle, &state).passed() {
        let message = "doing nothing already satisfies it; name what must be done or told";
        findings.push(Finding::new(Rule::TrivialOutcome, "/expected_outcome", message));
    }
    findings
}

/// Whether the rules of the policy can also be looked at if no call succeeds: then an answer is a text, and no record.
fn rules_of_failed_calls(conversation: &Conversation) -> Option<Finding> {
    let mut state = conversation.state().clone();
    for call in &mut state.transcript.calls {
        (call.answer, call.content) = (Answer::Failed, "Error: not possible".to_owned());
    }
    let verification = verifier::verify(conversation.case(), &state);
    let broken = verifier::undecided(&verification).next()?;
    let message = format!("if calls fail, the policy rule {broken}; let it look at `ok` before `answer`");
    Some(Finding::new(Rule::DoubtfulPlaybook, "/script", message))
}

/// What the verifier found, or else the outcome; and the calls that were refused, which often are the cause.
fn why_not(state: &State, outcome: &str) -> String {
    let found = state.transcript.verification.iter().flat_map(Verification::failures).map(|check| check.detail.clone());
    let mut why: Vec<String> = found.collect();
    if why.is_empty() {
        why.push(outcome.to_owned());
    }
    let refused = state.transcript.calls.iter().filter(|call| !call.answer.succeeded());
    why.extend(refused.map(|call| {
        let said = call.note.as_ref().unwrap_or(&call.content);
        format!("`{}` answered `{said}`", call.tool)
    }));
    why.join("; ")
}

/// Plays a conversation to its end with every role scripted.
pub fn play(mut conversation: Conversation) -> (Conversation, Outcome) {
    rehearse(&mut conversation, |_, _| {});
    let outcome = ended(&conversation);
    (conversation, outcome)
}

#[cfg(test)]
mod tests;
