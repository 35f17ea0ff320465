//! The prose of a sub-agent, written by a model: its prompt, and what the models are told that answer its tools.

use std::collections::BTreeMap;

use domain::message::Message;
use domain::problem::did_you_mean;
use domain::sub_agent::SubAgent;
use serde_json::{Value, json};

use super::reply;
use crate::playbook::Playbook;
use crate::templates;

const PROMPT: &str = include_str!("../prompts/author_sub_agent.md.j2");

/// Longest text, in letters.
const LONGEST: usize = 6_000;

/// Texts, never templates: whoever puts them in one escapes them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prose {
    pub prompt: String,
    /// By the name of the tool.
    pub capabilities: BTreeMap<String, String>,
}

pub fn question(spec: &SubAgent, playbook: &Playbook) -> Vec<Message> {
    let tools: Vec<Value> = spec
        .capabilities
        .iter()
        .map(|tool| {
            json!({"name": tool.name, "kind": tool.kind, "record": tool.record, "description": tool.description.trim()})
        })
        .collect();
    let context = json!({
        "title": playbook.spec.title,
        "description": playbook.spec.description.trim(),
        "policy": playbook.policy.trim(),
        "name": spec.name,
        "about": spec.description.trim(),
        "scope": spec.scope.trim(),
        "constraints": spec.constraints,
        "tools": tools,
    });
    vec![Message::User { content: templates::render_text(PROMPT, &context).unwrap_or_default() }]
}

/// # Errors
/// Why the reply cannot be used, in words for the model.
pub fn read(reply: &str, spec: &SubAgent) -> Result<Prose, Vec<String>> {
    let fields = reply::document(reply).map_err(|reason| vec![reason])?;
    let mut reasons = Vec::new();
    let mut known = vec!["prompt", "capabilities"];
    unknown(fields.keys(), &known, &mut reasons);
    let prompt = text("prompt", fields.get("prompt"), &mut reasons);
    known = spec.capabilities.iter().map(|tool| tool.name.as_str()).collect();
    let given = fields.get("capabilities").and_then(Value::as_object).cloned().unwrap_or_default();
    unknown(given.keys(), &known, &mut reasons);
    let capabilities = known.iter().map(|name| {
        let said = text(&format!("capabilities.{name}"), given.get(*name), &mut reasons);
        ((*name).to_owned(), said)
    });
    let prose = Prose { prompt, capabilities: capabilities.collect() };
    let silent = known.iter().filter(|name| !prose.prompt.contains(*name));
    reasons.extend(silent.map(|name| format!("prompt: does not say when `{name}` is called")));
    if reasons.is_empty() { Ok(prose) } else { Err(reasons) }
}

fn unknown<'a>(given: impl Iterator<Item = &'a String>, known: &[&str], reasons: &mut Vec<String>) {
    for name in given.filter(|name| !known.contains(&name.as_str())) {
        let hint = did_you_mean(name, known.iter().copied());
        reasons.push(format!("`{name}` is not asked for{hint}"));
    }
}

fn text(field: &str, value: Option<&Value>, reasons: &mut Vec<String>) -> String {
    let text = value.and_then(Value::as_str).map_or("", str::trim);
    let letters = text.chars().count();
    if text.is_empty() {
        reasons.push(format!("{field}: is missing or no text"));
    } else if letters > LONGEST {
        reasons.push(format!("{field}: is {letters} letters long; at most {LONGEST}"));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests;
