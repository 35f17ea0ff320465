//! Models that call tools before they answer.

use std::sync::Arc;

use domain::chat::ChatReply;
use domain::message::{Message, ToolCall};
use domain::problem::did_you_mean;
use serde_json::{Map, Value, json};

use super::asking::{OpenRequest, Who};
use super::reply::spoken;
use super::{Ending, Fold, Part, StepId};
use crate::datum::Datum;
use crate::plan::{NO_CLOCK, Tool, ToolAction, Workflow};

/// Calls of one reply; what is more is not made.
const MOST_CALLS: usize = 64;

impl Fold {
    pub(super) fn tools_called(&mut self, open: OpenRequest, reply: &ChatReply) {
        let workflow = Arc::clone(&self.scopes[open.step.scope].workflow);
        let Some(sample) = self.sample_mut(open) else { return };
        let agent = &mut sample.agent;
        let before = agent.before + agent.calls.len();
        let calls: Vec<ToolCall> = reply
            .tool_calls
            .iter()
            .take(MOST_CALLS)
            .enumerate()
            .map(|(i, call)| ToolCall { id: format!("call_{}", before + i + 1), ..call.clone() })
            .collect();
        let answers = vec![None; calls.len()];
        (agent.before, agent.rounds) = (before, agent.rounds + 1);
        (agent.calls, agent.answers, agent.said) = (calls.clone(), answers, reply.content.clone());
        sample.replies += 1;
        for (i, call) in calls.iter().enumerate() {
            if let Some(answer) = self.call_tool(open.step, &workflow, before + i, call) {
                if !self.charge(answer.len()) {
                    return;
                }
                self.note_answer(open, i, Ok(answer));
            }
        }
        self.go_on(open);
    }

    /// The answer of a tool, or `None` if it comes later: of a workflow, and of a registered tool.
    fn call_tool(&mut self, id: StepId, workflow: &Workflow, number: usize, call: &ToolCall) -> Option<String> {
        let tools = self.ask_of(id).map(|ask| &ask.tools)?;
        let Some(tool) = tools.iter().find(|tool| tool.name == call.name()) else {
            let hint = did_you_mean(call.name(), tools.iter().map(|tool| tool.name.as_str()));
            return Some(error(&format!("there is no tool `{}`{hint}", call.name())));
        };
        let arguments = match checked(tool, call) {
            Ok(arguments) => arguments,
            Err(why) => return Some(error(&why)),
        };
        match &tool.does {
            ToolAction::Code(function) => Some(run(workflow, function, &arguments)),
            ToolAction::Workflow(name) => {
                let name = name.clone();
                if let Some(called) = workflow.called.get(&name)
                    && let Err(why) = called.checked(&arguments)
                {
                    return Some(error(&invalid(call, &why)));
                }
                self.call(id, &name, &arguments, Part::Tool(number));
                None
            }
            ToolAction::Registered(block) => {
                let block = *block;
                self.open_tool_call(id, block, number, Value::Object(arguments).into());
                None
            }
        }
    }

    /// A workflow or a registered tool that a model called has ended.
    pub(super) fn tool_done(&mut self, id: StepId, number: usize, ending: Ending) {
        let open = OpenRequest { step: id, sample: 0, attempt: 0 };
        let Some(sample) = self.sample_mut(open) else { return };
        let place = number - sample.agent.before;
        let open = OpenRequest { attempt: sample.replies - 1, ..open };
        let answer = if ending.is_failure { Err(ending) } else { Ok(told(ending.output)) };
        self.note_answer(open, place, answer);
        self.go_on(open);
    }

    fn note_answer(&mut self, open: OpenRequest, place: usize, answer: Result<String, Ending>) {
        if let Some(slot) = self.sample_mut(open).and_then(|sample| sample.agent.answers.get_mut(place)) {
            *slot = Some(answer);
        }
    }

    /// Asks the model again, once all its calls are answered. Of calls that failed, the first one ends the row, once those
    /// before it are answered: it does not matter which of them failed sooner.
    fn go_on(&mut self, open: OpenRequest) {
        let Some(sample) = self.sample_mut(open) else { return };
        let agent = &mut sample.agent;
        match agent.answers.iter().find(|answer| !matches!(answer, Some(Ok(_)))) {
            Some(Some(Err(ending))) => {
                let ending = ending.clone();
                return self.end(open.step, ending);
            }
            Some(_) => return,
            None if agent.answers.is_empty() => return,
            None => {}
        }
        let answers: Vec<String> = std::mem::take(&mut agent.answers).into_iter().flatten().flatten().collect();
        let calls = agent.calls.clone();
        sample.exchange.push(Message::Assistant {
            content: sample.agent.said.clone(),
            reasoning_content: None,
            tool_calls: calls.clone(),
        });
        let answered = calls.into_iter().zip(answers);
        sample.exchange.extend(answered.map(|(call, content)| Message::Tool { tool_call_id: call.id, content }));
        let next = sample.replies;
        self.open_request(open.step, open.sample, next);
    }

    /// The answer of a model with tools, with all that was said.
    pub(super) fn with_messages(&self, open: OpenRequest, reply: &ChatReply, answer: &Datum) -> Datum {
        let asking = self.asking(open.step);
        let prompt = asking.and_then(|asking| match &asking.who {
            Who::Model { messages, .. } => Some(Arc::clone(messages)),
            _ => None,
        });
        let exchange = asking.and_then(|asking| asking.samples.first()).map_or(&[][..], |sample| &sample.exchange);
        let last = [spoken(&reply.content)];
        let all = prompt.iter().flat_map(|messages| messages.iter()).chain(exchange).chain(&last);
        let messages: Vec<Value> = all.map(|message| serde_json::to_value(message).unwrap_or_default()).collect();
        json!({"answer": answer.json(), "messages": messages}).into()
    }
}

/// # Errors
/// What is wrong with the arguments, for the model.
fn checked(tool: &Tool, call: &ToolCall) -> Result<Map<String, Value>, String> {
    let not_json = |why: String| format!("the arguments of `{}` are not JSON: {why}", call.name());
    let arguments = call.arguments().map_err(not_json)?;
    if let Some(error) = tool.validator.iter_errors(&arguments).next() {
        return Err(invalid(call, &error.to_string()));
    }
    match arguments {
        Value::Object(arguments) => Ok(arguments),
        _ => Err(invalid(call, "they are no object")),
    }
}

fn invalid(call: &ToolCall, why: &str) -> String {
    format!("invalid arguments for `{}`: {why}", call.name())
}

/// The error that the model reads in place of an answer, in the form that agents read in conversations.
pub(super) fn error(why: &str) -> String {
    format!("Error: {why}")
}

/// The output of a tool as the model reads it: text as it is, anything else as JSON.
fn told(output: Option<Datum>) -> String {
    let output = output.unwrap_or_else(|| Value::Null.into());
    match output.json() {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn run(workflow: &Workflow, function: &str, arguments: &Map<String, Value>) -> String {
    let values: Vec<(&str, Datum)> =
        arguments.iter().map(|(key, value)| (key.as_str(), Datum::from(value.clone()))).collect();
    let named: Vec<_> = values.iter().map(|(key, value)| (*key, value.node())).collect();
    match workflow.code.answer(function, &[], &named, &NO_CLOCK) {
        Ok(answer) => told(Some(answer.into())),
        Err(failed) => error(&failed.to_string()),
    }
}
