//! What was imported, what was not, and what to do next.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::commands::playbook::paint::Paint;
use crate::output::say;
use domain::text;
use projects::import::imported_interface::{ImportedInterface, Tool, fits};

pub fn print(imported: &ImportedInterface, name: &str, project: &Path) {
    let paint = Paint::of_stdout();
    say!("{} imported into playbooks/{name}:", text::counted(imported.tools.len(), "tool"));
    let (names, origins) = (width(imported, |tool| &tool.name), width(imported, origin));
    for tool in &imported.tools {
        let line = format!("  {:names$}  {:origins$}  {}", tool.name, origin(tool), places(tool));
        say!("{}", line.trim_end());
    }
    let parts: Vec<&str> = imported.world.keys().map(String::as_str).collect();
    say!("the world holds: {}", parts.join(", "));
    if !imported.changed.is_empty() {
        say!("{}", paint.yellow("changed:"));
        imported.changed.iter().for_each(|(tool, what)| say!("  {tool}: {what}"));
    }
    if !imported.skipped.is_empty() {
        say!("{}", paint.yellow("skipped:"));
        imported.skipped.iter().for_each(|(what, why)| say!("  {what}: {why}"));
    }
    say!("{}", next_steps(imported, name, project));
}

fn width(imported: &ImportedInterface, text: impl Fn(&Tool) -> &str) -> usize {
    imported.tools.iter().map(|tool| text(tool).chars().count()).max().unwrap_or_default().min(48)
}

/// What it was, if its name does not say so.
fn origin(tool: &Tool) -> &str {
    if tool.origin == tool.name { "" } else { &tool.origin }
}

fn places(tool: &Tool) -> String {
    let named = [("reads", &tool.reads), ("writes", &tool.writes)].into_iter().filter(|(_, places)| !places.is_empty());
    named.map(|(verb, places)| format!("{verb} {}", places.join(" "))).collect::<Vec<_>>().join(", ")
}

fn next_steps(imported: &ImportedInterface, name: &str, project: &Path) -> String {
    let flag = if project == Path::new(".") { String::new() } else { format!(" --project {}", project.display()) };
    let attempt = imported.tools.iter().find_map(|tool| Some((tool, sample(tool)?)));
    let attempt = attempt.map_or_else(String::new, |(tool, arguments)| {
        let arguments = arguments.to_string().replace('\'', "'\\''");
        let arguments = if arguments == "{}" { String::new() } else { format!(" --args '{arguments}'") };
        format!("\n  groundstate playbook try {} --playbook {name}{flag}{arguments}", tool.name)
    });
    format!(
        "
What tools read and write, and what records look like, was guessed. Check it first:
  playbooks/{name}/playbook.yaml, world.schema.yaml
Then write records (base_world.yaml), rules (policy.md, prompt.md.j2) and cases (scenarios/{name}), and tools as code
where you can. After each change:
  groundstate playbook check {name}{flag}{attempt}
  groundstate validate{flag}"
    )
}

/// Arguments that the tool takes, if they can be made up from its schema.
fn sample(tool: &Tool) -> Option<Value> {
    let required = tool.parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let arguments: Map<String, Value> =
        required.map(|name| (name.to_owned(), value(&tool.parameters["properties"][name]))).collect();
    let arguments = Value::Object(arguments);
    fits(&tool.parameters, &arguments).then_some(arguments)
}

fn value(schema: &Value) -> Value {
    let first = |key: &str| schema[key].as_array().and_then(|values| values.first());
    let kind = schema["type"].as_str().or_else(|| first("type").and_then(Value::as_str));
    first("examples").or_else(|| first("enum")).or_else(|| schema.get("const")).cloned().unwrap_or_else(|| match kind {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("example_1"),
    })
}
