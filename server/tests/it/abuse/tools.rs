//! Tools and templates that take all the time and memory there is.

use std::collections::BTreeMap;

use serde_json::json;
use sqlx::PgPool;

use super::{Attack, BANK, own, suffered};

/// A tool that does this is called.
fn called(name: &str, body: &str) -> Attack {
    let code = own("tools.star");
    let at = code.find("def get_customer(").unwrap();
    let end = at + code[at..].find("\ndef ").unwrap();
    let indented: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let code = format!("{}def get_customer(world, args):\n{indented}{}", &code[..at], &code[end..]);
    let drafts = BTreeMap::from([(format!("{BANK}/tools.star"), code)]);
    let calls = json!([{"tool": "get_customer", "arguments": {"customer_id": "cus_1001"}}]);
    let body = json!({"drafts": drafts, "calls": calls});
    Attack { name: format!("called: {name}"), path: "/playbooks/retail_bank/try", body, may_pass: true }
}

/// A prompt that says this is rendered.
fn rendered(name: &str, template: &str) -> Attack {
    let drafts = BTreeMap::from([(format!("{BANK}/prompt.md.j2"), template.to_owned())]);
    let body = json!({"drafts": drafts});
    Attack { name: format!("rendered: {name}"), path: "/playbooks/retail_bank/prompts", body, may_pass: true }
}

const PAIRS: &str = "x = (1,)\ny = (1,)\nfor i in range(60):\n    x = (x, x)\n    y = (y, y)\n";

#[sqlx::test(migrations = "../migrations")]
async fn tools_that_take_everything_are_ended(pool: PgPool) {
    let pairs = |then: &str| format!("{PAIRS}{then}");
    let attacks = vec![
        called(
            "a loop",
            "n = 0\nfor i in range(1000000000):\n    for j in range(1000000000):\n        n += 1\nreturn {\"n\": n}",
        ),
        called("a product", "return {\"text\": \"x\" * 1000000000000}"),
        called("a text that doubles", "x = \"x\"\nfor i in range(60):\n    x = x + x\nreturn {\"x\": x}"),
        called("a list that doubles", "x = [1]\nfor i in range(60):\n    x = x + x\nreturn {\"x\": x}"),
        called(
            "replacements",
            "x = \"a\" * 10000\nfor i in range(10):\n    x = x.replace(\"a\", \"a\" * 10000)\nreturn {\"x\": x}",
        ),
        called("a list of a range", "return {\"x\": list(range(1000000000000))}"),
        called("answers of a megabyte", "return {\"x\": [\"x\" * 1000000 for i in range(2000)]}"),
        called("a join", "x = [\"x\" * 100000] * 100000\nreturn {\"x\": \",\".join(x)}"),
        called("a format", "return {\"x\": \"%1000000000d\" % 1}"),
        called("recursion", "f = lambda g, n: g(g, n + 1)\nreturn f(f, 0)"),
        called("a tuple that is hashed", &pairs("return {\"x\": len({x: 1})}")),
        called("a tuple that is compared", &pairs("return {\"x\": x == y}")),
        called("a tuple that is printed", &pairs("return {\"x\": str(x)}")),
        called("a tuple that is returned", &pairs("return {\"x\": x}")),
    ];
    suffered(&pool, attacks).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn templates_that_take_everything_are_ended(pool: PgPool) {
    let attacks = vec![
        rendered("a format", "{{ '%1000000000d' | format(1) }}"),
        rendered("a slice", "{{ 'abc' | slice(2000000000) | list }}"),
        rendered("a batch", "{{ [1] | batch(2000000000, 'x') | list }}"),
        rendered("loops", "{% for i in range(1000000000) %}{% for j in range(1000000000) %}x{% endfor %}{% endfor %}"),
        rendered(
            "a text that doubles",
            "{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}",
        ),
        rendered("a product", "{{ 'x' * 100000000000 }}"),
        rendered("a join", "{{ range(100000) | join('x' * 100000) }}"),
        rendered("a replacement", "{{ ('a' * 100000) | replace('a', 'b' * 100000) }}"),
        rendered("a macro that calls itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
    ];
    suffered(&pool, attacks).await;
}
