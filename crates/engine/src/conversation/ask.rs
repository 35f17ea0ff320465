//! The asks: what each role sees.

use domain::message::Message;
use domain::playbook::{AgentStyle, UserStyle};
use domain::role::Role;
use domain::transcript::{Frame, Refusal};
use serde_json::{Map, Value, json};

use super::Conversation;
use super::tool::json_arguments;
use crate::boundary::boundary;
use crate::playbook::Tool;
use crate::tools::authority;
use crate::{json_turn, react, templates, user_gate};
use domain::chat::{ChatRequest, ReplySchema};

const SIMULATED_USER: &str = include_str!("../prompts/simulated_user.md.j2");
const TOOL_SIMULATOR: &str = include_str!("../prompts/tool_simulator.md.j2");
const STATE_MANAGER: &str = include_str!("../prompts/state_manager.md.j2");

impl Conversation {
    fn asked_of(&self, role: Role, messages: Vec<Message>) -> ChatRequest {
        self.asked_at(role, &self.state.transcript.next_seq.to_string(), messages)
    }

    /// `place`: what the sampling seed is drawn for, besides the role.
    fn asked_at(&self, role: Role, place: &str, messages: Vec<Message>) -> ChatRequest {
        ChatRequest {
            role: role.into(),
            messages: self.with_refusals(messages),
            tools: Vec::new(),
            schema: None,
            temperature: role.default_temperature(),
            max_tokens: role.default_max_tokens(),
            seed: self.case.sampling(role, place),
        }
    }

    /// What was refused here, and why, so that the next reply is better.
    fn with_refusals(&self, mut messages: Vec<Message>) -> Vec<Message> {
        for Refusal { reply, reason, .. } in self.state.transcript.refused() {
            if !reply.is_empty() {
                messages.push(Message::Assistant {
                    content: reply.clone(),
                    reasoning_content: None,
                    tool_calls: Vec::new(),
                });
            }
            messages.push(Message::User { content: format!("That was refused: {reason}. Try again.") });
        }
        messages
    }

    pub(super) fn ask_user(&self) -> ChatRequest {
        let facts: Vec<Value> = self
            .case
            .scenario
            .user_knowledge()
            .map(|(name, value)| json!({"name": name.replace('_', " "), "value": value}))
            .collect();
        let tier = self.case.speech.tier.as_ref();
        let complexity = tier.map(|tier| tier.guidance.trim());
        let words = tier.map(|tier| tier.words);
        let prompt = builtin(
            SIMULATED_USER,
            &json!({"goal": self.case.scenario.user_goal, "facts": facts, "guidance": self.case.guidance, "complexity": complexity, "words": words, "json": self.case.user_style == UserStyle::Json, "tools": !self.case.playbook.spec.user_tools.is_empty()}),
        );
        let mut messages = vec![
            Message::System { content: prompt },
            Message::User { content: "(You are connected to support. Write your first message.)".into() },
        ];
        let in_json = self.case.user_style == UserStyle::Json;
        let as_written = |message: &Message| match message {
            Message::Assistant { content, tool_calls, .. } if in_json && tool_calls.is_empty() => Message::Assistant {
                content: json_turn::write_user(content, false),
                reasoning_content: None,
                tool_calls: Vec::new(),
            },
            other => other.clone(),
        };
        messages.extend(self.state.transcript.user.messages.iter().map(as_written));
        let mut ask = self.asked_of(Role::SimulatedUser, messages);
        ask.schema = in_json.then(|| {
            json_turn::user_schema(
                user_gate::words(&self.case, &self.state),
                user_gate::may_end(&self.case, &self.state),
            )
        });
        ask.tools = self.case.playbook.user_functions();
        ask
    }

    /// An agent's system prompt, as it is exported.
    pub(super) fn system_prompt(&self, frame: &Frame) -> String {
        let told = self.agent(frame).and_then(|a| self.case.playbook.instructions(a, &self.case.now()).ok());
        // It was rendered once when the playbook was compiled.
        told.map(|told| told.text.clone()).unwrap_or_default()
    }

    pub(super) fn ask_agent(&self) -> ChatRequest {
        let frame = self.state.acting();
        let functions = self.functions(frame);
        let mut prompt = self.system_prompt(frame);
        let history = match self.case.agent_style {
            AgentStyle::FunctionCalling => frame.messages.clone(),
            AgentStyle::React => {
                prompt.push_str(&react::instructions(&functions));
                react::history(&frame.messages, react::write)
            }
            AgentStyle::Json => {
                prompt.push_str(&json_turn::instructions(&functions));
                react::history(&frame.messages, json_turn::write)
            }
        };
        let mut messages = vec![Message::System { content: prompt }];
        messages.extend(history);
        let mut ask = self.asked_of(Role::Agent, messages);
        match self.case.agent_style {
            AgentStyle::FunctionCalling => ask.tools = functions,
            AgentStyle::Json => ask.schema = Some(json_turn::schema(&functions)),
            AgentStyle::React => {}
        }
        ask
    }

    /// What a tool may see: what it reads and what it writes.
    pub(crate) fn view(&self, tool: &Tool, arguments: &Map<String, Value>) -> Value {
        let places: Vec<_> = tool.reads.iter().chain(&tool.writes).cloned().collect();
        authority::view(self.world_for(tool), &places, arguments)
    }

    /// What the tool does, in its playbook's words.
    ///
    /// # Errors
    /// The tool's own template does not render for this call.
    pub(super) fn capability(&self, tool: &Tool, arguments: &Map<String, Value>) -> Result<String, String> {
        let (view, now) = (self.view(tool, arguments), self.case.now());
        let context = json!({"view": view, "arguments": arguments, "tool": tool.spec.name, "now": now});
        let template = tool.spec.template.as_deref().unwrap_or_default();
        templates::render(&self.case.playbook.templates, template, &context)
    }

    /// # Errors
    /// As [`capability`](Self::capability).
    pub(super) fn ask_tool_simulator(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
        call: &str,
    ) -> Result<ChatRequest, String> {
        let view = self.view(tool, arguments);
        let now = self.case.now();
        let capability = self.capability(tool, arguments)?;
        let ids = if tool.writes.is_empty() { Vec::new() } else { self.offered_ids(tool) };
        let returns = tool.spec.returns.clone().unwrap_or_else(|| json!({}));
        let prompt = builtin(
            TOOL_SIMULATOR,
            &json!({"tool": tool.spec.name, "capability": capability, "now": now, "ids": ids, "view": pretty(&view), "arguments": Value::Object(arguments.clone()).to_string(), "schema": returns.to_string()}),
        );
        // Not by the number of the event: calls that only read may be asked before their turn.
        let place = format!("{call} {}", self.state.transcript.refused().len());
        let mut ask = self.asked_at(Role::ToolSimulator, &place, vec![Message::User { content: prompt }]);
        ask.schema = Some(ReplySchema { name: format!("{}_response", tool.spec.name), schema: returns });
        Ok(ask)
    }

    pub(super) fn ask_state_manager(&self, response: &Value) -> ChatRequest {
        let call = self.state.acting().pending.front();
        let arguments = call.map(json_arguments).unwrap_or_default();
        let Some(tool) = call.and_then(|c| self.case.playbook.tool(c.name())) else {
            return self.asked_of(Role::StateManager, Vec::new());
        };
        let prompt = builtin(
            STATE_MANAGER,
            &json!({"tool": tool.spec.name, "arguments": Value::Object(arguments.clone()).to_string(), "response": response.to_string(), "view": pretty(&self.view(tool, &arguments)), "writes": tool.spec.writes, "ids": self.offered_ids(tool), "now": self.case.now()}),
        );
        let mut ask = self.asked_of(Role::StateManager, vec![Message::User { content: prompt }]);
        let patch = schemars::schema_for!(domain::patch::Patch).to_value();
        let schema = json!({
            "type": "object", "required": ["patch"], "additionalProperties": false,
            "properties": {"patch": {"type": "array", "items": patch["items"]}}, "$defs": patch["$defs"],
        });
        ask.schema = Some(ReplySchema { name: "patch".into(), schema });
        ask
    }

    /// The case as judges read it, beside the conversation.
    fn judged_case(&self) -> Value {
        let scenario = &self.case.scenario;
        json!({
            "id": scenario.id, "intent": scenario.intent, "what_happens": scenario.description,
            "user_goal": scenario.user_goal, "user_guidance": self.case.guidance,
            "expected_outcome": scenario.expected_outcome,
        })
    }

    /// # Errors
    /// The judge's own template does not render for this conversation.
    pub(super) fn ask_judge(&self, number: usize) -> Result<ChatRequest, String> {
        let judge = &self.case.judge;
        let (case, transcript) = (pretty(&self.judged_case()), self.readable());
        let scenario = &self.case.scenario;
        let prompt = judge.prompt(&json!({
            "criteria": judge.spec.criteria,
            "boundary": boundary(&self.case.seed.text(), &[&case, &transcript]),
            "case": case, "transcript": transcript,
            "scenario": {
                "id": scenario.id, "intent": scenario.intent, "description": scenario.description,
                "user_goal": scenario.user_goal,
            },
            "expected": pretty(&json!(scenario.expected_outcome)), "persona": pretty(&json!(self.case.guidance)),
        }))?;
        let place = format!("{number} {}", self.state.transcript.refused().len());
        let mut ask = self.asked_at(Role::Judge, &place, vec![Message::User { content: prompt }]);
        ask.schema = Some(ReplySchema { name: "verdict".into(), schema: judge.reply_schema() });
        Ok(ask)
    }
}

/// Renders one of the engine's own prompts; a test renders them all.
fn builtin(source: &str, context: &Value) -> String {
    templates::render_text(source, context).unwrap_or_default()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
