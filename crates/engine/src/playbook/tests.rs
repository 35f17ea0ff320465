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
