//! The agents of a playbook: the one under test, its variants, and sub-agents, which are tools of other agents.

use std::collections::HashSet;
use std::sync::Arc;

use domain::transcript::Caller;
use serde_json::{Value, json};

use super::Playbook;
use crate::templates;
use crate::tools::grounding::SourceIndex;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agent<'a> {
    /// File of the system prompt.
    pub prompt: &'a str,
    /// Names of the tools that it may call.
    pub uses: &'a [String],
}

/// What an agent is told before the conversation begins.
pub struct Instructions {
    pub text: String,
    pub heard: Arc<SourceIndex>,
}

/// Moments for which instructions are kept. Scenarios may each have a clock of their own.
const MOST_MOMENTS: usize = 256;

impl Playbook {
    /// The agent under test: the playbook's own, or a variant.
    pub fn agent(&self, variant: Option<&str>) -> Agent<'_> {
        let variant = variant.and_then(|name| self.spec.variants.iter().find(|v| v.name == name));
        variant.map_or(Agent { prompt: &self.spec.prompt, uses: &self.spec.uses }, |variant| Agent {
            prompt: &variant.prompt,
            uses: &variant.uses,
        })
    }

    /// The sub-agent that a tool is.
    pub fn sub_agent(&self, tool: &str) -> Option<Agent<'_>> {
        let spec = &self.tool(tool)?.spec;
        Some(Agent { prompt: spec.prompt.as_deref()?, uses: &spec.uses })
    }

    /// The agent behind a caller; `None` for the user.
    pub fn who_calls(&self, caller: &Caller, variant: Option<&str>) -> Option<Agent<'_>> {
        match caller {
            Caller::Agent => Some(self.agent(variant)),
            Caller::SubAgent { name, .. } => self.sub_agent(name),
            Caller::User => None,
        }
    }

    pub fn sub_agents(&self) -> impl Iterator<Item = &str> {
        self.spec.tools.iter().filter(|tool| tool.prompt.is_some()).map(|tool| tool.name.as_str())
    }

    /// `OpenAI` descriptions of an agent's tools, in the order of the playbook.
    pub fn functions(&self, agent: Agent<'_>) -> Vec<Arc<Value>> {
        let used = self.tools.iter().filter(|tool| agent.uses.contains(&tool.spec.name));
        used.map(|tool| Arc::clone(&tool.function)).collect()
    }

    /// `OpenAI` descriptions of what the simulated user can do.
    pub fn user_functions(&self) -> Vec<Arc<Value>> {
        let tools = self.spec.user_tools.iter().filter_map(|tool| self.tool(&tool.name));
        tools.map(|tool| Arc::clone(&tool.function)).collect()
    }

    /// An agent's system prompt, and what may be said because it says it. Made once for each moment: all conversations
    /// of a run share it.
    ///
    /// # Errors
    /// The template does not render.
    pub fn instructions(&self, agent: Agent<'_>, now: &str) -> Result<Arc<Instructions>, String> {
        let key = format!("{}\n{now}\n{}", agent.prompt, agent.uses.join("\n"));
        let mut known = self.instructions.lock();
        if let Some(found) = known.get(&key) {
            return Ok(Arc::clone(found));
        }
        let text = self.system_prompt(agent, now)?;
        let mut heard = SourceIndex::default();
        heard.hear("the clock", now);
        heard.hear("its instructions", &text);
        heard.hear("its tools", &json!(self.functions(agent)).to_string());
        let made = Arc::new(Instructions { text, heard: Arc::new(heard) });
        if known.len() >= MOST_MOMENTS {
            known.clear();
        }
        known.insert(key, Arc::clone(&made));
        Ok(made)
    }

    pub(super) fn system_prompt(&self, agent: Agent<'_>, now: &str) -> Result<String, String> {
        let used = self.spec.tools.iter().filter(|tool| agent.uses.contains(&tool.name));
        let tools: Vec<Value> = used.map(|t| json!({"name": t.name, "description": t.description})).collect();
        let context = json!({"tools": tools, "guardrails": self.spec.guardrails, "policy": self.policy, "now": now});
        Ok(templates::render(&self.templates, agent.prompt, &context)?.trim().to_owned())
    }

    /// By which of its tools an agent gets a call made: the tool itself, or the first sub-agent that leads there.
    pub fn route<'a>(&'a self, agent: Agent<'a>, tool: &str) -> Option<&'a str> {
        self.route_past(agent, tool, &mut HashSet::new())
    }

    fn route_past<'a>(&'a self, agent: Agent<'a>, tool: &str, seen: &mut HashSet<&'a str>) -> Option<&'a str> {
        if let Some(own) = agent.uses.iter().find(|name| *name == tool) {
            return Some(own);
        }
        let mut leads = |name: &'a str| {
            let sub = self.sub_agent(name).filter(|_| seen.insert(name));
            sub.is_some_and(|sub| self.route_past(sub, tool, seen).is_some())
        };
        agent.uses.iter().map(String::as_str).find(|name| leads(name))
    }
}
