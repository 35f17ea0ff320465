//! The templates of tools that a model answers, rendered for calls that the tool's schema allows.

use std::collections::BTreeSet;

use domain::patch::{self, Patch};
use domain::problem::did_you_mean;
use serde_json::{Value, json};

use super::{Finding, Place, Severity, Start, samples};
use crate::playbook::{Playbook, Tool};
use crate::templates;
use crate::tools::authority;

pub fn check(playbook: &Playbook, starts: &[Start]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, tool) in playbook.tools.iter().enumerate() {
        let contexts: Vec<(String, Value)> = starts
            .iter()
            .flat_map(|start| {
                // A call that the tool's schema refuses renders nothing.
                let calls = samples::calls_on(tool, &start.world).into_iter();
                let calls = calls.filter(|arguments| tool.argument_faults(arguments).is_empty());
                calls.map(|arguments| context(playbook, tool, start, &arguments))
            })
            .collect();
        let fields = [
            ("template", &tool.spec.template, Severity::Error),
            ("scripted", &tool.spec.scripted, Severity::Warning),
            ("scripted_patch", &tool.spec.scripted_patch, Severity::Warning),
        ];
        for (field, template, severity) in fields {
            let Some(template) = template else { continue };
            let unseen = unseen(playbook, tool, template).into_iter();
            findings.extend(unseen.map(|message| Finding::warning(Place::tool(&playbook.spec, i, field), message)));
            let fault = contexts.iter().find_map(|(call, context)| {
                let fault = fault(playbook, field, template, context).err()?;
                Some(format!("`{template}` fails for {call}: {fault}"))
            });
            findings.extend(fault.map(|message| Finding {
                severity,
                place: Place::tool(&playbook.spec, i, field),
                message,
            }));
        }
    }
    findings
}

/// Names that a template uses and never sees. Rendering does not find them all: a filter takes what is undefined.
fn unseen(playbook: &Playbook, tool: &Tool, template: &str) -> Vec<String> {
    let arguments: BTreeSet<String> = tool.arguments.names().iter().cloned().collect();
    let places =
        tool.spec.reads.iter().chain(&tool.spec.writes).filter_map(|text| patch::segments(text)?.into_iter().next());
    let view: BTreeSet<String> = places.collect();
    let used = playbook.templates.get_template(template).map(|t| t.undeclared_variables(true)).unwrap_or_default();
    let mut messages = Vec::new();
    for name in used.into_iter().collect::<BTreeSet<_>>() {
        let Some((root, rest)) = name.split_once('.') else { continue };
        let key = rest.split('.').next().unwrap_or(rest);
        let known = match root {
            "arguments" if !tool.arguments.is_open() => &arguments,
            "view" if !view.contains("*") => &view,
            _ => continue,
        };
        if !known.contains(key) {
            let hint = did_you_mean(key, known.iter().map(String::as_str));
            messages.push(format!("`{template}` uses `{root}.{key}`, which it never sees{hint}"));
        }
    }
    messages
}

/// What the templates of a tool see when it is called so, and the call in words.
fn context(playbook: &Playbook, tool: &Tool, start: &Start, arguments: &Value) -> (String, Value) {
    let given = tool.complete(arguments.as_object().cloned().unwrap_or_default());
    let places: Vec<_> = tool.reads.iter().chain(&tool.writes).cloned().collect();
    let view = authority::view(&start.world, &places, &given);
    let mut context =
        json!({"view": view, "arguments": given, "tool": tool.spec.name, "now": start.now, "fresh_id": "new_1"});
    // The change is rendered from the answer.
    let answer = tool.spec.scripted.as_ref().and_then(|t| templates::render(&playbook.templates, t, &context).ok());
    context["response"] = answer.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null);
    (format!("{}({arguments}) in {}", tool.spec.name, start.name), context)
}

fn fault(playbook: &Playbook, field: &str, template: &str, context: &Value) -> Result<(), String> {
    let text = templates::render(&playbook.templates, template, context)?;
    match field {
        "scripted" => serde_json::from_str::<Value>(&text).map(drop).map_err(|e| format!("renders no JSON: {e}")),
        "scripted_patch" => {
            serde_json::from_str::<Patch>(&text).map(drop).map_err(|e| format!("renders no patch: {e}"))
        }
        _ => Ok(()),
    }
}
