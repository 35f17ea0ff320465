//! The files of a draft. Texts of others stand in them as texts: quoted in YAML, escaped in templates.

use std::collections::BTreeMap;

use domain::document;
use serde_json::{Map, Value, json};

use super::imported_interface::{ImportedInterface, Part, Tool};
use super::stub::stub;
use engine::templates::literal;

/// Path relative to the project, with `/` -> text.
pub type DraftFiles = BTreeMap<String, String>;

const PLAYBOOK: &str = include_str!("../../draft/playbook.yaml");
const PROMPT: &str = include_str!("../../draft/prompt.md.j2");
const POLICY: &str = include_str!("../../draft/policy.md");
const FIRST_SCENARIO: &str = include_str!("../../draft/first.yaml");
const TEMPLATE: &str = include_str!("../../draft/template.md.j2");

/// What precedes the tools in `playbook.yaml`, from here on, where a model answers them.
const BY_MODEL: &str = "# Each tool is answered by a model";
const BY_CODE: &str = "code: tools.star # the functions of the tools\n\n# Each tool is a function in tools.star, which is still to be \
                       written. What it may change stands in `writes`.\n";
const CODE: &str = "# What the backend does. Each function is a tool: it gets the world, the moment and the arguments, changes the\n\
                    # world in place and returns what the agent reads. `fail(...)` undoes the call.\n";

/// The tool that every draft has beside those imported: a conversation must be able to end well.
pub const HANDOVER: &str = "transfer_to_human";

/// All files of the playbook and its first scenario.
pub fn files(imported: &ImportedInterface, name: &str, judge: &str) -> DraftFiles {
    let title = if imported.title.is_empty() { name } else { &imported.title };
    let quoted = Value::from(title).to_string();
    let head = PLAYBOOK.replace("PLAYBOOK_NAME", name).replace("JUDGE_NAME", judge).replace("PLAYBOOK_TITLE", &quoted);
    let head = if imported.by_code { head_of_code(&head) } else { head };
    let own = imported.tools.iter().map(|own| if imported.by_code { by_code(own) } else { tool(own) });
    let tools: Vec<Value> = own.chain([handover()]).collect();
    let playbook = |file: &str| format!("playbooks/{name}/{file}");
    let mut made = DraftFiles::from([
        (playbook("playbook.yaml"), format!("{head}{}", document::text(&json!({ "tools": tools })))),
        (playbook("prompt.md.j2"), PROMPT.replace("PLAYBOOK_TITLE", &literal(title))),
        (playbook("policy.md"), POLICY.to_owned()),
        (playbook("world.schema.yaml"), world_schema(imported)),
        (playbook("base_world.yaml"), base_world(imported)),
        (format!("scenarios/{name}/{name}_first.yaml"), FIRST_SCENARIO.replace("PLAYBOOK_NAME", name)),
    ]);
    if imported.by_code {
        let stubs = imported.tools.iter().map(|tool| stub(&tool.name, &tool.parameters));
        made.insert(playbook("tools.star"), format!("{CODE}\n{}", stubs.collect::<Vec<_>>().join("\n")));
    } else {
        made.extend(imported.tools.iter().map(|tool| (playbook(&template(tool)), capability(tool))));
    }
    made
}

fn head_of_code(head: &str) -> String {
    let (before, _) = head.split_once(BY_MODEL).unwrap_or((head, ""));
    format!("{before}{BY_CODE}")
}

fn by_code(tool: &Tool) -> Value {
    let mut written = json!({"name": tool.name, "description": tool.description, "simulate": "code"});
    written["parameters"] = tool.parameters.clone();
    if !tool.writes.is_empty() {
        written["writes"] = json!(tool.writes);
    }
    written
}

fn tool(tool: &Tool) -> Value {
    let mut written = json!({
        "name": tool.name,
        "description": tool.description,
        "simulate": "model",
        "parameters": tool.parameters,
    });
    for (field, places) in [("reads", &tool.reads), ("writes", &tool.writes)] {
        if !places.is_empty() {
            written[field] = json!(places);
        }
    }
    written["template"] = template(tool).into();
    written["returns"] = tool.returns.clone();
    written
}

fn handover() -> Value {
    json!({
        "name": HANDOVER,
        "description": "Hands the conversation over to a colleague and ends it.",
        "simulate": "terminal",
        "parameters": {
            "type": "object",
            "additionalProperties": false,
            "required": ["summary"],
            "properties": {
                "summary": {
                    "type": "string",
                    "minLength": 10,
                    "maxLength": 600,
                    "description": "What the colleague needs to know",
                },
            },
        },
    })
}

fn template(tool: &Tool) -> String {
    format!("templates/{}.md.j2", tool.name)
}

/// The description comes last: nothing in it is replaced.
fn capability(tool: &Tool) -> String {
    let origin = TEMPLATE.replace("TOOL_ORIGIN", &literal(&tool.origin));
    origin.replacen("TOOL_DESCRIPTION", &literal(&tool.description), 1)
}

fn world_schema(imported: &ImportedInterface) -> String {
    let required = imported.world.iter().filter(|(_, part)| matches!(part, Part::Records { .. })).map(|(name, _)| name);
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "required": required.collect::<Vec<_>>(),
        "properties": imported.world.iter().map(|(name, part)| (name.clone(), part.schema())).collect::<Map<_, _>>(),
    });
    format!(
        "# What the records may look like: JSON Schema, written as YAML. Guessed from what the tools answer; a call that\n\
         # leaves something else behind is undone.\n{}",
        document::text(&schema)
    )
}

fn base_world(imported: &ImportedInterface) -> String {
    let mut world = Map::new();
    for (name, part) in &imported.world {
        if let Part::Records { example, .. } = part {
            let records: Map<String, Value> = example.iter().cloned().collect();
            world.insert(name.clone(), Value::Object(records));
        }
    }
    format!(
        "# Records that every scenario shares, by collection and id: examples of the documentation, if it had any. A\n\
         # scenario lays its own over them (`system_facts`).\n{}",
        document::text(&Value::Object(world))
    )
}
