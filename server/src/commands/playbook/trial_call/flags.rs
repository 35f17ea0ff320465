//! What the flags ask for, checked. Only the documents that the call needs are read, so that a playbook can be tried
//! before its scenarios are sound.

use std::sync::Arc;

use anyhow::bail;
use domain::Problem;
use domain::document;
use domain::problem::{did_you_mean, unknown};
use domain::scenario::Scenario;
use domain::untrusted;
use engine::playbook::{Sources, compile};
use engine::trial_call::Attempt;
use engine::{Judge, Playbook};
use serde_json::{Map, Value};

use super::TrialArgs;
use domain::bad_input::BadInput;
use projects::library::Files;

pub struct TrialPlan {
    pub attempt: Attempt,
    pub before: Vec<Call>,
    pub call: Call,
}

pub struct Call {
    pub tool: String,
    pub arguments: Map<String, Value>,
}

pub fn read(args: &TrialArgs) -> anyhow::Result<TrialPlan> {
    let files = Files::read(&args.project.folder)?;
    let playbook = playbook(&files, &args.playbook)?;
    let mut problems = Vec::new();
    let mut said = |flag: &str, message: String| problems.push(Problem::new(flag, 0, "", message));
    let call = call(&playbook, &args.tool, &args.args).map_err(|(at, why)| said(at, why)).ok();
    let mut before = Vec::new();
    for text in &args.before {
        let (tool, arguments) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        match self::call(&playbook, tool, arguments) {
            Ok(call) => before.push(call),
            Err((_, why)) => said("--before", why),
        }
    }
    let scenario = match &args.scenario {
        Some(id) => scenario(&files, &args.playbook, id).map_err(|own| problems.extend(own)).ok(),
        None => None,
    };
    let judge = judge(&files, &playbook).map_err(|own| problems.extend(own)).ok();
    match (call, judge) {
        (Some(call), Some(judge)) if problems.is_empty() => {
            Ok(TrialPlan { attempt: Attempt::new(playbook, Arc::new(judge), scenario), before, call })
        }
        _ => bail!(BadInput(problems)),
    }
}

fn playbook(files: &Files, name: &str) -> anyhow::Result<Playbook> {
    let all = files.folders("playbooks");
    if !all.iter().any(|known| known == name) {
        bail!(BadInput::one("--playbook", unknown("playbook", name, all.iter())));
    }
    let folder = format!("playbooks/{name}");
    let compiled = compile(&Sources { folder: &folder, files: &files.within(&folder) });
    Ok(compiled.map_err(BadInput)?)
}

/// A call of a tool that exists, with arguments that are an object. Whether they fit is the world's to say.
fn call(playbook: &Playbook, tool: &str, arguments: &str) -> Result<Call, (&'static str, String)> {
    let names = || playbook.spec.all_tools().map(|tool| tool.name.as_str());
    if playbook.tool(tool).is_none() {
        let known: Vec<&str> = names().collect();
        let hint = did_you_mean(tool, names());
        return Err(("TOOL", format!("there is no tool `{tool}`{hint}; known: {}", known.join(", "))));
    }
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    match untrusted::json(text) {
        Ok(Value::Object(arguments)) => Ok(Call { tool: tool.to_owned(), arguments }),
        Ok(_) => Err(("--args", format!("expected a JSON object such as {{\"id\": 1}}, found `{text}`"))),
        Err(e) => Err(("--args", format!("`{text}` is not JSON: {e}"))),
    }
}

fn scenario(files: &Files, playbook: &str, id: &str) -> Result<Arc<Scenario>, Vec<Problem>> {
    let mut known = Vec::new();
    for (path, text) in files.under("scenarios") {
        let named = |value: &Value| value.get("id").and_then(Value::as_str) == Some(id);
        match document::parse::<Scenario>(path, text) {
            Ok(scenario) if scenario.id == id && scenario.playbook == playbook => return Ok(Arc::new(scenario)),
            Ok(scenario) if scenario.id == id => {
                let message = format!("`{id}` belongs to the playbook `{}`", scenario.playbook);
                return Err(vec![Problem::new("--scenario", 0, "", message)]);
            }
            Ok(scenario) if scenario.playbook == playbook => known.push(scenario.id),
            Err(own) if document::value(path, text).is_ok_and(|located| named(&located.value)) => return Err(own),
            _ => {}
        }
    }
    Err(vec![Problem::new("--scenario", 0, "", unknown("scenario", id, known.iter()))])
}

fn judge(files: &Files, playbook: &Playbook) -> Result<Judge, Vec<Problem>> {
    let (all, name) = (files.folders("judges"), &playbook.spec.judge);
    if !all.contains(name) {
        let file = format!("playbooks/{}/playbook.yaml", playbook.spec.name);
        return Err(vec![Problem::new(file, 0, "judge", unknown("judge", name, all.iter()))]);
    }
    let folder = format!("judges/{name}");
    Judge::compile(&folder, &files.within(&folder))
}
