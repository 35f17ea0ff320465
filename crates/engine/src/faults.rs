//! Which call meets which fault, and what the agent then reads. Decided outside any model, from the seed alone.

use domain::fault::{FaultKind, FaultRule};
use domain::playbook::{Simulate, Tool};
use domain::transcript::Caller;
use rand::RngExt;

use crate::case::Case;
use crate::conversation_state::State;

/// The fault that is planned for the next call, of this tool. Users meet none: what fails is between agents and backend.
pub fn planned(case: &Case, state: &State, tool: &Tool) -> Option<FaultKind> {
    if state.acting().caller == Caller::User {
        return None;
    }
    // Calls that sub-agents are at work on are older than this one.
    let delegated = || state.transcript.agents.iter().filter_map(|frame| frame.caller.sub_agent());
    let meets = |(i, rule): (usize, &FaultRule)| {
        let concerned = |name: &str| rule.tools.is_empty() || rule.tools.iter().any(|t| t == name);
        let never_stale = !tool.writes.is_empty() || tool.simulate == Simulate::Service;
        if !concerned(&tool.name) || (rule.kind == FaultKind::StaleRead && never_stale) {
            return None;
        }
        let valid = state.transcript.agent_calls().filter(|call| !call.answer.malformed());
        let answered = valid.map(|call| call.tool.as_str());
        let before = answered.chain(delegated()).filter(|name| concerned(name)).count();
        let hit = if rule.calls.is_empty() {
            let call = state.transcript.calls.len() + delegated().count();
            let mut rng = case.seed.rng(&format!("fault {i} of call {call}"));
            rng.random::<f64>() < rule.probability.unwrap_or_default()
        } else {
            rule.calls.iter().any(|position| *position as usize == before + 1)
        };
        hit.then_some(rule.kind)
    };
    case.faults.iter().enumerate().find_map(meets)
}

/// What the agent reads of a call that was not done.
pub const fn refusal(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Timeout => "Error: the request timed out",
        FaultKind::RateLimit => "Error: 429 Too Many Requests, try again later",
        FaultKind::ServerError => "Error: 500 Internal Server Error",
        FaultKind::Outage => "Error: 503 Service Unavailable",
        FaultKind::MalformedJson | FaultKind::TruncatedBody | FaultKind::StaleRead => "Error",
    }
}

/// What arrives of an answer.
pub fn garbled(kind: FaultKind, content: &str) -> String {
    match kind {
        FaultKind::MalformedJson => content.replace(':', "=").replace(['{', '['], "<").replace(['}', ']'], ""),
        FaultKind::TruncatedBody => content.chars().take(content.chars().count() / 2).collect(),
        _ => content.to_owned(),
    }
}
