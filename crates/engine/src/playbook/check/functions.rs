//! The code against what the tools declare: arguments are given by name, so a name that differs breaks the call.

use std::collections::BTreeSet;

use domain::playbook::Simulate;
use domain::problem::did_you_mean;

use super::{Finding, Place, Severity};
use crate::playbook::{Playbook, Tool};
use crate::tools::code::signature::{Parameter, Signature};

pub fn check(playbook: &Playbook) -> Vec<Finding> {
    let functions = playbook.code.functions();
    let mut findings = Vec::new();
    for (i, tool) in by_code(playbook) {
        match playbook.code.signature(&tool.spec.name) {
            Some(signature) => findings.extend(parameters(&signature, tool)),
            None => {
                findings.push(Finding::error(
                    Place::tool(&playbook.spec, i, "simulate"),
                    format!("`{}` is no function", tool.spec.name),
                ));
            }
        }
    }
    findings.extend(hook(playbook));
    let undeclared = functions.iter().filter(|(name, signature)| {
        let hook = playbook.spec.after_call.as_ref().is_some_and(|hook| hook.function == **name);
        looks_like_a_tool(signature) && !hook && by_code(playbook).all(|(_, tool)| tool.spec.name != *name)
    });
    findings.extend(undeclared.map(|(name, _)| {
        let hint = did_you_mean(name, playbook.spec.all_tools().map(|tool| tool.name.as_str()));
        let message = format!(
            "looks like a tool, but no tool with `simulate: code` has this name{hint}; begin a helper's name with `_`"
        );
        Finding::warning(Place::Function(name.clone()), message)
    }));
    findings
}

/// The tools whose functions take what they are called with. None, if the hook does not: it runs after each of them.
pub fn callable<'a>(playbook: &'a Playbook, findings: &[Finding]) -> BTreeSet<&'a str> {
    let is_wrong = |place: &Place| findings.iter().any(|f| f.severity == Severity::Error && f.place == *place);
    let of_function = |name: &str| is_wrong(&Place::Function(name.to_owned()));
    let hook = playbook.spec.after_call.as_ref();
    if hook.is_some_and(|hook| of_function(&hook.function) || is_wrong(&hook_place())) {
        return BTreeSet::new();
    }
    let right = by_code(playbook)
        .filter(|(i, tool)| !of_function(&tool.spec.name) && !is_wrong(&Place::tool(&playbook.spec, *i, "simulate")));
    right.map(|(_, tool)| tool.spec.name.as_str()).collect()
}

fn by_code(playbook: &Playbook) -> impl Iterator<Item = (usize, &Tool)> {
    playbook.tools.iter().enumerate().filter(|(_, tool)| tool.simulate() == Simulate::Code)
}

fn looks_like_a_tool(signature: &Signature) -> bool {
    let first: Vec<&str> = signature.placed.iter().take(2).map(|parameter| parameter.name.as_str()).collect();
    first == ["world", "ctx"]
}

/// The function must take what the tool declares, and can need nothing else.
fn parameters(signature: &Signature, tool: &Tool) -> Vec<Finding> {
    let here = || Place::Function(tool.spec.name.clone());
    if signature.placed.len() < 2 && !signature.any_placed {
        return vec![Finding::error(
            here(),
            "must take the world and the context first: `(world, ctx, ...)`".to_owned(),
        )];
    }
    let declared = tool.arguments.names();
    let own: Vec<&Parameter> = signature.placed.iter().skip(2).chain(&signature.named).collect();
    let mut findings = Vec::new();
    for parameter in &own {
        let known = declared.contains(&parameter.name);
        findings.extend(match (known, parameter.required) {
            (false, true) => {
                Some(Finding::error(here(), format!("needs `{}`, {}", parameter.name, unknown(parameter, declared))))
            }
            (false, false) => {
                Some(Finding::warning(here(), format!("takes `{}`, {}", parameter.name, unknown(parameter, declared))))
            }
            (true, true) if !tool.arguments.is_always_there(&parameter.name) => Some(Finding::error(
                here(),
                format!("needs `{0}`, which callers may leave out: give it a default (`{0} = None`)", parameter.name),
            )),
            (true, _) => None,
        });
    }
    let missing = declared.iter().filter(|key| !signature.any_named && own.iter().all(|own| own.name != **key));
    if tool.arguments.is_open() && !signature.any_named {
        let message =
            "does not take the further arguments that `parameters` allows, so that such a call breaks: take `**rest`";
        findings.push(Finding::warning(here(), message.to_owned()));
    }
    findings
        .extend(missing.map(|key| Finding::error(here(), format!("does not take `{key}`, which the tool declares"))));
    findings
}

fn unknown(parameter: &Parameter, declared: &[String]) -> String {
    let hint = did_you_mean(&parameter.name, declared.iter().map(String::as_str));
    format!("which the tool does not declare{hint}")
}

/// The hook is called with four values by place.
fn hook(playbook: &Playbook) -> Option<Finding> {
    let name = &playbook.spec.after_call.as_ref()?.function;
    let Some(signature) = playbook.code.signature(name) else {
        return Some(Finding::error(hook_place(), format!("`{name}` is no function")));
    };
    let needed = signature.placed.iter().filter(|parameter| parameter.required).count();
    let takes = signature.placed.len() >= 4 || signature.any_placed;
    let fits = takes && needed <= 4 && signature.named.iter().all(|parameter| !parameter.required);
    let message = || "is the hook, which is called with four values: `(world, ctx, tool, answer)`".to_owned();
    (!fits).then(|| Finding::error(Place::Function(name.clone()), message()))
}

fn hook_place() -> Place {
    Place::Field("/after_call/function".to_owned())
}
