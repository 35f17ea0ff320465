//! Agents: which tools each may call, and that its prompt renders.

use domain::playbook::{Playbook as Spec, Simulate, Tool as ToolSpec};
use domain::problem::did_you_mean;
use serde_json::{Value, json};

use super::Compiler;
use crate::playbook::Playbook;
use crate::playbook::agents::Agent;
use crate::templates::rfc3339;

/// What every sub-agent is called with.
fn task() -> Value {
    json!({
        "type": "object",
        "properties": {"task": {"type": "string", "description": "What to do, with all that must be known to do it."}},
        "required": ["task"],
        "additionalProperties": false,
    })
}

impl Compiler<'_> {
    /// Fills in what authors leave out, and checks every list of tools.
    pub(super) fn agents(&mut self, spec: &mut Spec) {
        for i in 0..spec.tools.len() {
            if spec.tools[i].simulate == Simulate::Agent {
                self.sub_agent(i, &mut spec.tools);
            }
        }
        if spec.uses.is_empty() {
            let own = spec.tools.iter().filter(|tool| spec.offers(tool));
            spec.uses = own.map(|tool| tool.name.clone()).collect();
        }
        self.offered("/uses", &spec.uses, spec);
        for (i, variant) in spec.variants.iter().enumerate() {
            self.offered(&format!("/variants/{i}/uses"), &variant.uses, spec);
            if spec.variants.iter().take(i).any(|other| other.name == variant.name) {
                self.problem(&format!("/variants/{i}/name"), format!("`{}` is defined twice", variant.name));
            }
        }
        for (i, tool) in spec.tools.iter().enumerate() {
            self.offered(&format!("/tools/{i}/uses"), &tool.uses, spec);
        }
        for (i, tool) in spec.user_tools.iter().enumerate() {
            if matches!(tool.simulate, Simulate::Agent | Simulate::Terminal) {
                let message = "a user's tool is simulated by `code`, `model` or `constant`";
                self.problem(&format!("/user_tools/{i}/simulate"), message);
            }
        }
    }

    fn sub_agent(&mut self, i: usize, tools: &mut [ToolSpec]) {
        if !tools[i].parameters.is_null() {
            let message = "a sub-agent has one argument, its `task`: leave `parameters` out";
            self.problem(&format!("/tools/{i}/parameters"), message);
        }
        tools[i].parameters = task();
        for (j, name) in tools[i].uses.clone().iter().enumerate() {
            if tools.iter().any(|tool| tool.name == *name && tool.simulate == Simulate::Terminal) {
                let message = format!("`{name}` ends the conversation, and only the agent under test may do that");
                self.problem(&format!("/tools/{i}/uses/{j}"), message);
            }
        }
    }

    fn offered(&mut self, pointer: &str, names: &[String], spec: &Spec) {
        for (i, name) in names.iter().enumerate() {
            if spec.tools.iter().any(|tool| tool.name == *name) {
                continue;
            }
            let message = if spec.user_tools.iter().any(|tool| tool.name == *name) {
                format!("`{name}` is a tool of the user")
            } else {
                let hint = did_you_mean(name, spec.tools.iter().map(|tool| tool.name.as_str()));
                format!("the playbook has no tool `{name}`{hint}")
            };
            self.problem(&format!("{pointer}/{i}"), message);
        }
    }

    /// Every prompt is rendered once, so that it can be later.
    pub(super) fn prompts(&mut self, playbook: &Playbook) {
        let spec = &playbook.spec;
        let own = Some(("/prompt".to_owned(), playbook.agent(None)));
        let variants = spec.variants.iter().enumerate();
        let variants = variants.map(|(i, v)| (format!("/variants/{i}/prompt"), playbook.agent(Some(&v.name))));
        let subs = spec.tools.iter().enumerate().filter_map(|(i, tool)| {
            let prompt = tool.prompt.as_deref()?;
            Some((format!("/tools/{i}/prompt"), Agent { prompt, uses: &tool.uses }))
        });
        let all: Vec<(String, Agent<'_>)> = own.into_iter().chain(variants).chain(subs).collect();
        for (pointer, agent) in all {
            if let Err(e) = playbook.system_prompt(agent, &rfc3339(spec.clock)) {
                self.in_template(&pointer, agent.prompt, &format!("does not render: {e}"));
            }
        }
    }
}
