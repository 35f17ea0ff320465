//! The lines of a script are Jinja templates. In a draft they may look a value up and nothing else: a template that
//! joins or repeats texts can fill the memory, and whoever wrote this one is not trusted.

use serde_json::Value;

/// Values that one line may show.
const MOST_VALUES: usize = 10;
/// Filters that make nothing longer.
const FILTERS: [&str; 9] = ["int", "float", "round", "abs", "first", "last", "length", "lower", "upper"];
/// What an expression may begin with.
const ROOTS: [&str; 2] = ["calls", "facts"];

/// What is written in the templates of a value and may not be, each with why.
pub fn faults(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => of_text(text),
        Value::Array(items) => items.iter().flat_map(faults).collect(),
        Value::Object(map) => map.values().flat_map(faults).collect(),
        _ => Vec::new(),
    }
}

fn of_text(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for tag in ["{%", "{#"].into_iter().filter(|tag| text.contains(tag)) {
        faults
            .push(format!("`{tag}`: a line may hold values such as `{{{{ calls.TOOL.FIELD }}}}`, no other templates"));
    }
    let values = text.matches("{{").count();
    if values > MOST_VALUES {
        faults.push(format!("a line shows {values} values; at most {MOST_VALUES}"));
        return faults;
    }
    for part in text.split("{{").skip(1) {
        let expression = part.split_once("}}").map_or(part, |(inside, _)| inside);
        if !is_lookup(expression) {
            let shown: String = expression.trim().chars().take(60).collect();
            faults.push(format!(
                "`{{{{ {shown} }}}}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters {}",
                FILTERS.join(", ")
            ));
        }
    }
    faults
}

/// `calls.list_cards.cards[0].last4 | upper`
fn is_lookup(expression: &str) -> bool {
    let mut parts = expression.split('|').map(str::trim);
    let path = parts.next().unwrap_or_default();
    let root = path.split(['.', '[']).next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
    ROOTS.contains(&root) && path.chars().all(plain) && parts.all(is_filter)
}

/// `round` or `round(2)`
fn is_filter(text: &str) -> bool {
    let (name, argument) = match text.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')')),
        None => (text, Some("0")),
    };
    FILTERS.contains(&name) && argument.is_some_and(|digit| matches!(digit.as_bytes(), [b'0'..=b'9']))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_looked_up() {
        for fine in [
            "Done.",
            "{{ calls.make_transfer.transfer_id }}",
            "{{calls.list_cards.cards[0].last4|upper}} and {{ facts.name }}",
            "{{ calls.quote.total | float | round(2) }}",
            "a } b { c }}",
        ] {
            assert!(of_text(fine).is_empty(), "{fine}");
        }
    }

    #[test]
    fn nothing_is_computed() {
        let hostile = json!([
            {"agent": "{{ 'a' * 999999999 }}"},
            "{{ calls.a ~ calls.a }}",
            "{% for i in range(9) %}{% endfor %}",
            "{{ calls.a | join('x') }}",
            "{{ calls.a.b(1) }}",
            "{{ facts.a | round(99) }}",
            "{{ range(9) }}",
            "{{ calls.a {# #} }}",
            "{{ {{ facts.a }} }}",
            "{{ facts['a'] }}",
            "{{ calls.a }}".repeat(11)
        ]);
        insta::assert_snapshot!(faults(&hostile).join("\n"), @"
        `{{ 'a' * 999999999 }}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters int, float, round, abs, first, last, length, lower, upper
        `{{ calls.a ~ calls.a }}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters int, float, round, abs, first, last, length, lower, upper
        `{%`: a line may hold values such as `{{ calls.TOOL.FIELD }}`, no other templates
        `{{ calls.a | join('x') }}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters int, float, round, abs, first, last, length, lower, upper
        `{{ calls.a.b(1) }}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters int, float, round, abs, first, last, length, lower, upper
        `{{ facts.a | round(99) }}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters int, float, round, abs, first, last, length, lower, upper
        `{{ range(9) }}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters int, float, round, abs, first, last, length, lower, upper
        `{#`: a line may hold values such as `{{ calls.TOOL.FIELD }}`, no other templates
        `{{ calls.a {# #} }}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters int, float, round, abs, first, last, length, lower, upper
        `{{  }}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters int, float, round, abs, first, last, length, lower, upper
        `{{ facts['a'] }}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters int, float, round, abs, first, last, length, lower, upper
        a line shows 11 values; at most 10
        ");
    }
}
