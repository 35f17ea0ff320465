//! The verifier: a judge that is a program. It decides what can be decided and explains it item by item.

mod actions;
mod policy;
mod words;
mod world;

use domain::message::Message;
use domain::outcome::Ending;
use domain::transcript::{Call, Caller};
use domain::verdict::{Check, Rule, Verification};

use crate::case::Case;
use crate::conversation_state::State;
use crate::facts;
use crate::tools::grounding::states_date;
pub use policy::undecided;
pub use words::invented;

pub fn verify(case: &Case, state: &State) -> Verification {
    let expected = &case.scenario.expected_outcome;
    let mut items = world::check(&expected.world, &case.initial.world, &state.world);
    items.extend(actions::verify(expected, &state.transcript.calls, &case.playbook));
    for fact in &expected.told {
        let told = said_by_agent(state).any(|words| facts::states(words, fact) || states_date(words, fact));
        items.push(check(Rule::FactTold, told, &format!("`{fact}`"), "was not told to the user"));
    }
    for call in state.transcript.agent_calls().filter(|call| call.answer.malformed()) {
        items.push(check(Rule::ValidCalls, false, &call.tool, &call.content));
    }
    items.extend(words::check(case, state));
    items.extend(policy::verify(case, state));
    let (ended, otherwise) = match state.transcript.ending() {
        Some(Ending::UserEnded | Ending::Terminal { .. }) => (true, ""),
        // Who leaves when all is done loses nothing.
        Some(Ending::AgentEnded) => {
            (items.iter().all(|item| item.passed), "was ended by the agent before all was done")
        }
        Some(Ending::WalkedOut) => (items.iter().all(|item| item.passed), "was left by a user who had lost patience"),
        Some(Ending::TurnLimit | Ending::StepLimit) | None => (false, "did not come to an end of its own"),
    };
    items.push(check(Rule::Ending, ended, "the conversation", otherwise));
    let done = items.iter().all(|item| item.passed);
    let faults = state.transcript.calls.iter().enumerate().filter_map(|(i, call)| Some((i, call, call.fault?)));
    let faults = faults.filter(|(_, call, fault)| fault.is_visible() && call.caller != Caller::User);
    let recoveries = faults.map(|(i, call, fault)| {
        let again = |later: &Call| later.tool == call.tool && later.answer.succeeded() && later.fault.is_none();
        let recovered = done || state.transcript.calls[i + 1..].iter().any(again);
        let what = format!("`{}` met a fault ({fault})", call.tool);
        check(Rule::Recovery, recovered, &what, "and was not called again with success")
    });
    let recoveries: Vec<Check> = recoveries.collect();
    items.extend(recoveries);
    Verification { items }
}

fn check(rule: Rule, passed: bool, what: &str, otherwise: &str) -> Check {
    Check { rule, passed, detail: if passed { what.to_owned() } else { format!("{what} {otherwise}") } }
}

fn said_by_agent(state: &State) -> impl Iterator<Item = &str> {
    state.agent().messages.iter().filter_map(|message| match message {
        Message::Assistant { content, .. } => Some(content.as_str()),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
