//! Scenarios drafted by a model.

use domain::document;
use domain::message::Message;
use domain::playbook::{Simulate, Tool};
use domain::scenario::Scenario;
use serde_json::{Map, Value, json};

use super::{excerpt, expressions, reply};
use crate::playbook::Playbook;
use crate::templates;
use crate::templates::rfc3339;

const RULES: &str = include_str!("../prompts/author_scenario.md.j2");
const ORDER: &str = include_str!("../prompts/author_scenario_order.md.j2");

/// What a prompt has room for, in bytes. A model with a context of 32,000 tokens has room for all of it.
const WORLD: usize = 12_000;
const SCHEMA: usize = 16_000;
const CODE: usize = 36_000;
const EXAMPLE: usize = 8_000;
const KNOWN: usize = 200;

/// Longest texts, in letters. They stand in lists and are compared with all others.
const DESCRIPTION: usize = 300;
const GOAL: usize = 2_000;
/// Most steps of a script.
const STEPS: usize = 60;

/// What a scenario is drafted from.
pub struct Brief<'a> {
    pub playbook: &'a Playbook,
    /// The text of the playbook's functions; empty if it has none.
    pub code: &'a str,
    /// The persona profiles of the project.
    pub personas: Vec<&'a str>,
    pub intent: &'a str,
    /// What the author asks for, in words.
    pub words: &'a str,
    /// Texts of scenarios that show the form.
    pub examples: Vec<&'a str>,
    /// Descriptions of what is there already, the oldest first.
    pub known: Vec<&'a str>,
}

/// What the model is asked. The first message is the same for all scenarios of a playbook, so that servers can keep it.
pub fn question(brief: &Brief<'_>) -> Vec<Message> {
    vec![Message::System { content: rules(brief) }, Message::User { content: order(brief) }]
}

fn rules(brief: &Brief<'_>) -> String {
    let playbook = brief.playbook;
    let spec = &playbook.spec;
    let schema = document::text(&playbook.schema_json);
    let context = json!({
        "title": spec.title,
        "description": spec.description.trim(),
        "now": rfc3339(spec.clock),
        "policy": playbook.policy.trim(),
        "intents": spec.intents,
        "tools": spec.tools.iter().filter(|tool| tool.simulate != Simulate::Agent).map(tool).collect::<Vec<_>>(),
        "user_tools": spec.user_tools.iter().map(tool).collect::<Vec<_>>(),
        "schema": excerpt::text(&schema, SCHEMA),
        "world": excerpt::world(&playbook.base.to_json(), WORLD),
        "invariants": spec.world.invariants.iter().map(|rule| rule.message.trim()).collect::<Vec<_>>(),
        "code": if brief.code.len() <= CODE { brief.code.trim() } else { "" },
        "format": document::text(&document::schema::<Scenario>()),
        "personas": brief.personas,
    });
    builtin(RULES, &context)
}

fn tool(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description.trim(),
        "parameters": tool.parameters.to_string(),
        "ends": tool.simulate == Simulate::Terminal,
    })
}

fn order(brief: &Brief<'_>) -> String {
    let examples = brief.examples.iter().filter(|text| text.len() <= EXAMPLE).map(|text| text.trim());
    let known = &brief.known[brief.known.len().saturating_sub(KNOWN)..];
    let context = json!({
        "playbook": brief.playbook.spec.name,
        "intent": brief.intent,
        "brief": brief.words.trim(),
        "examples": examples.collect::<Vec<_>>(),
        "known": known.iter().map(|text| text.trim()).collect::<Vec<_>>(),
    });
    builtin(ORDER, &context)
}

/// Our own templates render; a test renders each.
fn builtin(source: &str, context: &Value) -> String {
    templates::render_text(source, context).unwrap_or_default()
}

/// The fields of a drafted scenario, fit to be written down and checked. Whose scenario it is, is not the model's to say.
///
/// # Errors
/// Why the reply is none, in words for the model.
pub fn read(reply: &str, playbook: &str, intent: &str) -> Result<Map<String, Value>, Vec<String>> {
    let mut fields = reply::document(reply).map_err(|reason| vec![reason])?;
    fields.insert("playbook".to_owned(), playbook.into());
    let mut reasons = Vec::new();
    if fields.get("intent").and_then(Value::as_str) != Some(intent) {
        reasons.push(format!("intent: expected `{intent}`"));
    }
    for (name, longest) in [("description", DESCRIPTION), ("user_goal", GOAL)] {
        let letters = fields.get(name).and_then(Value::as_str).map_or(0, |text| text.chars().count());
        if letters > longest {
            reasons.push(format!("{name}: is {letters} letters long; at most {longest}"));
        }
    }
    let script = fields.get("script").and_then(Value::as_array);
    if let Some(steps) = script.map(Vec::len).filter(|steps| *steps > STEPS) {
        reasons.push(format!("script: has {steps} steps; at most {STEPS}"));
    }
    let faults =
        script.into_iter().flatten().enumerate().flat_map(|(i, step)| {
            expressions::faults(step).into_iter().map(move |fault| format!("script[{i}]: {fault}"))
        });
    reasons.extend(faults);
    if reasons.is_empty() { Ok(fields) } else { Err(reasons) }
}

/// The name that a model gave a scenario, in the letters that ids have.
pub fn id(fields: &Map<String, Value>) -> String {
    let given = fields.get("id").and_then(Value::as_str).unwrap_or_default();
    let words = given.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let id = words.collect::<Vec<_>>().join("_").to_ascii_lowercase();
    let id = id.get(..LONGEST_ID).unwrap_or(&id).trim_end_matches('_');
    if id.is_empty() { "drafted".to_owned() } else { id.to_owned() }
}

/// With room for a number.
const LONGEST_ID: usize = 70;

#[cfg(test)]
mod tests;
