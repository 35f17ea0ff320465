use insta::assert_snapshot;

use super::{Severity, files};
use crate::playbook::Sources;
use crate::testing;

/// What is found in the shop with some of its text replaced: (file, from, to).
fn all(edits: &[(&str, &str, &str)]) -> Vec<String> {
    let mut files_of_shop = testing::files();
    for (file, from, to) in edits {
        let text = files_of_shop.get_mut(*file).expect("a file of the shop");
        assert!(text.contains(from), "{file} does not hold {from}");
        *text = text.replacen(from, to, 1);
    }
    let sources = Sources { folder: "playbooks/shop", files: &files_of_shop };
    let line = |(severity, problem): (Severity, domain::Problem)| format!("{severity:?} {problem}");
    files(&sources, &[testing::scenario(&[])]).into_iter().map(line).collect()
}

/// What is found only because of the edits.
fn found(edits: &[(&str, &str, &str)]) -> String {
    let before = all(&[]);
    all(edits).into_iter().filter(|line| !before.contains(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_nobody_uses() {
    assert_snapshot!(all(&[]).join("\n"), @"
    Warning playbooks/shop/playbook.yaml:7: intents[1]: no scenario has the intent `help`
    Warning playbooks/shop/playbook.yaml:27: tools[1].parameters: an argument that is not declared would pass and break the call: add `additionalProperties: false`
    Warning playbooks/shop/playbook.yaml:30: tools[2].name: no scenario calls `meddle`, and neither prompt, policy nor guardrails mention it
    Warning playbooks/shop/playbook.yaml:32: tools[2].parameters: an argument that is not declared would pass and break the call: add `additionalProperties: false`
    Warning playbooks/shop/playbook.yaml:35: tools[3].name: no scenario calls `find_article`, and neither prompt, policy nor guardrails mention it
    Warning playbooks/shop/playbook.yaml:43: tools[4].name: no scenario calls `open_ticket`, and neither prompt, policy nor guardrails mention it
    ");
}

#[test]
fn code_that_differs_from_what_is_declared() {
    let edits = [
        ("tools.star", "def get_order(world, ctx, order_id):", "def get_order(world, ctx, oder_id, deep = False):"),
        ("tools.star", "if order_id not in world", "order_id = oder_id\n    if order_id not in world"),
        (
            "tools.star",
            "def meddle(world, ctx):",
            "LIMIT = 5\n\ndef refnd(world, ctx):\n    return 1\n\ndef helper(x):\n    return x\n\ndef meddle(world):",
        ),
        ("playbook.yaml", "required: [order_id, amount]", "required: [order_id]"),
    ];
    assert_snapshot!(found(&edits), @r#"
    Error playbooks/shop/tools.star:2: get_order: does not take `order_id`, which the tool declares
    Error playbooks/shop/tools.star:2: get_order: needs `oder_id`, which the tool does not declare (did you mean `order_id`?)
    Warning playbooks/shop/tools.star:2: get_order: takes `deep`, which the tool does not declare
    Error playbooks/shop/tools.star:8: refund: needs `amount`, which callers may leave out: give it a default (`amount = None`)
    Warning playbooks/shop/tools.star:15: refnd: looks like a tool, but no tool with `simulate: code` has this name (did you mean `refund`?); begin a helper's name with `_`
    Error playbooks/shop/tools.star:21: meddle: must take the world and the context first: `(world, ctx, ...)`
    "#);
}

#[test]
fn templates_that_do_not_render_for_every_call() {
    let edits = [
        ("find.md", "Finds things.", "Finds {{ arguments.limit }} things."),
        ("find.json", "\"hits\": 1", "\"hits\": {{ view.articles.a_9.hits }}"),
        ("ticket.json", "now", "then"),
        ("ticket.patch", "\"add\"", "\"append\""),
    ];
    assert_snapshot!(found(&edits), @r#"
    Error playbooks/shop/playbook.yaml:40: tools[3].template: `find.md` fails for find_article({"query":"sample"}) in scenario `small_refund`: undefined value: `arguments.limit` is undefined (in find.md:1)
    Warning playbooks/shop/playbook.yaml:40: tools[3].template: `find.md` uses `arguments.limit`, which it never sees
    Warning playbooks/shop/playbook.yaml:41: tools[3].scripted: `find.json` fails for find_article({"query":"sample"}) in scenario `small_refund`: undefined value: `view.articles.a_9` is undefined (in find.json:1)
    Error playbooks/shop/playbook.yaml:48: tools[4].template: `find.md` fails for open_ticket({"about":"sample"}) in scenario `small_refund`: undefined value: `arguments.limit` is undefined (in find.md:1)
    Warning playbooks/shop/playbook.yaml:48: tools[4].template: `find.md` uses `arguments.limit`, which it never sees
    Warning playbooks/shop/playbook.yaml:49: tools[4].scripted: `ticket.json` fails for open_ticket({"about":"sample"}) in scenario `small_refund`: undefined value: `then` is undefined (in ticket.json:1)
    Warning playbooks/shop/playbook.yaml:50: tools[4].scripted_patch: `ticket.patch` fails for open_ticket({"about":"sample"}) in scenario `small_refund`: renders no patch: unknown variant `append`, expected one of `add`, `remove`, `replace` at line 1 column 16
    "#);
}

#[test]
fn places_that_no_world_has() {
    let edits = [
        (
            "playbook.yaml",
            "writes: [\"/orders/{order_id}/refunded\"]",
            "writes: [\"/orders/{order_id}/refnded\", \"/orders/+/total\"]",
        ),
        ("playbook.yaml", "reads: [/articles]", "reads: [/article, /articles/*/title]"),
        ("playbook.yaml", "writes: [/tickets/+]", "writes: [/tickets/+, /tickets/+/status/now]"),
        (
            "playbook.yaml",
            "world[\"orders\"].values()",
            "world['order'].values() if \"order\" in world and my_world[\"x\"]",
        ),
        ("tools.star", "\ndef refund", "\nmy_world = {\"x\": 1}\n\ndef refund"),
    ];
    assert_snapshot!(found(&edits), @r#"
    Warning playbooks/shop/playbook.yaml:18: world.invariants[0].holds: the world has no `order` (did you mean `orders`?)
    Warning playbooks/shop/playbook.yaml:29: tools[1].writes[0]: `/orders/{order_id}/refnded` matches nothing in the world's schema or in any initial world
    Warning playbooks/shop/playbook.yaml:39: tools[3].reads[0]: `/article` matches nothing in the world's schema or in any initial world (did you mean `articles`?)
    Warning playbooks/shop/playbook.yaml:47: tools[4].writes[1]: `/tickets/+/status/now` matches nothing in the world's schema or in any initial world
    "#);
}

#[test]
fn what_does_not_compile_is_an_error() {
    assert_snapshot!(found(&[("tools.star", "def refund(", "def refnd("), ("world.yaml", "type: object", "type: objct")]), @r#"
    Error playbooks/shop/playbook.yaml:14: world.schema: is not a valid JSON Schema: "objct" is not valid under any of the schemas listed in the 'anyOf' keyword
    Error playbooks/shop/playbook.yaml:28: tools[1].simulate: no function `refund` in the playbook's code
    "#);
}
