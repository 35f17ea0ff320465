//! What the sub-agent is told.

use domain::sub_agent::SubAgent;
use engine::author::sub_agent::Prose;

use engine::templates::literal;

const HOW: &str = "\
# How you work

1. Do what the task says, all of it and nothing beyond it. Call tools that do not depend on each other at the same time.
2. Take ids, amounts and dates from the task or from a tool's answer. If one is missing and no tool of yours can find it,
   change nothing and report what is missing.
3. If a tool refuses, read why. Correct the call if the task allows it; otherwise report the refusal. Do not repeat the
   same call unchanged.
4. Your last message is your report. Give every id, amount, date and status that your colleague may need, as the tools
   returned them, and say what was changed and what was not. No greeting, no advice.
";

const REST: &str = "
# Always

{% for guardrail in guardrails -%}
- {{ guardrail }}
{% endfor %}

# Tools

{% for tool in tools -%}
- `{{ tool.name }}`: {{ tool.description }}
{% endfor %}

# Policy

{{ policy }}
";

/// A template. Its words are the author's or a model's and stand there as they are.
pub fn of(spec: &SubAgent, title: &str, prose: Option<&Prose>) -> String {
    let who = format!(
        "You are the sub-agent `{}` of {}. A colleague talks to the customer and gives you tasks; you never speak to the \
         customer.\n\n",
        spec.name,
        literal(title)
    );
    let scope = literal(prose.map_or(&*spec.scope, |prose| &prose.prompt).trim());
    let tools = spec.capabilities.iter().map(|c| format!("`{}`: {}", c.name, one_line(&c.description)));
    // A model's prose says itself when a tool is called.
    let tools = if prose.is_none() { list("What you can do", tools) } else { String::new() };
    let rules = list("What you must follow", spec.constraints.iter().map(|rule| one_line(rule)));
    format!("{who}{scope}\n\nIt is now {{{{ now }}}}.\n\n{HOW}{tools}{rules}{REST}")
}

fn list(headline: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.map(|line| format!("- {}\n", literal(&line))).collect();
    if lines.is_empty() { lines } else { format!("\n# {headline}\n\n{lines}") }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
