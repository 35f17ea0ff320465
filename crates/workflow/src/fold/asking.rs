//! Requests of a row, and how models and indexes are asked.

use std::sync::Arc;

use domain::chat::{ChatRequest, ReplySchema};
use domain::encoder::EncoderTask;
use domain::message::Message;
use domain::role::RoleId;
use domain::workflow::BuiltInEnd;
use serde_json::{Map, Value, json};

use super::agent_state::Agent;
use super::{Ending, Fold, Slot, StepId};
use crate::datum::Datum;
use crate::plan::{Action, Ask, Prompt, RoleOf, Search, Workflow};
use crate::split::Split;

/// Roles of messages.
const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];

/// Who answers a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestKind<'a> {
    Model(RoleId),
    Index(&'a str),
    /// A registered server or endpoint.
    Tool(&'a str),
    /// A registered service, in a conversation.
    Service(&'a str),
}

/// A request that is not answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenRequest {
    pub step: StepId,
    pub sample: u32,
    pub attempt: u32,
}

/// A step that waits for answers.
#[derive(Clone)]
pub(super) struct Asking {
    pub who: Who,
    /// One for each reply that the step wants.
    pub samples: Vec<Sample>,
    /// Whether its reply is a stream of items.
    pub is_stream: bool,
}

#[derive(Clone)]
pub(super) enum Who {
    Model {
        role: RoleId,
        messages: Arc<Vec<Message>>,
    },
    Index {
        query: Arc<str>,
    },
    /// One task for each sample.
    Encoder {
        role: RoleId,
        tasks: Arc<[EncoderTask]>,
    },
    Tool {
        message: Datum,
    },
}

#[derive(Clone, Default)]
pub(super) struct Sample {
    /// Replies so far.
    pub replies: u32,
    /// How many of them could not be used.
    pub refused: u32,
    /// What was said since the prompt.
    pub exchange: Vec<Message>,
    /// The items of a reply that still comes.
    pub partial: Vec<Datum>,
    pub agent: Agent,
    pub result: Option<Result<Datum, Ending>>,
}

impl Asking {
    pub const fn streams(&self) -> bool {
        self.is_stream
    }

    pub fn items_so_far(&self) -> &[Datum] {
        self.samples.first().map_or(&[], |sample| &sample.partial)
    }
}

impl Fold {
    pub(super) fn start_ask(&mut self, id: StepId, ask: &Ask) {
        let asked = self.role(id, ask).and_then(|role| Ok((role, self.messages(id, ask)?)));
        let (role, messages) = match asked {
            Ok(asked) => asked,
            Err((end, reason)) => return self.fail(id, end, reason),
        };
        let count = ask.n.unwrap_or(1);
        let samples = (0..count).map(|_| Sample::default()).collect();
        let who = Who::Model { role, messages: Arc::new(messages) };
        let is_stream = ask.split.is_some() && ask.n.is_none();
        *self.slot_mut(id) = Slot::Asking(Box::new(Asking { who, samples, is_stream }));
        self.wake_streamed(id);
        for sample in 0..count {
            self.open_request(id, sample, 0);
        }
    }

    pub(super) fn start_search(&mut self, id: StepId, search: &Search) {
        let query = match self.evaluate(id.scope, &search.query) {
            Ok(query) => query,
            Err(reason) => return self.fail(id, BuiltInEnd::FailedCode, reason),
        };
        let Some(query) = query.json().as_str().filter(|query| !query.trim().is_empty()) else {
            // Nothing is asked for, so nothing is found.
            return self.done(id, json!([]).into());
        };
        let who = Who::Index { query: Arc::from(query) };
        let asking = Asking { who, samples: vec![Sample::default()], is_stream: false };
        *self.slot_mut(id) = Slot::Asking(Box::new(asking));
        self.open_request(id, 0, 0);
    }

    pub(super) fn open_request(&mut self, step: StepId, sample: u32, attempt: u32) {
        if self.charge_request() {
            let request = self.address(step).request(sample, attempt);
            self.open.insert(request, OpenRequest { step, sample, attempt });
        }
    }

    fn role(&self, id: StepId, ask: &Ask) -> Result<RoleId, (BuiltInEnd, String)> {
        match &ask.role {
            RoleOf::One(role) => Ok(*role),
            RoleOf::OneOf(role, known) => {
                let role = self.evaluate(id.scope, role).map_err(|reason| (BuiltInEnd::FailedCode, reason))?;
                let name = role.json().as_str().unwrap_or_default();
                if known.iter().any(|known| known == name) {
                    return Ok(RoleId::named(name));
                }
                let reason = format!("the role is {}, and not one of {}", role.json(), known.join(", "));
                Err((BuiltInEnd::FailedCode, reason))
            }
        }
    }

    fn messages(&self, id: StepId, ask: &Ask) -> Result<Vec<Message>, (BuiltInEnd, String)> {
        let workflow = &self.scopes[id.scope].workflow;
        let context = self.context(id, ask);
        let render = |name: &str| {
            let rendered = engine::templates::render(&workflow.templates, name, &context);
            rendered.map(|text| text.trim().to_owned()).map_err(|reason| (BuiltInEnd::FailedTemplate, reason))
        };
        let mut messages = Vec::new();
        if let Some(system) = &ask.system {
            messages.push(Message::System { content: render(system)? });
        }
        match &ask.prompt {
            Prompt::Template(name) => messages.push(Message::User { content: render(name)? }),
            Prompt::Messages(given) => {
                let given = self.evaluate(id.scope, given).map_err(|reason| (BuiltInEnd::FailedCode, reason))?;
                messages.extend(read_messages(given.json()).map_err(|reason| (BuiltInEnd::FailedCode, reason))?);
            }
        }
        Ok(messages)
    }

    /// What the templates of an ask see.
    pub(super) fn context(&self, id: StepId, ask: &Ask) -> Value {
        let values = ask.context.iter().map(|(name, of)| (name.clone(), self.value_of(id.scope, *of).json().clone()));
        Value::Object(values.collect::<Map<_, _>>())
    }

    pub(super) fn ask_of(&self, id: StepId) -> Option<&Ask> {
        match &self.plan(id).action {
            Action::Ask(ask) => Some(ask),
            _ => None,
        }
    }

    pub(super) fn asking(&self, id: StepId) -> Option<&Asking> {
        match self.slot(id) {
            Slot::Asking(asking) => Some(asking),
            _ => None,
        }
    }

    pub(super) fn sample(&self, open: OpenRequest) -> Option<&Sample> {
        match self.slot(open.step) {
            Slot::Asking(asking) => asking.samples.get(open.sample as usize),
            _ => None,
        }
    }

    pub(super) fn sample_mut(&mut self, open: OpenRequest) -> Option<&mut Sample> {
        match self.slot_mut(open.step) {
            Slot::Asking(asking) => asking.samples.get_mut(open.sample as usize),
            _ => None,
        }
    }

    pub(super) fn kind_of(&self, open: &OpenRequest) -> RequestKind<'_> {
        match (self.slot(open.step), &self.plan(open.step).action) {
            (_, Action::Search(search)) => RequestKind::Index(&search.index),
            (_, Action::Tool(call)) => RequestKind::Tool(&call.name),
            (Slot::Conversing(own), Action::Converse(converse)) => match own.service() {
                Some(service) => RequestKind::Service(service),
                None => RequestKind::Model(own.asked(converse)),
            },
            (Slot::Asking(asking), _) => match &asking.who {
                Who::Model { role, .. } | Who::Encoder { role, .. } => RequestKind::Model(*role),
                Who::Index { .. } | Who::Tool { .. } => RequestKind::Index(""),
            },
            _ => RequestKind::Index(""),
        }
    }

    /// What a model is asked.
    pub fn prompt(&self, request: u64) -> Option<ChatRequest> {
        let open = self.open.get(&request)?;
        if let Some(own) = self.conversing(open.step) {
            return self.conversation_prompt(open.step, own);
        }
        let (asking, ask) = (self.asking(open.step)?, self.ask_of(open.step)?);
        let Who::Model { role, messages } = &asking.who else { return None };
        let sample = asking.samples.get(open.sample as usize)?;
        let purpose = format!("{}/{}/{}", self.address(open.step), open.sample, open.attempt);
        let may_call = self.may_call(*open);
        // Models that may call tools need not answer yet.
        let schema = ask.schema.as_ref().filter(|_| ask.split.is_none() && !may_call);
        Some(ChatRequest {
            role: *role,
            messages: messages.iter().chain(&sample.exchange).cloned().collect(),
            tools: ask.tools.iter().filter(|_| may_call).map(|tool| Arc::clone(&tool.function)).collect(),
            schema: schema
                .map(|shape| ReplySchema { name: self.plan(open.step).name.clone(), schema: shape.schema.clone() }),
            temperature: ask.temperature,
            max_tokens: ask.max_tokens,
            seed: self.seed.sampling(&purpose),
        })
    }

    /// The name that all requests of one agent loop or one conversation share: the prompt of each begins with the one before it.
    /// `None` for other requests.
    pub fn talk_of(&self, request: u64) -> Option<String> {
        let open = self.open.get(&request)?;
        let calls_tools = self.ask_of(open.step).is_some_and(|ask| !ask.tools.is_empty());
        let is_talk = calls_tools || self.conversing(open.step).is_some();
        is_talk.then(|| format!("{}/{}", self.address(open.step), open.sample))
    }

    /// Whether a model may call tools in this reply: not in the last one that it has.
    pub(super) fn may_call(&self, open: OpenRequest) -> bool {
        let sample = self.asking(open.step).and_then(|asking| asking.samples.get(open.sample as usize));
        let ask = self.ask_of(open.step).filter(|ask| !ask.tools.is_empty());
        ask.zip(sample).is_some_and(|(ask, sample)| sample.agent.rounds + 1 < ask.rounds)
    }

    /// What an index, a tool or a service is asked: `{query, k}`, with `workflow` if that is another one than the row's, `{tool,
    /// arguments}` or `{body}`, or `{conversation, call}`.
    pub fn message(&self, request: u64) -> Option<Value> {
        let open = self.open.get(&request)?;
        if let Some(own) = self.conversing(open.step) {
            return self.conversation_message(open.step, own);
        }
        match (&self.asking(open.step)?.who, &self.plan(open.step).action) {
            (Who::Index { query }, Action::Search(search)) => {
                let mut message = json!({"query": &**query, "k": search.k});
                let workflow = &self.scopes[open.step.scope].workflow;
                if !Arc::ptr_eq(workflow, &self.scopes[0].workflow) {
                    message["workflow"] = json!(workflow.spec.name);
                }
                Some(message)
            }
            (Who::Tool { message }, _) => Some(message.json().clone()),
            _ => None,
        }
    }

    /// Whether the reply to a request is to be JSON.
    pub fn is_of_json(&self, request: u64) -> bool {
        let ask = self.open.get(&request).and_then(|open| self.ask_of(open.step));
        ask.is_some_and(|ask| ask.schema.is_some() || matches!(ask.split, Some(Split::JsonItems)))
    }

    /// The workflow whose step makes a request, and the values that its templates and expressions see there.
    pub fn asked_with(&self, request: u64) -> Option<(Arc<Workflow>, Value)> {
        let open = self.open.get(&request)?;
        let mut values = Map::new();
        let mut scope = open.step.scope;
        loop {
            let block = self.block(scope);
            let inner = &self.scopes[scope];
            let bindings = block.bindings.iter().zip(&inner.bindings);
            let steps = block.steps.iter().zip(&inner.slots).filter_map(|(step, slot)| match slot {
                Slot::Done(value) if !step.is_join() => Some((&step.name, value)),
                _ => None,
            });
            for (name, value) in bindings.chain(steps) {
                values.entry(name.clone()).or_insert_with(|| value.json().clone());
            }
            match inner.origin.filter(|_| inner.sees_around) {
                Some(origin) => scope = origin.step.scope,
                None => return Some((Arc::clone(&inner.workflow), Value::Object(values))),
            }
        }
    }

    /// The address, the sample and the attempt of a request, for its event.
    pub fn place_of(&self, request: u64) -> Option<(String, u32, u32)> {
        let open = self.open.get(&request)?;
        Some((self.address(open.step).to_string(), open.sample, open.attempt))
    }
}

/// # Errors
/// It is no list of messages.
fn read_messages(given: &Value) -> Result<Vec<Message>, String> {
    let items = given.as_array().ok_or("`messages` is no list")?;
    let messages = items.iter().enumerate().map(|(i, item)| read_message(&format!("messages[{i}]"), item));
    let messages: Vec<Message> = messages.collect::<Result<_, String>>()?;
    if messages.is_empty() { Err("`messages` is empty".to_owned()) } else { Ok(messages) }
}

/// A message as models with tools and conversations give it. `at`: its place, for errors.
fn read_message(at: &str, item: &Value) -> Result<Message, String> {
    let mut message = item.as_object().cloned().ok_or_else(|| format!("{at} is no message"))?;
    // A key without a value is a key that is not there. Replies that only call tools have no text, and often say so.
    message.retain(|_, value| !value.is_null());
    let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
    if !ROLES.contains(&role) {
        return Err(format!("{at} has no `role` of these: {}", ROLES.join(", ")));
    }
    if role == "assistant" && message.contains_key("tool_calls") {
        message.entry("content").or_insert_with(|| json!(""));
    }
    match message.get("content") {
        Some(Value::String(_)) => {}
        Some(Value::Array(_)) => return Err(format!("the `content` of {at} is a list of parts; only text is sent")),
        _ => return Err(format!("{at} has no text `content`")),
    }
    serde_json::from_value(Value::Object(message)).map_err(|error| format!("{at} is no message: {error}"))
}

#[cfg(test)]
mod tests {
    use domain::chat::ChatReply;
    use domain::seed::Seed;
    use domain::task::Resolution;

    use super::*;
    use crate::{DOCUMENT, FUNCTIONS, Files, Surroundings, compile};

    #[test]
    fn messages_are_read_as_models_and_conversations_give_them() {
        let call = json!({"id": "call_1", "type": "function", "function": {"name": "now", "arguments": "{}"}});
        let said = json!([
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u", "name": null},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "12:00"},
            {"role": "assistant", "content": "noon", "reasoning_content": "it is 12"},
        ]);
        let mut expected = said.clone();
        expected[1] = json!({"role": "user", "content": "u"});
        expected[2]["content"] = json!("");
        assert_eq!(json!(read_messages(&said).unwrap()), expected);
        let refused = |messages: Value| read_messages(&messages).unwrap_err();
        assert_eq!(refused(json!("x")), "`messages` is no list");
        assert_eq!(refused(json!([])), "`messages` is empty");
        assert_eq!(refused(json!(["x"])), "messages[0] is no message");
        let roles = "messages[0] has no `role` of these: system, user, assistant, tool";
        assert_eq!(refused(json!([{"content": "x"}])), roles);
        assert_eq!(refused(json!([{"role": "critic", "content": "x"}])), roles);
        assert_eq!(refused(json!([said[0], {"role": "user"}])), "messages[1] has no text `content`");
        let image = json!([{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]);
        let parts = "the `content` of messages[0] is a list of parts; only text is sent";
        assert_eq!(refused(json!([{"role": "user", "content": image}])), parts);
        let without_id = "messages[0] is no message: missing field `tool_call_id`";
        assert_eq!(refused(json!([{"role": "tool", "content": "x"}])), without_id);
    }

    #[test]
    fn a_request_counts_once() {
        let yaml = "
workflow: test
input: {a: text}
steps:
  all: {ask: {role: m, prompt: x, n: 2}}
  last: {ask: {role: m, prompt: '{{ all | length }}'}}
output: {last: last}
";
        let files = [(DOCUMENT, yaml), (FUNCTIONS, "")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        let workflow = compile("workflows/test", &Files::from(files), Surroundings::NONE).unwrap();
        let mut fold = Fold::begin(&Arc::new(workflow), &Map::new(), Seed::new(1, "test", 0));
        let mut answered = 0;
        loop {
            let Some(request) = fold.open_requests().next().map(|(request, _)| request) else { break };
            let reply = ChatReply { content: "yes".to_owned(), ..ChatReply::default() };
            fold.resolve(request, &Resolution::Reply(reply));
            answered += 1;
        }
        assert_eq!((answered, fold.requests, fold.bytes), (3, 3, 9));
    }
}
