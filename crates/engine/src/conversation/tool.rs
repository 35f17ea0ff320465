//! Answering the first pending call: name, arguments, simulation, checks, commit. Always in this order.

use domain::event::{Answer, EventKind, Usage};
use domain::fault::FaultKind;
use domain::message::ToolCall;
use domain::patch::{self, Patch};
use domain::playbook::Simulate;
use domain::problem::did_you_mean;
use domain::role::Role;
use domain::service::answer_text;
use domain::untrusted::levels;
use serde_json::{Map, Value, json};

use super::{Conversation, NO_USAGE, refused};
use crate::faults;
use crate::limits::{LARGE_ARGUMENTS_BYTES, MOST_ANSWERS_BYTES, MOST_ARGUMENT_LEVELS};
use crate::playbook::{Refusal, Tool};
use crate::tools::code::{CallContext, CodeError, fresh_id};
use crate::tools::grounding::{Sources, ungrounded, ungrounded_patch};
use crate::world::World;
use domain::chat::{ChatReply, ChatRequest};

/// What the agent reads when a model could not answer truthfully. It claims nothing.
const FALLBACK: &str = "Error: the service could not process this request; nothing was changed";
/// Fresh ids that a state manager may choose from.
const OFFERED_IDS: u32 = 4;

/// A call that may be simulated, or how it is refused and why.
pub(super) type CheckedCall<'a> = Result<(&'a Tool, Map<String, Value>), (Answer, String)>;

impl Conversation {
    /// Whether a model or a service answers the pending call.
    pub(super) fn asks_for_pending_call(&self) -> bool {
        let Some(call) = self.state.acting().pending.front() else { return false };
        // Most tools need neither. Checking a call takes time, so it comes last.
        let asks = |tool: &Tool| tool.simulate() == Simulate::Service || tool.simulate() == Simulate::Model;
        self.case.playbook.tool(call.name()).is_some_and(asks)
            && self.checked(call).is_ok_and(|(tool, arguments)| {
                let by_model = tool.simulate() == Simulate::Model;
                self.refused_by_fault(tool).is_none() && (!by_model || self.capability(tool, &arguments).is_ok())
            })
    }

    /// What the tool simulator is asked for the pending call; an error if the tool's own template does not render.
    pub(super) fn ask_pending_tool(&self) -> Option<Result<ChatRequest, String>> {
        match self.pending_call()? {
            (call, Ok((tool, arguments))) => Some(self.ask_tool_simulator(tool, &arguments, &call.id)),
            _ => None,
        }
    }

    /// The tool for which a model is asked now.
    pub(crate) fn tool_asked_for(&self) -> Option<&str> {
        let role = self.state.phase.asks()?;
        let answers = matches!(role, Role::ToolSimulator | Role::StateManager);
        self.state.acting().pending.front().filter(|_| answers).map(ToolCall::name)
    }

    /// The call to answer, with its tool and arguments or the reason to refuse it.
    pub(super) fn pending_call(&self) -> Option<(&ToolCall, CheckedCall<'_>)> {
        let call = self.state.acting().pending.front()?;
        Some((call, self.checked(call)))
    }

    pub(super) fn checked(&self, call: &ToolCall) -> CheckedCall<'_> {
        let offered = self.offered();
        let tool = self.case.playbook.tool(call.name()).filter(|_| offered.contains(&call.name()));
        let Some(tool) = tool else {
            let hint = did_you_mean(call.name(), offered);
            return Err((Answer::UnknownTool, format!("there is no tool `{}`{hint}", call.name())));
        };
        let arguments = call
            .arguments()
            .map_err(|e| (Answer::InvalidArguments, format!("the arguments of `{}` are not JSON: {e}", call.name())))?;
        let faults = match levels(&arguments) {
            0..=MOST_ARGUMENT_LEVELS => tool.argument_faults(&arguments),
            _ => vec![format!("they are nested deeper than {MOST_ARGUMENT_LEVELS} levels")],
        };
        if !faults.is_empty() {
            return Err((
                Answer::InvalidArguments,
                format!("invalid arguments for `{}`: {}", call.name(), faults.join("; ")),
            ));
        }
        if tool.simulate() == Simulate::Terminal && self.state.acting().calls_in_turn > 1 {
            return Err((Answer::Failed, format!("`{}` ends the conversation and must be called alone", call.name())));
        }
        let Value::Object(arguments) = arguments else { return Ok((tool, Map::new())) };
        Ok((tool, tool.complete(arguments)))
    }

    /// Names of the tools that whoever acts may call.
    fn offered(&self) -> Vec<&str> {
        match self.agent(self.state.acting()) {
            Some(agent) => agent.uses.iter().map(String::as_str).collect(),
            None => self.case.playbook.spec.user_tools.iter().map(|tool| tool.name.as_str()).collect(),
        }
    }

    pub(super) fn answer_by_program(&self) -> Option<EventKind> {
        let (call, checked) = self.pending_call()?;
        let (tool, arguments) = match checked {
            Ok(checked) => checked,
            Err((answer, reason)) => {
                return Some(answered(call, answer, format!("Error: {reason}"), NO_USAGE));
            }
        };
        if let Some(kind) = self.refused_by_fault(tool) {
            return Some(faulty(answered(call, Answer::Failed, faults::refusal(kind).to_owned(), NO_USAGE), kind));
        }
        let event = match tool.simulate() {
            Simulate::Code => self.answer_by_code(call, tool, &arguments),
            Simulate::Constant => {
                let content = answer_text(tool.spec.response.as_ref().unwrap_or(&Value::Null));
                answered(call, Answer::Succeeded, content, NO_USAGE)
            }
            Simulate::Terminal => answered(call, Answer::Terminal, String::new(), NO_USAGE),
            Simulate::Agent => self.delegate(call, tool),
            Simulate::Service => return None,
            Simulate::Model => {
                let reason = self.capability(tool, &arguments).err()?;
                unanswered(call, format!("the template of `{}` does not render: {reason}", tool.spec.name))
            }
        };
        Some(self.with_fault(tool, event))
    }

    fn fault(&self, tool: &Tool) -> Option<FaultKind> {
        faults::planned(&self.case, &self.state, &tool.spec)
    }

    /// What the next call, of this tool, is answered from.
    pub(super) fn world_for(&self, tool: &Tool) -> &World {
        if self.is_stale(tool) { &self.state.world_before } else { &self.state.world }
    }

    fn is_stale(&self, tool: &Tool) -> bool {
        self.fault(tool) == Some(FaultKind::StaleRead)
    }

    /// The fault that keeps this call from being done at all.
    fn refused_by_fault(&self, tool: &Tool) -> Option<FaultKind> {
        self.fault(tool).filter(|kind| kind.is_refusal())
    }

    /// What arrives of an answer that a fault is planned for.
    pub(super) fn with_fault(&self, tool: &Tool, mut event: EventKind) -> EventKind {
        let EventKind::ToolAnswered { content, answer: Answer::Succeeded, .. } = &mut event else { return event };
        let Some(kind) = self.fault(tool) else { return event };
        *content = faults::garbled(kind, content);
        faulty(event, kind)
    }

    fn answer_by_code(&self, call: &ToolCall, tool: &Tool, arguments: &Map<String, Value>) -> EventKind {
        let world = self.world_for(tool);
        let (now, id_seed) = (self.case.now(), self.id_seed());
        let moment = CallContext { now: &now, id_seed: &id_seed };
        let (response, patch) = match self.case.playbook.run_code(tool, arguments, world, &moment) {
            Ok(done) => done,
            Err(CodeError::Refused(text)) => {
                return answered(call, Answer::Failed, format!("Error: {text}"), NO_USAGE);
            }
            Err(CodeError::Broken(text)) => return broken_off(call, text),
        };
        let content = answer_text(&response);
        // The agent made all these calls, so this is a failed call and not a broken tool.
        if let Some(reason) = self.beyond_limit(content.len() + bytes_of(&patch)) {
            return answered(call, Answer::Failed, format!("Error: {reason}; nothing was changed"), NO_USAGE);
        }
        match self.case.playbook.commit(tool, arguments, world, &patch, &now) {
            // What the hook derives from an old version is of no use now.
            Ok(_) if self.is_stale(tool) => changed(call, content, Patch::new(), NO_USAGE),
            Ok(_) => changed(call, content, patch, NO_USAGE),
            Err(Refusal::Rule(text)) => answered(call, Answer::Failed, format!("Error: {text}"), NO_USAGE),
            Err(Refusal::Broken(text)) => broken_off(call, text),
        }
    }

    /// Why the conversation cannot take an answer of so many bytes, with what it changes; `None` if it can.
    pub(super) fn beyond_limit(&self, more: usize) -> Option<String> {
        let calls = self.state.transcript.calls.iter();
        let known: usize = calls.map(|call| call.content.len() + bytes_of(&call.patch)).sum();
        (known + more > MOST_ANSWERS_BYTES).then(|| {
            let most = format!("all answers and changes of a conversation have {MOST_ANSWERS_BYTES} bytes at most");
            format!("{most}, and with this one they would have more")
        })
    }

    pub(super) fn hear_tool_simulator(&self, reply: &ChatReply) -> Option<EventKind> {
        let (call, Ok((tool, arguments))) = self.pending_call()? else { return None };
        Some(match self.truthful(tool, &arguments, reply) {
            Ok(response) if tool.writes.is_empty() => {
                self.with_fault(tool, answered(call, Answer::Succeeded, answer_text(&response), reply.usage))
            }
            Ok(response) => EventKind::ToolSimulated { call_id: call.id.clone(), response, usage: reply.usage },
            Err(reason) => refused(Role::ToolSimulator, reply, reason),
        })
    }

    /// A response that passed its schema and states nothing new, save what a change may bring about that is still to
    /// come: whether it did is checked with the change.
    fn truthful(&self, tool: &Tool, arguments: &Map<String, Value>, reply: &ChatReply) -> Result<Value, String> {
        let response = reply.json()?;
        let faults = tool.response_faults(&response);
        if !faults.is_empty() {
            return Err(faults.join("; "));
        }
        let mut sources = self.sources(tool, arguments);
        if !tool.writes.is_empty() {
            self.add_possible(tool, arguments, &mut sources);
        }
        grounded(tool, &response, &sources, "is in no record and no argument")?;
        Ok(response)
    }

    fn sources(&self, tool: &Tool, arguments: &Map<String, Value>) -> Sources {
        let mut sources = Sources::of_call(self.view(tool, arguments), arguments);
        sources.add(&json!([self.case.now(), self.case.now().get(..10)]));
        sources
    }

    /// What a change may bring into the world: fresh ids, and what the schema lists.
    fn add_possible(&self, tool: &Tool, arguments: &Map<String, Value>, sources: &mut Sources) {
        sources.add_change(&json!(self.offered_ids(tool)));
        sources.add_change(&Value::Object(arguments.clone()));
        sources.add_vocabulary(&self.case.playbook.schema_json);
    }

    pub(super) fn hear_state_manager(&self, reply: &ChatReply, response: &Value) -> Option<EventKind> {
        let (call, Ok((tool, arguments))) = self.pending_call()? else { return None };
        Some(match self.accepted_patch(tool, &arguments, reply, response) {
            Ok(patch) => self.with_fault(tool, changed(call, answer_text(response), patch, reply.usage)),
            Err(reason) => refused(Role::StateManager, reply, reason),
        })
    }

    /// An error that fits the world, where no model could answer truthfully.
    pub(super) fn fall_back(&self) -> Option<EventKind> {
        let (call, refusal) = (self.state.acting().pending.front()?, self.state.transcript.refused().last()?);
        Some(unanswered(call, refusal.reason.clone()))
    }

    /// Schema, authority, invariants, and every value from somewhere: a record, the call or a fresh id. The response
    /// may then state what the change made true, and nothing else.
    fn accepted_patch(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
        reply: &ChatReply,
        response: &Value,
    ) -> Result<Patch, String> {
        let mut value = reply.json()?;
        let patch = value.get_mut("patch").map(Value::take).ok_or(r#"expected {"patch": [...]}"#)?;
        let patch: Patch = serde_json::from_value(patch).map_err(|e| format!("not a patch: {e}"))?;
        let world = &self.state.world;
        self.case
            .playbook
            .commit(tool, arguments, world, &patch, &self.case.now())
            .map_err(|refusal| refusal.to_string())?;
        let mut sources = self.sources(tool, arguments);
        self.add_possible(tool, arguments, &mut sources);
        if let Some((at, fact)) = ungrounded_patch(&patch, world, &sources) {
            return Err(format!("`{fact}` at {at} is in no record, no argument and no fresh id"));
        }
        let mut sources = self.sources(tool, arguments);
        for op in &patch {
            sources.add_change(&json!(patch::segments(op.path())));
            op.value().into_iter().for_each(|value| sources.add_change(value));
        }
        grounded(tool, response, &sources, "was answered, and the patch does not make it so")?;
        Ok(patch)
    }

    /// New ids depend on the case and on the version of the world, so a rolled-back call leaves no trace in them.
    pub(crate) fn id_seed(&self) -> String {
        format!("{} {}", self.case.seed.text(), self.state.world.version())
    }

    pub(crate) fn offered_ids(&self, tool: &Tool) -> Vec<String> {
        let prefix = tool.spec.id_prefix.as_ref().unwrap_or(&tool.spec.name);
        (0..OFFERED_IDS).map(|n| fresh_id(&self.id_seed(), prefix, n)).collect()
    }
}

/// The arguments of a call whose arguments were checked.
pub(super) fn json_arguments(call: &ToolCall) -> Map<String, Value> {
    call.arguments().ok().and_then(|value| value.as_object().cloned()).unwrap_or_default()
}

/// An answer that changes nothing.
pub(super) fn answered(call: &ToolCall, answer: Answer, content: String, usage: Usage) -> EventKind {
    EventKind::ToolAnswered {
        call_id: call.id.clone(),
        tool: call.name().to_owned(),
        content,
        answer,
        patch: Patch::new(),
        fault: None,
        note: None,
        usage,
    }
}

fn faulty(mut event: EventKind, kind: FaultKind) -> EventKind {
    if let EventKind::ToolAnswered { fault, .. } = &mut event {
        *fault = Some(kind);
    }
    event
}

fn changed(call: &ToolCall, content: String, patch: Patch, usage: Usage) -> EventKind {
    let (call_id, tool) = (call.id.clone(), call.name().to_owned());
    EventKind::ToolAnswered { call_id, tool, content, answer: Answer::Succeeded, patch, fault: None, note: None, usage }
}

/// Approximate size of a patch as text, in bytes.
fn bytes_of(patch: &Patch) -> usize {
    fn value(json: &Value) -> usize {
        match json {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(|item| value(item) + 2).sum(),
            Value::Object(map) => map.iter().map(|(key, item)| key.len() + value(item) + 4).sum(),
            _ => 4,
        }
    }
    patch.iter().map(|op| op.path().len() + op.value().map_or(0, value)).sum()
}

/// The tool's code failed. The author is to blame, unless the arguments are larger than any tool expects.
fn broken_off(call: &ToolCall, why: String) -> EventKind {
    if call.function.arguments.len() < LARGE_ARGUMENTS_BYTES {
        return unanswered(call, why);
    }
    let content = format!("Error: the arguments of `{}` are too large for it; nothing was changed", call.name());
    answered(call, Answer::Failed, content, NO_USAGE)
}

/// Nobody could answer: the agent is told no more than that, and people why.
pub(super) fn unanswered(call: &ToolCall, why: String) -> EventKind {
    let (call_id, tool, content) = (call.id.clone(), call.name().to_owned(), FALLBACK.to_owned());
    let (answer, patch) = (Answer::Fallback, Patch::new());
    EventKind::ToolAnswered { call_id, tool, content, answer, patch, fault: None, note: Some(why), usage: NO_USAGE }
}

fn grounded(tool: &Tool, response: &Value, sources: &Sources, otherwise: &str) -> Result<(), String> {
    match ungrounded(response, tool.spec.returns.as_ref(), sources) {
        Some((at, fact)) => Err(format!("`{fact}` at {at} {otherwise}")),
        None => Ok(()),
    }
}
