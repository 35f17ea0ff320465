use insta::assert_snapshot;

use super::{Sources, compile};
use crate::testing;

/// Problems of the shop after replacing text in one of its files.
fn problems(file: &str, edits: &[(&str, &str)]) -> String {
    let mut files = testing::files();
    let text = files.get_mut(file).expect("a file of the shop");
    for (from, to) in edits {
        assert!(text.contains(from), "{file} does not hold {from}");
        *text = text.replace(from, to);
    }
    match compile(&Sources { folder: "playbooks/shop", files: &files }) {
        Ok(_) => "none".to_owned(),
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn every_file_is_checked_and_every_problem_named() {
    let edits = [
        ("prompt: prompt.md", "prompt: promt.md"),
        ("name: hours", "name: refund"),
        ("writes: [\"/orders/{order_id}/refunded\"]", "writes: [\"/orders/{oder_id}/refunded\", orders]"),
        ("simulate: constant", "simulate: code"),
        ("holds: all(", "holds: al("),
    ];
    assert_snapshot!(problems("playbook.yaml", &edits), @"
    playbooks/shop/playbook.yaml:5: prompt: no file `promt.md` in playbooks/shop (did you mean `prompt.md`?)
    playbooks/shop/playbook.yaml:18: world.invariants[0].holds: Variable `al` not found, did you mean `all`?
    playbooks/shop/playbook.yaml:52: tools[5].name: tool `refund` is defined twice
    playbooks/shop/playbook.yaml:29: tools[1].writes[0]: `{oder_id}` is no argument of `refund` (did you mean `order_id`?)
    playbooks/shop/playbook.yaml:29: tools[1].writes[1]: `orders` does not start with `/`
    playbooks/shop/playbook.yaml:56: tools[5].response: has no meaning for this kind of `simulate`
    ");
    assert_snapshot!(problems("playbook.yaml", &[("    template: find.md\n    scripted: find.json\n", "")]), @"playbooks/shop/playbook.yaml:35: tools[3]: field `template` is missing: `simulate` needs it here");
}

#[test]
fn an_invariant_is_over_a_collection_that_there_is() {
    let each = [("    - name: refund_within_total\n", "    - name: refund_within_total\n      each: order\n")];
    assert_snapshot!(problems("playbook.yaml", &each), @"playbooks/shop/playbook.yaml:18: world.invariants[0].each: the world has no `order` (did you mean `orders`?)");
}

#[test]
fn a_hook_must_exist_and_name_its_places() {
    let hook = "after_call: {function: derive, writes: [/orders/*, '/orders/{order_id}', orders]}\ntools:\n";
    assert_snapshot!(problems("playbook.yaml", &[("tools:\n", hook)]), @"
    playbooks/shop/playbook.yaml:20: after_call.function: no function `derive` in the playbook's code
    playbooks/shop/playbook.yaml:20: after_call.writes[1]: a hook has no arguments to name a place by
    playbooks/shop/playbook.yaml:20: after_call.writes[2]: `orders` does not start with `/`
    ");
}

#[test]
fn code_schemas_and_templates_must_compile() {
    assert_snapshot!(problems("tools.star", &[("def refund(", "def refnd(")]), @"playbooks/shop/playbook.yaml:28: tools[1].simulate: no function `refund` in the playbook's code");
    assert_snapshot!(problems("tools.star", &[("def meddle(world, ctx):", "def meddle(world, ctx)")]).lines().next().unwrap_or_default(), @"playbooks/shop/tools.star:12: Parse error: unexpected new line, expected symbol ':'");
    assert_snapshot!(problems("world.yaml", &[("type: object\nadditional", "type: objct\nadditional")]), @r#"playbooks/shop/playbook.yaml:14: world.schema: is not a valid JSON Schema: "objct" is not valid under any of the schemas listed in the 'anyOf' keyword"#);
    assert_snapshot!(problems("prompt.md", &[("{{ now }}", "{{ now }")]), @"playbooks/shop/prompt.md:1: is not a valid template: syntax error: unexpected `}`, expected end of variable block (in prompt.md:1)");
    assert_snapshot!(problems("prompt.md", &[("{{ policy }}", "{{ polcy }}")]), @"playbooks/shop/prompt.md:1: does not render: undefined value: `polcy` is undefined (in prompt.md:1)");
}

/// Whatever is too much, its file and line are named, with the limit.
#[test]
fn what_is_too_much_is_named_with_its_place() {
    let elif = |open: &str, close: &str, times: usize| {
        let branch = format!("{open}elif x{close}1");
        format!("{open}if x{close}1{}{open}endif{close}", branch.repeat(times))
    };
    let with = |file: &str, edit: &dyn Fn(&str) -> String| {
        let mut files = testing::files();
        let text = files.get_mut(file).expect("a file of the shop");
        *text = edit(text);
        let found = compile(&Sources { folder: "playbooks/shop", files: &files }).err().unwrap_or_default();
        found.first().map_or_else(|| "none".to_owned(), |problem| problem.to_string().split(';').take(1).collect())
    };
    let chain = elif("{% ", " %}", 2_000);
    assert_snapshot!(with("prompt.md", &|text| format!("{text}\n{chain}")), @"playbooks/shop/prompt.md:2: is not a valid template: nests deeper than 150 levels");
    let code = format!("def long(x):\n    if x: pass\n{}\n", "    elif x: pass\n".repeat(470));
    assert_snapshot!(with("tools.star", &|text| format!("{code}\n{text}")), @"playbooks/shop/tools.star:199: nests deeper than 200 levels");
    let brackets = format!("holds: {}True{} and all(", "(".repeat(730), ")".repeat(730));
    assert_snapshot!(with("playbook.yaml", &|text| text.replace("holds: all(", &brackets)), @"playbooks/shop/playbook.yaml:18: world.invariants[0].holds: nests deeper than 200 levels");
    let rules = "\n    - {name: a, each: orders, holds: 'True', message: m}".repeat(400);
    assert_snapshot!(with("playbook.yaml", &|text| text.replace("invariants:", &format!("invariants:{rules}"))), @"playbooks/shop/playbook.yaml:16: world.invariants: names 401 things, at most 300 can be named");
    let endless = "$defs: {a: {anyOf: [{$ref: '#/$defs/a'}, {type: string}]}}\n$ref: '#/$defs/a'";
    assert_snapshot!(with("world.yaml", &|_| endless.to_owned()), @"playbooks/shop/playbook.yaml:14: world.schema: is not a valid JSON Schema: a `$ref` leads back to itself without going into a value, so no check would end");
}
