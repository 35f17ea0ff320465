//! The texts of the files of a draft.

use std::collections::BTreeMap;
use std::fmt::Write;

use domain::document;
use engine::templates::literal;
use serde_json::{Map, Value, json};

use super::names::INPUT;
use super::steps::{DraftParts, DraftStep, Prompt, ROUTER, WRITER, template};
use crate::collection::Files;
use crate::compile::{DOCUMENT, FUNCTIONS};

const HEAD: &str = "\
# Made from a drawing of a LangGraph graph. Replace what is marked with `Fill in`, here and in the templates.
# docs/workflows.md explains every field.
";
const INPUT_COMMENT: &str = "# Fill in: what an input row holds. It is what the graph was invoked with.\n";
const OUTPUT_COMMENT: &str = "# Fill in: what an output row holds. These led to the end of the graph.\n";
const SAMPLE_COMMENT: &str = "# Fill in: real inputs, each with the `output` that it is to become.\n";
const FUNCTIONS_HEAD: &str = "\
# Fill in: what answers in place of models in checks and demonstrations, a function of the request
# (docs/workflows.md#stand-ins).

def name_of(request):
    return request[\"step\"].split(\".\")[-1]

def write(request):
    return \"what %s gives\" % name_of(request)
";

pub fn write(name: &str, parts: &DraftParts) -> Files {
    let mut files =
        BTreeMap::from([(DOCUMENT.to_owned(), workflow(name, parts)), (FUNCTIONS.to_owned(), functions(&parts.ways))]);
    files.extend(parts.prompts.iter().map(|prompt| (template(&prompt.step), text_of(prompt))));
    files
}

fn workflow(name: &str, parts: &DraftParts) -> String {
    let mut text = HEAD.to_owned();
    text += &document::compact(&json!({"workflow": name, "description": "Made from a graph of LangGraph"}));
    text += INPUT_COMMENT;
    text += &document::compact(&json!({"input": {INPUT: "text"}}));
    text += "steps:\n";
    parts.steps.iter().for_each(|step| write_step(step, 1, &mut text));
    text += OUTPUT_COMMENT;
    text += &document::compact(&json!({"output": parts.output}));
    let routers = parts.ways.len();
    let asked = [(WRITER, "write", parts.prompts.len() - routers), (ROUTER, "route", routers)];
    let asked = asked.into_iter().filter(|(.., steps)| *steps > 0);
    let stand_ins: Map<String, Value> = asked.map(|(role, function, _)| (role.to_owned(), function.into())).collect();
    text += &document::compact(&json!({ "stand_ins": stand_ins }));
    text += SAMPLE_COMMENT;
    text + &document::compact(&json!({"samples": [{"input": {INPUT: "Which bees make honey?"}}]}))
}

fn write_step(step: &DraftStep, level: usize, text: &mut String) {
    let mut lines = |block: &str, level: usize| {
        for line in block.lines() {
            text.push_str(&"  ".repeat(level));
            text.push_str(line);
            text.push('\n');
        }
    };
    step.comments.iter().for_each(|comment| lines(&format!("# {comment}"), level));
    if step.steps.is_empty() {
        lines(&document::compact(&json!({&step.name: step.fields})), level);
        return;
    }
    lines(&format!("{}:", step.name), level);
    lines(&document::compact(&Value::Object(step.fields.clone())), level + 1);
    lines("steps:", level + 1);
    step.steps.iter().for_each(|inner| write_step(inner, level + 2, text));
}

fn functions(ways: &BTreeMap<String, String>) -> String {
    let mut text = FUNCTIONS_HEAD.to_owned();
    if !ways.is_empty() {
        text.push_str("\n# The choices that lead to the end soonest.\nWAY = {\n");
        for (router, label) in ways {
            // A String takes whatever is written to it.
            writeln!(text, "    \"{router}\": {},", Value::from(label.as_str())).ok();
        }
        text.push_str("}\n\ndef route(request):\n    return {\"next\": WAY[name_of(request)]}\n");
    }
    text
}

fn text_of(prompt: &Prompt) -> String {
    let Prompt { step, reads, labels } = prompt;
    let mut text = if labels.is_empty() {
        format!("{{# Fill in: what the model is asked in the step `{step}`. #}}\n")
    } else {
        format!("{{# Fill in: how the step `{step}` chooses what comes next. #}}\n")
    };
    text.push_str("The request:\n{{ message }}\n");
    for read in reads.iter().filter(|read| read.path != INPUT) {
        let before = if read.is_before { " in the round before" } else { "" };
        let value = format!("What `{}` gave{before}:\n{{{{ {} }}}}\n", read.step, read.path);
        text.push('\n');
        if read.needs.is_empty() {
            text += &value;
        } else {
            text += &format!("{{% if {} %}}{value}{{% endif %}}\n", read.needs.join(" and "));
        }
    }
    if !labels.is_empty() {
        text.push_str("\nWhat comes next? Answer with one of these as JSON, {\"next\": \"...\"}:\n");
        labels.iter().for_each(|label| text += &format!("- {}\n", literal(label)));
    }
    text
}
