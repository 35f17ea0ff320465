use insta::assert_snapshot;
use serde_json::json;

use super::super::render_text;
use super::*;
use crate::testing::ProcessorTime;

fn check(source: &str) -> String {
    prepared(source).unwrap_or_else(|found| format!("{}: {}", found.line, found.message))
}

#[test]
fn what_joins_is_put_through_the_filter() {
    assert_snapshot!(check("{{ a ~ b.c[0] ~ 'x' }} {{ a - b }} {{ 1 + x|length }}"), @"{{ a|within_bounds ~ b.c[0]|within_bounds ~ 'x'|within_bounds }} {{ a - b }} {{ 1 + x|length|within_bounds }}");
    assert_snapshot!(check("{% set ns.x = ns.x + [a] if b else -c * (d ~ 1) %}"), @"{% set ns.x = (ns.x|within_bounds + ([a]|within_bounds)|within_bounds if b else -c|within_bounds * (d|within_bounds ~ 1)|within_bounds)|within_another %}");
    assert_snapshot!(check("{% for a, (b, c) in [(1, 2)] %}{{ f(*a, **b) }}{% endfor %}"), @"{% for a, (b, c) in ([((1, 2)|within_bounds)]|within_bounds) %}{{ f(*a, **b) }}{% endfor %}");
    assert_snapshot!(check("{# {{ a ~ b }} #}{% raw %}{{ a ~ b }}{% endraw %}{{ '}}' ~ a }}{%- set x -%}y{% endset %}{{ {'a': {}} }}"), @"{# {{ a ~ b }} #}{% raw %}{{ a ~ b }}{% endraw %}{{ '}}'|within_bounds ~ a|within_bounds }}{%- set x -%}y{% endset %}{{ ({'a': {}}|within_bounds) }}");
    let said = render_text("{% set x = 'a' ~ 1 + 2 %}", &json!({}));
    assert!(said.is_err(), "a text and a number have no sum");
    let said = render_text(
        "{% set n = namespace(l=[], t='') %}{% for i in range(3) %}{% set n.l = n.l + [i * 2, (i, 'x')] %}{% set n.t = n.t ~ i ~ ('' if loop.last else '-') %}{% endfor %}{{ n.l|tojson }} {{ n.t|replace('-', '+')|upper }} {{ [1, 2]|join(', ') }} {{ '%03d'|format(7) }}",
        &json!({}),
    );
    assert_eq!(said.as_deref(), Ok(r#"[0, [0, "x"], 2, [1, "x"], 4, [2, "x"]] 0+1+2 1, 2 007"#));
}

/// Templates that nest in every way the grammar has.
fn sources(levels: usize) -> Vec<String> {
    let nested =
        |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
    let values = [
        nested("(", "1", ")"),
        nested("[", "1", "]"),
        nested("{'a': ", "1", "}"),
        nested("a[", "1", "]"),
        nested("f(", "1", ")"),
        nested("f(a=", "1", ")"),
        nested("- ", "1", ""),
        nested("not ", "1", ""),
        nested("1 + ", "1", ""),
        nested("1 ** ", "1", ""),
        nested("'a' ~ ", "1", ""),
        nested("1 and ", "1", ""),
        nested("1 if 1 else ", "1", ""),
        nested("1 == ", "1", ""),
        nested("", "a", "|upper"),
        nested("", "a", "|default(1)"),
        nested("", "a", " is defined"),
        nested("", "a", ".b"),
        nested("", "a", "[0]"),
        nested("", "a", "[1:2]"),
        nested("", "a", "()"),
        nested("a|default(", "1", ")"),
    ];
    let mut all: Vec<String> = values.iter().map(|value| format!("x\n{{{{ {value} }}}}")).collect();
    all.extend(values.iter().map(|value| format!("x\n{{% set x = {value} %}}{{% $ %}}")));
    all.extend(values.iter().map(|value| format!("x\n{{{{ {value}")));
    for (open, close) in [
        ("{% if a %}", "{% endif %}"),
        ("{% for a in b %}", "{% endfor %}"),
        ("{% with a=1 %}", "{% endwith %}"),
        ("{% filter upper %}", "{% endfilter %}"),
        ("{% set x %}", "{% endset %}"),
        ("{% macro m() %}", "{% endmacro %}"),
        ("{% call m() %}", "{% endcall %}"),
        ("{% if a %}{% else %}", "{% endif %}"),
    ] {
        all.push(format!("x\n{}", nested(open, "1", close)));
    }
    all.push(format!("x\n{{% if a %}}{}{{% endif %}}", "{% elif b %}1".repeat(levels)));
    all.push(format!("x\n{{% if a %}}{}{{% endif %}}", "{%- elif b -%}{% if c %}{% endif %}".repeat(levels)));
    all
}

#[test]
fn what_nests_too_deep_is_refused_before_it_is_parsed() {
    for source in sources(300).iter().chain(&sources(10_000)) {
        let said = check(source);
        let known = ["2: nests deeper than 150 levels", "2: a tag has more than 700 words", "1: is "];
        assert!(known.iter().any(|known| said.starts_with(known)), "{source:.60}: {said:.200}");
    }
}

#[test]
fn what_nests_no_deeper_fits_on_the_stack() {
    for levels in [20, 70, 100, 140] {
        for source in sources(levels) {
            drop(render_text(&source, &json!({"a": 1, "b": [1]})));
        }
    }
    assert!(sources(20).iter().all(|source| !check(source).starts_with("2: ")));
}

#[test]
fn what_would_take_much_memory_is_refused() {
    let doubled = |statement: &str| format!("{{% set x = 'ab' %}}{}{{{{ x|length }}}}", statement.repeat(45));
    let long = "y".repeat(2_000);
    let hostile = [
        doubled("{% set x = x ~ x %}"),
        doubled("{% set x = x + x %}"),
        doubled("{% set x = x * 1000 %}"),
        doubled("{% set x = [x, x] %}") + "{{ x }}",
        doubled("{% set x = x|replace('a', x) %}"),
        doubled("{% set x = [x, x]|join(x) %}"),
        doubled("{% set x = '%s%s'|format(x, x) %}"),
        doubled("{% set x = (x, x)|tojson %}"),
        doubled("{% set x = ('a\n' ~ x)|indent(width=100000) %}"),
        doubled("{% set x = x|list + x|list %}") + "{{ x|join }}",
        doubled("{% set x = ('a\\n' ~ x)|indent(100000) %}"),
        doubled("{% set x %}{{ x }}{{ x }}{% endset %}"),
        "{{ '%1000000000d'|format(1) }}".to_owned(),
        "{{ '%.*f'|format(1000000000, 1.0) }}".to_owned(),
        "{{ [1]|slice(2000000000) }}".to_owned(),
        "{{ [1]|batch(2000000000, 1) }}".to_owned(),
        "{{ [1]|tojson(1000000000) }}".to_owned(),
        "{{ ('a' * 1000000)|replace('', 'b' * 1000000) }}".to_owned(),
        "{% for i in range(99999) %}{% for i in range(99999) %}{{ 'a' * 1000 }}{% endfor %}{% endfor %}".to_owned(),
        format!("{{% for i in range(99999) %}}{long}{{% endfor %}}"),
        format!("{{% set x %}}{{% for i in range(99999) %}}{long}{{% endfor %}}{{% endset %}}"),
        format!(
            "{{% macro m() %}}{long}{{% endmacro %}}{{% set x %}}{{% for i in range(99999) %}}{{{{ m() }}}}{{% endfor %}}{{% endset %}}"
        ),
        "{% macro m(x) %}{{ m(x ~ x) }}{% endmacro %}{{ m('aaaaaaaa') }}".to_owned(),
        "{% set n = namespace() %}{% set n.x = n %}{{ n }}".to_owned(),
        "{% set n = namespace() %}{% set n.x = [n] %}{{ n }}".to_owned(),
        "{% set n = namespace() %}{% set m = namespace(x=n) %}{% set n.x = m %}{{ n == m }}".to_owned(),
        "{% set n = namespace(x=1) %}{% for i in range(9999) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}".to_owned(),
        "{% set n = namespace(x=1) %}{% for i in range(9999) %}{% set n.x = dict(a=n.x) %}{% endfor %}{{ n.x }}"
            .to_owned(),
        "{% set n = namespace(x=[1]) %}{% for i in range(9999) %}{% set n.x = n.x|batch(1) %}{% endfor %}{{ n.x }}"
            .to_owned(),
        "{% set x = 'a' * 1000000 %}{% for i in range(99999) %}{{ x|upper|length }}{% endfor %}".to_owned(),
    ];
    for source in hostile {
        let started = ProcessorTime::now();
        let said = render_text(&source, &json!({}));
        assert!(said.is_err(), "{source:.200}: {:.100}", said.unwrap_or_default());
        started.assert_took_at_most(10, &source);
    }
}
