//! Whether every id, amount and date in the agents' words comes from somewhere.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::HashMap;
use std::sync::Arc;

use domain::event::Answer;
use domain::message::Message;
use domain::playbook::Simulate;
use domain::transcript::{Call, Caller, Frame};
use domain::verdict::{Check, Rule};
use serde_json::Value;

use crate::case::Case;
use crate::conversation_state::State;
use crate::tools::grounding::{SourceIndex, StatedFact};
use crate::world::Node;

/// One item for each fact from nowhere, and one for all that were traced.
pub fn check(case: &Case, state: &State) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut traced: Vec<String> = Vec::new();
    // Read only if something was not heard: a world can be large.
    let records = LazyCell::new(|| {
        let mut records = SourceIndex::default();
        records.see("the records, which no call read", state.world.root());
        records
    });
    for frame in state.transcript.agents.iter().chain(&state.transcript.branches) {
        for stated in stated(case, state, &frame.caller, &frame.messages) {
            // The records behind the tools are true as well, though no call read them.
            let source = stated.source.clone().or_else(|| records.said(&stated));
            let fact = stated.fact;
            match source {
                Some(source) => traced.push(format!("`{fact}` from {source}")),
                None => checks.push(Check {
                    rule: Rule::Grounded,
                    passed: false,
                    detail: format!(
                        "`{fact}` in the words of {} comes from nowhere: no tool, user, instruction or record says it",
                        speaker(frame)
                    ),
                }),
            }
        }
    }
    traced.sort();
    traced.dedup();
    if !traced.is_empty() {
        let detail = format!("ids, amounts and dates that were said: {}", traced.join(", "));
        checks.push(Check { rule: Rule::Grounded, passed: true, detail });
    }
    checks
}

/// What whoever acts would state from nowhere if this were its next message: ids, amounts and dates that it has not heard
/// and that no record holds.
pub fn invented(case: &Case, state: &State, message: &Message) -> Vec<String> {
    let Frame { caller, messages, .. } = state.acting();
    let known = stated(case, state, caller, messages).len();
    let mut new = stated(case, state, caller, messages.iter().chain([message])).split_off(known);
    new.retain(|stated| stated.source.is_none());
    if !new.is_empty() {
        let mut records = SourceIndex::default();
        records.see("the records", state.world.root());
        new.retain(|stated| records.said(stated).is_none());
    }
    new.into_iter().map(|stated| stated.fact).collect()
}

/// What one agent states, in order. What it said once it may repeat, so each fact from nowhere is found once.
fn stated<'a>(
    case: &Case,
    state: &State,
    caller: &Caller,
    messages: impl IntoIterator<Item = &'a Message>,
) -> Vec<StatedFact> {
    let agent = match caller.sub_agent() {
        Some(name) => case.playbook.sub_agent(name),
        None => Some(case.playbook.agent(case.variant.as_deref())),
    };
    let instructions = agent.and_then(|agent| case.playbook.instructions(agent, &case.now()).ok());
    let mut heard = instructions.map_or_else(SourceIndex::default, |told| SourceIndex::after(Arc::clone(&told.heard)));
    let refused: HashMap<&str, &Call> =
        state.transcript.calls.iter().filter(|call| is_refused(call)).map(|call| (call.id.as_str(), call)).collect();
    let mut all = Vec::new();
    for message in messages {
        match message {
            Message::System { content } => heard.hear("its instructions", content),
            Message::User { content } => {
                heard.hear(if *caller == Caller::Agent { "the user" } else { "its task" }, content);
            }
            Message::Tool { tool_call_id, content } => match refused.get(tool_call_id.as_str()) {
                Some(call) => heard.hear(tool_call_id, &without_echo(content, call)),
                None => heard.hear(tool_call_id, content),
            },
            Message::Assistant { content, tool_calls, .. } => {
                let handed_on =
                    tool_calls.iter().filter(|call| speaks(case, call.name())).map(|call| &call.function.arguments);
                for words in [content].into_iter().chain(handed_on) {
                    all.extend(heard.speak("its own words", words));
                }
            }
        }
    }
    all.retain(|stated| stated.source.as_deref() != Some("its own words"));
    all
}

fn is_refused(call: &Call) -> bool {
    call.answer.malformed() || call.answer == Answer::Failed
}

/// A refusal without the facts of the call itself: what an agent made up does not become true because a tool repeats it.
fn without_echo<'a>(refusal: &'a str, call: &Call) -> Cow<'a, str> {
    let mut own = SourceIndex::default();
    own.hear("", &call.tool);
    match serde_json::from_str::<Value>(&call.arguments) {
        Ok(arguments) => own.see("", &Node::from(&arguments)),
        Err(_) => own.hear("", &call.arguments),
    }
    let mut rest = Cow::Borrowed(refusal);
    for echoed in own.stated(refusal).into_iter().filter(|stated| stated.source.is_some()) {
        rest = rest.replace(&echoed.fact, " ").into();
    }
    rest
}

/// Whether the arguments of a call are words to somebody: a task for a sub-agent, a summary for a colleague.
fn speaks(case: &Case, tool: &str) -> bool {
    case.playbook.tool(tool).is_some_and(|tool| matches!(tool.simulate(), Simulate::Agent | Simulate::Terminal))
}

fn speaker(frame: &Frame) -> String {
    frame.caller.sub_agent().map_or_else(|| "the agent".to_owned(), |name| format!("`{name}`"))
}
