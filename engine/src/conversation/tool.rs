//! Answering the first pending call: name, arguments, simulation, checks, commit. Always in this order.

use domain::event::{Answer, EventKind, Usage};
use domain::message::ToolCall;
use domain::patch::Patch;
use domain::playbook::Simulate;
use domain::problem::did_you_mean;
use domain::role::Role;
use serde_json::{Map, Value, json};

use super::{Conversation, NO_USAGE, Next, refused};
use crate::chat::ChatReply;
use crate::playbook::Tool;
use crate::tools::code::{CodeError, Moment, fresh_id};
use crate::tools::grounding::{Sources, ungrounded};

/// What the agent reads when a model could not answer truthfully. It claims nothing.
const FALLBACK: &str = "Error: the service could not process this request; nothing was changed";
/// Fresh ids that a state manager may choose from.
const OFFERED_IDS: u32 = 4;

/// A call that may be simulated, or how it is refused and why.
type Checked<'a> = Result<(&'a Tool, Map<String, Value>), (Answer, String)>;

impl Conversation {
    pub(super) fn next_tool(&self) -> Next {
        match self.pending_call() {
            Some((_, Ok((tool, arguments)))) if tool.simulate() == Simulate::Model => {
                Next::Ask(Box::new(self.ask_tool_simulator(tool, &arguments)))
            }
            _ => Next::Act,
        }
    }

    /// The call to answer, with its tool and arguments or the reason to refuse it.
    fn pending_call(&self) -> Option<(&ToolCall, Checked<'_>)> {
        let call = self.state.pending.front()?;
        Some((call, self.checked(call)))
    }

    fn checked(&self, call: &ToolCall) -> Checked<'_> {
        let playbook = &self.case.playbook;
        let Some(tool) = playbook.tool(call.name()) else {
            let hint = did_you_mean(call.name(), playbook.spec.tools.iter().map(|t| t.name.as_str()));
            return Err((Answer::UnknownTool, format!("there is no tool `{}`{hint}", call.name())));
        };
        let arguments = call
            .arguments()
            .map_err(|e| (Answer::InvalidArguments, format!("the arguments of `{}` are not JSON: {e}", call.name())))?;
        let faults = tool.argument_faults(&arguments);
        if !faults.is_empty() {
            return Err((
                Answer::InvalidArguments,
                format!("invalid arguments for `{}`: {}", call.name(), faults.join("; ")),
            ));
        }
        if tool.simulate() == Simulate::Terminal && self.state.calls_in_turn > 1 {
            return Err((Answer::Failed, format!("`{}` ends the conversation and must be called alone", call.name())));
        }
        Ok((tool, arguments.as_object().cloned().unwrap_or_default()))
    }

    pub(super) fn answer_by_program(&self) -> Option<EventKind> {
        let (call, checked) = self.pending_call()?;
        let (tool, arguments) = match checked {
            Ok(checked) => checked,
            Err((answer, reason)) => {
                return Some(self.answered(call, answer, format!("Error: {reason}"), Vec::new(), NO_USAGE));
            }
        };
        Some(match tool.simulate() {
            Simulate::Code => self.answer_by_code(call, tool, &arguments),
            Simulate::Constant => {
                let content = as_text(tool.spec.response.as_ref().unwrap_or(&Value::Null));
                self.answered(call, Answer::Succeeded, content, Vec::new(), NO_USAGE)
            }
            Simulate::Terminal => self.answered(call, Answer::Terminal, String::new(), Vec::new(), NO_USAGE),
            Simulate::Model => return None,
        })
    }

    fn answer_by_code(&self, call: &ToolCall, tool: &Tool, arguments: &Map<String, Value>) -> EventKind {
        let world = &self.state.world;
        let (now, id_seed) = (self.case.now(), self.id_seed());
        let moment = Moment { now: &now, id_seed: &id_seed };
        let result = self.case.playbook.run_code(tool, arguments, world, &moment).map_err(|e| match e {
            CodeError::Refused(text) => text,
            CodeError::Broken(text) => format!("internal error in `{}`: {text}", tool.spec.name),
        });
        let result = result.and_then(|(response, patch)| {
            self.case.playbook.commit(tool, arguments, world, &patch).map(|_| (response, patch))
        });
        match result {
            Ok((response, patch)) => self.answered(call, Answer::Succeeded, as_text(&response), patch, NO_USAGE),
            Err(reason) => self.answered(call, Answer::Failed, format!("Error: {reason}"), Vec::new(), NO_USAGE),
        }
    }

    pub(super) fn hear_tool_simulator(&self, reply: &ChatReply) -> Option<EventKind> {
        let (call, Ok((tool, arguments))) = self.pending_call()? else { return None };
        Some(match self.truthful(tool, &arguments, reply) {
            Ok(response) if tool.writes.is_empty() => {
                self.answered(call, Answer::Succeeded, as_text(&response), Vec::new(), reply.usage)
            }
            Ok(response) => EventKind::ToolSimulated { call_id: call.id.clone(), response, usage: reply.usage },
            Err(reason) => refused(Role::ToolSimulator, reply, reason),
        })
    }

    /// A response that passed its schema and states nothing new. What it may state about a change that is still to
    /// come is checked with the change.
    fn truthful(&self, tool: &Tool, arguments: &Map<String, Value>, reply: &ChatReply) -> Result<Value, String> {
        let response = json_reply(&reply.content)?;
        let faults = tool.response_faults(&response);
        if !faults.is_empty() {
            return Err(faults.join("; "));
        }
        if tool.writes.is_empty() {
            self.grounded(tool, arguments, &response, &Vec::new())?;
        }
        Ok(response)
    }

    fn grounded(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
        response: &Value,
        patch: &Patch,
    ) -> Result<(), String> {
        let sources = self.sources(tool, arguments, patch);
        match ungrounded(response, tool.spec.returns.as_ref(), &sources) {
            Some((at, fact)) => Err(format!("`{fact}` at {at} is in no record, no argument and no change")),
            None => Ok(()),
        }
    }

    fn sources(&self, tool: &Tool, arguments: &Map<String, Value>, patch: &Patch) -> Sources {
        let mut sources = Sources::default();
        sources.add(&self.view(tool, arguments));
        sources.add(&Value::Object(arguments.clone()));
        sources.add(&json!([self.case.now(), self.case.now().get(..10)]));
        for op in patch {
            sources.add(&json!(domain::patch::segments(op.path())));
            if let Some(value) = op.value() {
                sources.add(value);
            }
        }
        sources
    }

    pub(super) fn hear_state_manager(&self, reply: &ChatReply, response: &Value) -> Option<EventKind> {
        let (call, Ok((tool, arguments))) = self.pending_call()? else { return None };
        Some(match self.accepted_patch(tool, &arguments, reply, response) {
            Ok(patch) => self.answered(call, Answer::Succeeded, as_text(response), patch, reply.usage),
            Err(reason) => refused(Role::StateManager, reply, reason),
        })
    }

    /// An error that fits the world, where no model could answer truthfully.
    pub(super) fn fall_back(&self) -> Option<EventKind> {
        let call = self.state.pending.front()?;
        Some(self.answered(call, Answer::Fallback, FALLBACK.to_owned(), Vec::new(), NO_USAGE))
    }

    /// Schema, authority, invariants, and every value from somewhere: a record, the call, a fresh id or the response,
    /// which in turn may state what the patch made true.
    fn accepted_patch(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
        reply: &ChatReply,
        response: &Value,
    ) -> Result<Patch, String> {
        let mut value = json_reply(&reply.content)?;
        let patch: Patch = serde_json::from_value(value["patch"].take()).map_err(|e| format!("not a patch: {e}"))?;
        self.case.playbook.commit(tool, arguments, &self.state.world, &patch)?;
        let mut sources = self.sources(tool, arguments, &Vec::new());
        sources.add(&json!(self.offered_ids(tool)));
        // Words a record may hold by its schema (a status, a kind) are the author's, not the model's.
        sources.add(&self.case.playbook.schema_json);
        for op in &patch {
            // A key is a fact too: new records are named by the engine.
            let keys = domain::patch::segments(op.path()).unwrap_or_default();
            let place = |key: &&String| key.as_str() != "-" && key.parse::<usize>().is_err();
            if let Some(key) = keys.iter().filter(place).find(|key| !sources.knows(&crate::facts::normal(key))) {
                return Err(format!("`{key}` in {} is no record and no fresh id", op.path()));
            }
            if let Some((at, fact)) = op.value().and_then(|v| ungrounded(v, None, &sources)) {
                return Err(format!("`{fact}` at {}{at} is in no record, no argument and no fresh id", op.path()));
            }
        }
        self.grounded(tool, arguments, response, &patch)?;
        Ok(patch)
    }

    fn answered(&self, call: &ToolCall, answer: Answer, content: String, patch: Patch, usage: Usage) -> EventKind {
        let world_hash = match self.state.world.apply(&patch) {
            Ok(world) if !patch.is_empty() => world.hash(),
            _ => self.state.world_hash.clone(),
        };
        let tool = call.name().to_owned();
        EventKind::ToolAnswered { call_id: call.id.clone(), tool, content, answer, patch, world_hash, usage }
    }

    /// New ids depend on the case and on the version of the world, so a rolled-back call leaves no trace in them.
    pub(crate) fn id_seed(&self) -> String {
        format!("{} {}", self.case.seed.text(), self.state.world.version())
    }

    pub(super) fn offered_ids(&self, tool: &Tool) -> Vec<String> {
        (0..OFFERED_IDS).map(|n| fresh_id(&self.id_seed(), &tool.spec.name, n)).collect()
    }
}

/// JSON in a reply; models like to fence it.
pub(super) fn json_reply(content: &str) -> Result<Value, String> {
    let (said, _) = crate::reasoning::split(content, None);
    let text = said.trim().trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```");
    serde_json::from_str(text.trim()).map_err(|e| format!("not JSON: {e}"))
}

/// What the agent reads: texts as they are, everything else as JSON.
fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
