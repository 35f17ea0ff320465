//! The asks: what each role sees.

use domain::message::Message;
use domain::playbook::AgentStyle;
use domain::role::Role;
use serde_json::{Map, Value, json};

use super::{Conversation, Phase};
use crate::chat::{Ask, ReplySchema};
use crate::playbook::Tool;
use crate::tools::authority;
use crate::{react, templates};

const SIMULATED_USER: &str = include_str!("../prompts/simulated_user.md.j2");
const TOOL_SIMULATOR: &str = include_str!("../prompts/tool_simulator.md.j2");
const STATE_MANAGER: &str = include_str!("../prompts/state_manager.md.j2");

impl Conversation {
    fn ask(&self, role: Role, messages: Vec<Message>) -> Ask {
        Ask {
            role,
            messages: self.with_refusals(messages),
            tools: Vec::new(),
            schema: None,
            temperature: role.default_temperature(),
            max_tokens: role.default_max_tokens(),
            seed: self.case.seed.sampling(&format!("{role} {}", self.state.next_seq)),
        }
    }

    /// What was refused here, and why, so that the next reply is better.
    fn with_refusals(&self, mut messages: Vec<Message>) -> Vec<Message> {
        for (reply, reason) in &self.state.refused {
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

    pub(super) fn ask_user(&self) -> Ask {
        let facts: Vec<Value> = self
            .case
            .scenario
            .user_knowledge()
            .map(|(name, value)| json!({"name": name.replace('_', " "), "value": value}))
            .collect();
        let prompt = builtin(
            SIMULATED_USER,
            &json!({"goal": self.case.scenario.user_goal, "facts": facts, "guidance": self.case.guidance, "complexity": self.case.complexity_guidance}),
        );
        let mut messages = vec![
            Message::System { content: prompt },
            Message::User { content: "(You are connected to support. Write your first message.)".into() },
        ];
        // The user's words are this model's own; the agent's are what it answers to.
        messages.extend(self.state.messages.iter().filter_map(|message| match message {
            Message::User { content } => {
                Some(Message::Assistant { content: content.clone(), reasoning_content: None, tool_calls: Vec::new() })
            }
            Message::Assistant { content, .. } if !content.is_empty() => {
                Some(Message::User { content: content.clone() })
            }
            _ => None,
        }));
        self.ask(Role::SimulatedUser, messages)
    }

    /// The agent's system prompt, as it is exported.
    pub(super) fn system_prompt(&self) -> String {
        // It was rendered once when the playbook was compiled.
        self.case.playbook.system_prompt(&self.case.now()).unwrap_or_default()
    }

    pub(super) fn ask_agent(&self) -> Ask {
        let functions = self.case.playbook.functions();
        let mut prompt = self.system_prompt();
        let history = match self.case.agent_style {
            AgentStyle::FunctionCalling => self.state.messages.clone(),
            AgentStyle::React => {
                prompt.push_str(&react::instructions(&functions));
                react::history(&self.state.messages)
            }
        };
        let mut messages = vec![Message::System { content: prompt }];
        messages.extend(history);
        let mut ask = self.ask(Role::Agent, messages);
        if self.case.agent_style == AgentStyle::FunctionCalling {
            ask.tools = functions;
        }
        ask
    }

    /// What a tool may see: what it reads and what it writes.
    pub(crate) fn view(&self, tool: &Tool, arguments: &Map<String, Value>) -> Value {
        let places: Vec<_> = tool.reads.iter().chain(&tool.writes).cloned().collect();
        authority::view(self.world_for(tool), &places, arguments)
    }

    /// # Errors
    /// The tool's own template does not render for this call.
    pub(super) fn ask_tool_simulator(&self, tool: &Tool, arguments: &Map<String, Value>) -> Result<Ask, String> {
        let view = self.view(tool, arguments);
        let now = self.case.now();
        let template = tool.spec.template.as_deref().unwrap_or_default();
        let capability = templates::render(
            &self.case.playbook.templates,
            template,
            &json!({"view": view, "arguments": arguments, "tool": tool.spec.name, "now": now}),
        )?;
        let ids = if tool.writes.is_empty() { Vec::new() } else { self.offered_ids(tool) };
        let returns = tool.spec.returns.clone().unwrap_or_else(|| json!({}));
        let prompt = builtin(
            TOOL_SIMULATOR,
            &json!({"tool": tool.spec.name, "capability": capability, "now": now, "ids": ids, "view": pretty(&view), "arguments": Value::Object(arguments.clone()).to_string(), "schema": returns.to_string()}),
        );
        let mut ask = self.ask(Role::ToolSimulator, vec![Message::User { content: prompt }]);
        ask.schema = Some(ReplySchema { name: format!("{}_response", tool.spec.name), schema: returns });
        Ok(ask)
    }

    pub(super) fn ask_state_manager(&self, response: &Value) -> Ask {
        let call = self.state.pending.front();
        let arguments = call.and_then(|c| c.arguments().ok()).and_then(|v| v.as_object().cloned()).unwrap_or_default();
        let Some(tool) = call.and_then(|c| self.case.playbook.tool(c.name())) else {
            return self.ask(Role::StateManager, Vec::new());
        };
        let prompt = builtin(
            STATE_MANAGER,
            &json!({"tool": tool.spec.name, "arguments": Value::Object(arguments.clone()).to_string(), "response": response.to_string(), "view": pretty(&self.view(tool, &arguments)), "writes": tool.spec.writes, "ids": self.offered_ids(tool), "now": self.case.now()}),
        );
        let mut ask = self.ask(Role::StateManager, vec![Message::User { content: prompt }]);
        let patch = schemars::schema_for!(domain::patch::Patch).to_value();
        let schema = json!({
            "type": "object", "required": ["patch"], "additionalProperties": false,
            "properties": {"patch": {"type": "array", "items": patch["items"]}}, "$defs": patch["$defs"],
        });
        ask.schema = Some(ReplySchema { name: "patch".into(), schema });
        ask
    }

    /// # Errors
    /// The judge's own template does not render for this conversation.
    pub(super) fn ask_judge(&self) -> Result<Ask, String> {
        let scenario = &self.case.scenario;
        let judge = &self.case.judge;
        let prompt = judge.prompt(
            &json!({"criteria": judge.spec.criteria, "transcript": self.readable(), "scenario": json!({
                "id": scenario.id, "intent": scenario.intent, "description": scenario.description,
                "user_goal": scenario.user_goal,
            }), "expected": pretty(&json!(scenario.expected_outcome)), "persona": self.case.guidance.join("\n")}),
        )?;
        let mut ask = self.ask(Role::Judge, vec![Message::User { content: prompt }]);
        ask.schema = Some(ReplySchema { name: "verdict".into(), schema: judge.reply_schema() });
        Ok(ask)
    }

    /// The transcript as text, reasoning and calls included.
    fn readable(&self) -> String {
        let mut parts = Vec::new();
        for message in self.transcript() {
            match message {
                Message::System { content } => parts.push(format!("[system]\n{content}")),
                Message::User { content } => parts.push(format!("[user]\n{content}")),
                Message::Tool { tool_call_id, content } => parts.push(format!("[tool {tool_call_id}]\n{content}")),
                Message::Assistant { content, reasoning_content, tool_calls } => {
                    parts.extend(reasoning_content.map(|text| format!("[agent, reasoning]\n{text}")));
                    if !content.is_empty() {
                        parts.push(format!("[agent]\n{content}"));
                    }
                    parts.extend(
                        tool_calls.iter().map(|call| {
                            format!("[agent calls {}] {}({})", call.id, call.name(), call.function.arguments)
                        }),
                    );
                }
            }
        }
        if let (Phase::Judge, Some(ending)) = (&self.state.phase, &self.state.ending) {
            parts.push(format!("[the conversation ended: {}]", ending.as_str()));
        }
        parts.join("\n\n")
    }
}

/// Renders one of the engine's own prompts; a test renders them all.
fn builtin(source: &str, context: &Value) -> String {
    templates::render_text(source, context).unwrap_or_default()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
