use std::sync::Arc;

use domain::scenario::Scenario;
use insta::assert_snapshot;

use super::{Severity, files};
use crate::playbook::Sources;
use crate::testing;

/// What is found in the shop with some of its text replaced: (file, from, to).
fn all(edits: &[(&str, &str, &str)]) -> Vec<String> {
    all_with(edits, &[testing::scenario(&[])])
}

fn all_with(edits: &[(&str, &str, &str)], scenarios: &[Arc<Scenario>]) -> Vec<String> {
    let mut files_of_shop = testing::files();
    for (file, from, to) in edits {
        let text = files_of_shop.get_mut(*file).expect("a file of the shop");
        assert!(text.contains(from), "{file} does not hold {from}");
        *text = text.replacen(from, to, 1);
    }
    let sources = Sources { folder: "playbooks/shop", files: &files_of_shop };
    let line = |(severity, problem): (Severity, domain::Problem)| format!("{severity:?} {problem}");
    files(&sources, scenarios).into_iter().map(line).collect()
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
    Warning playbooks/shop/playbook.yaml:30: tools[2].name: no scenario calls `meddle`, and neither prompt, policy nor guardrails mention it
    Warning playbooks/shop/playbook.yaml:35: tools[3].name: no scenario calls `find_article`, and neither prompt, policy nor guardrails mention it
    Warning playbooks/shop/playbook.yaml:43: tools[4].name: no scenario calls `open_ticket`, and neither prompt, policy nor guardrails mention it
    Error playbooks/shop/tools.star:12: meddle: meddle({}) in scenario `small_refund` is undone: `meddle` may not change /orders/o_17/total; its `writes` do not name it
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
fn arguments_may_be_declared_in_the_parts_of_a_schema() {
    let edits = [
        (
            "playbook.yaml",
            "{order_id: {type: string}}, required: [order_id], additionalProperties: false}",
            "{}, allOf: [{$ref: '#/$defs/order'}], $defs: {order: {required: [order_id], properties: {order_id: {type: string}, deep: {$ref: '#/$defs/deep'}}}, deep: {type: boolean, default: true}}}",
        ),
        ("tools.star", "def get_order(world, ctx, order_id):", "def get_order(world, ctx, order_id, deep):"),
        (
            "playbook.yaml",
            "properties: {order_id: {type: string}, amount: {type: number}}, required: [order_id, amount]}",
            "allOf: [{properties: {order_id: {type: string}, amount: {type: number}}, required: [order_id, amount]}]}",
        ),
        (
            "playbook.yaml",
            "properties: {query: {type: string}}, required: [query]}",
            "anyOf: [{properties: {query: {type: string}}, required: [query]}]}",
        ),
        ("find.json", "\"hits\": 1", "\"hits\": \"{{ arguments.query }}\""),
    ];
    assert_snapshot!(found(&edits), @"");
    let edits = [
        (
            "playbook.yaml",
            "parameters: {type: object, properties: {}}",
            "parameters: {type: object, allOf: [{properties: {limit: {type: integer}}}], patternProperties: {'^x_': {type: string}}}",
        ),
        ("tools.star", "def meddle(world, ctx):", "def meddle(world, ctx, limit):"),
    ];
    assert_snapshot!(found(&edits), @"
    Warning playbooks/shop/tools.star:12: meddle: does not take the further arguments that `parameters` allows, so that such a call breaks: take `**rest`
    Error playbooks/shop/tools.star:12: meddle: needs `limit`, which callers may leave out: give it a default (`limit = None`)
    ");
}

#[test]
fn templates_are_not_rendered_for_calls_that_the_schema_refuses() {
    let edits = [
        ("playbook.yaml", "{query: {type: string}}", r"{query: {type: string, pattern: '^\p{Lu}$'}}"),
        ("find.json", "\"hits\": 1", "\"hits\": {{ view.articles.a_9.hits }}"),
    ];
    assert_snapshot!(found(&edits), @"");
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
    Error playbooks/shop/playbook.yaml:18: world.invariants[0].holds: invariant `refund_within_total` cannot be evaluated: Key `"order"` was not found (in scenario `small_refund`)
    Error playbooks/shop/playbook.yaml:18: world.invariants[0].holds: the world has no `order` (did you mean `orders`?)
    Warning playbooks/shop/playbook.yaml:29: tools[1].writes[0]: `/orders/{order_id}/refnded` matches nothing in the world's schema or in any initial world
    Error playbooks/shop/playbook.yaml:39: tools[3].reads[0]: `/article` matches nothing in the world's schema or in any initial world (did you mean `articles`?)
    Warning playbooks/shop/playbook.yaml:47: tools[4].writes[1]: `/tickets/+/status/now` matches nothing in the world's schema or in any initial world
    "#);
}

#[test]
fn sample_calls_find_what_breaks() {
    let broken = [
        // A misspelled part, and an undeclared write.
        ("tools.star", "order = world[\"orders\"][order_id]\n", "order = world[\"ordrs\"][order_id]\n"),
        (
            "tools.star",
            "if order_id not in world",
            "world[\"orders\"][order_id][\"total\"] = 1\n    if order_id not in world",
        ),
    ];
    assert_snapshot!(found(&broken), @r#"
    Error playbooks/shop/tools.star:2: get_order: get_order({"order_id":"o_17"}) in scenario `small_refund` is undone: `get_order` may not change /orders/o_17/total; its `writes` do not name it
    Error playbooks/shop/tools.star:8: refund: refund({"order_id":"o_17","amount":1.0}) in scenario `small_refund` breaks: playbooks/shop/tools.star:9, in refund: Key `"ordrs"` was not found
    Error playbooks/shop/tools.star:9: the world has no `ordrs` (did you mean `orders`?)
    Error playbooks/shop/tools.star:13: meddle: meddle({}) in scenario `small_refund` is undone: `meddle` may not change /orders/o_17/total; its `writes` do not name it
    "#);
    // A function that returns nothing, whatever sample calls come to.
    let silent = [(
        "tools.star",
        "def meddle(world, ctx):",
        "def meddle(world, ctx):\n    fail(\"no\")\n\ndef _old(world, ctx):",
    )];
    assert_snapshot!(found(&silent), @"Warning playbooks/shop/tools.star:12: meddle: returns nothing, so that the agent reads `null`: return what it should read");
    // A record that the schema refuses.
    let refused = [("tools.star", "round(order[\"refunded\"] + amount, 2)", "-5")];
    assert_snapshot!(found(&refused), @r#"Warning playbooks/shop/tools.star:7: refund: no sample call is allowed by the rules of the world: refund({"order_id":"o_17","amount":1.0}) in scenario `small_refund`: /orders/o_17/refunded: -5 is less than the minimum of 0"#);
}

#[test]
fn what_is_broken_hides_nothing_else() {
    let misspelled = ("tools.star", "order = world[\"orders\"][order_id]\n", "order = world[\"ordrs\"][order_id]\n");
    let edits = [
        ("tools.star", "def get_order(world, ctx, order_id):", "def get_order(world, ctx, oder_id):"),
        ("tools.star", "if order_id not in world", "order_id = oder_id\n    if order_id not in world"),
        misspelled,
    ];
    assert_snapshot!(found(&edits), @r#"
    Error playbooks/shop/tools.star:2: get_order: does not take `order_id`, which the tool declares
    Error playbooks/shop/tools.star:2: get_order: needs `oder_id`, which the tool does not declare (did you mean `order_id`?)
    Error playbooks/shop/tools.star:8: refund: refund({"order_id":"o_17","amount":1.0}) in scenario `small_refund` breaks: playbooks/shop/tools.star:9, in refund: Key `"ordrs"` was not found
    Error playbooks/shop/tools.star:9: the world has no `ordrs` (did you mean `orders`?)
    Error playbooks/shop/tools.star:13: meddle: meddle({}) in scenario `small_refund` is undone: `meddle` may not change /orders/o_17/total; its `writes` do not name it
    "#);
    // A world that breaks a rule, beside one that does not.
    let overpaid = testing::scenario(&[("small_refund", "overpaid"), ("refunded: 0}", "refunded: 90}")]);
    let (before, after) = (all(&[]), all_with(&[misspelled], &[overpaid, testing::scenario(&[])]));
    let new: Vec<String> = after.into_iter().filter(|line| !before.contains(line)).collect();
    assert_snapshot!(new.join("\n"), @r#"
    Error playbooks/shop/playbook.yaml:15: world.base: a refund is never more than the order cost (in scenario `overpaid`)
    Error playbooks/shop/tools.star:7: refund: refund({"order_id":"o_17","amount":1.0}) in scenario `small_refund` breaks: playbooks/shop/tools.star:8, in refund: Key `"ordrs"` was not found
    Error playbooks/shop/tools.star:8: the world has no `ordrs` (did you mean `orders`?)
    "#);
}

#[test]
fn scripts_lead_to_more_calls() {
    // Only the arguments of the script break it.
    let amount = [(
        "tools.star",
        "    order[\"refunded\"] = round",
        "    if amount == 20.5:\n        order.nothing()\n    order[\"refunded\"] = round",
    )];
    assert_snapshot!(found(&amount), @r#"
    Error playbooks/shop/tools.star:7: refund: refund({"order_id":"o_17","amount":20.5}) in the script of scenario `small_refund` breaks: playbooks/shop/tools.star:10, in refund: Object of type `dict` has no attribute `nothing`
    Error playbooks/shop/tools.star:14: meddle: meddle({}) in scenario `small_refund` is undone: `meddle` may not change /orders/o_17/total; its `writes` do not name it
    "#);
    // It waits for a call that the script makes.
    let later = [(
        "tools.star",
        "    world[\"orders\"][\"o_17\"][\"total\"] = 0.0",
        "    if world[\"orders\"][\"o_17\"][\"refunded\"] == 0:\n        fail(\"Not yet.\")\n    world[\"orders\"][\"o_17\"][\"total\"] = 0.0",
    )];
    assert_snapshot!(found(&later), @"Error playbooks/shop/tools.star:12: meddle: meddle({}) in scenario `small_refund` after its script is undone: `meddle` may not change /orders/o_17/total; its `writes` do not name it");
}

#[test]
fn what_no_sample_call_reaches_is_said() {
    let refused = [(
        "tools.star",
        "    world[\"orders\"][\"o_17\"][\"total\"] = 0.0",
        "    if ctx.now != \"\":\n        fail(\"Wait.\")",
    )];
    assert_snapshot!(found(&refused), @"Warning playbooks/shop/tools.star:12: meddle: every sample call is refused by `fail`, so nothing after that is checked; call it in a script: meddle({}) in scenario `small_refund`: Wait.");
    let with_code = |code: &str| {
        let parameters = format!("parameters: {{type: object, properties: {{code: {code}}}, required: [code]}}");
        found(&[
            ("playbook.yaml", "parameters: {type: object, properties: {}}", &parameters),
            ("tools.star", "def meddle(world, ctx):", "def meddle(world, ctx, code):"),
        ])
    };
    assert_snapshot!(with_code(r"{type: string, pattern: '^\p{Lu}$'}"), @r#"Warning playbooks/shop/playbook.yaml:32: tools[2].parameters: no sample call fits, so the function is not checked; give the arguments `examples:`: {"code":"sample"}: /code: "sample" does not match "^\p{Lu}$""#);
    assert_snapshot!(with_code(r"{type: string, pattern: '^\p{Lu}$', examples: [Q]}"), @r#"Error playbooks/shop/tools.star:12: meddle: meddle({"code":"Q"}) in scenario `small_refund` is undone: `meddle` may not change /orders/o_17/total; its `writes` do not name it"#);
}

#[test]
fn a_list_is_written_by_index() {
    let edits = [
        (
            "world.yaml",
            "  articles: {type: object}",
            "  articles: {type: object}\n  log: {type: array, items: {type: object, properties: {note: {type: string}}}}",
        ),
        (
            "playbook.yaml",
            "writes: [\"/orders/*/refunded\"]",
            "writes: [\"/orders/*/refunded\", \"/log/-\", /log/note, \"/log/+\", \"/log/*/note\", /log/0]",
        ),
        // A model may name the end of a list so.
        ("playbook.yaml", "writes: [/tickets/+]", "writes: [/tickets/+, \"/log/-\"]"),
    ];
    assert_snapshot!(found(&edits), @"
    Warning playbooks/shop/playbook.yaml:34: tools[2].writes[1]: `/log/-` never matches: the items of a list are `+`, `*`, `{argument}` or a number; write `/log/+`
    Warning playbooks/shop/playbook.yaml:34: tools[2].writes[2]: `/log/note` never matches: the items of a list are `+`, `*`, `{argument}` or a number; write `/log/*/note`
    ");
}

#[test]
fn a_misspelled_name_beneath_a_list_is_found() {
    let edits = [
        (
            "world.yaml",
            "  articles: {type: object}",
            "  articles: {type: object}\n  log: {type: array, items: {type: object, properties: {note: {type: string}}}}",
        ),
        ("base.yaml", "tickets: {}\n", "tickets: {}\nlog: [{note: x}]\n"),
        (
            "playbook.yaml",
            "writes: [\"/orders/*/refunded\"]",
            "writes: [\"/orders/*/refunded\", \"/log/*/note\", \"/log/*/nte\"]",
        ),
    ];
    assert_snapshot!(found(&edits), @"Warning playbooks/shop/playbook.yaml:34: tools[2].writes[2]: `/log/*/nte` matches nothing in the world's schema or in any initial world");
}

#[test]
fn rules_read_what_there_is() {
    let rules = |rules: [&str; 3]| {
        let before = "    - name: refund_within_total\n      holds: all([o[\"refunded\"] <= o[\"total\"] for o in world[\"orders\"].values()])\n      message: a refund is never more than the order cost\n";
        let after: String = rules.iter().map(|rule| format!("    - {{message: m, {rule}}}\n")).collect();
        let lines = "{lines: {type: array, items: {type: object, properties: {price: {type: number}}}}, total: {type: number}, ";
        found(&[("playbook.yaml", before, &after), ("world.yaml", "{total: {type: number}, ", lines)])
    };
    let within = [
        r#"name: a, each: orders/lines, holds: 'record.get("prce", 0) >= 0 and parent.get("totl", 0) >= 0'"#,
        r#"name: b, each: orders/lnes, holds: 'record["price"] > 0'"#,
        r#"name: c, each: orders/total, holds: 'record["price"] > 0'"#,
    ];
    assert_snapshot!(rules(within), @"
    Warning playbooks/shop/playbook.yaml:17: world.invariants[0].holds: the records of `orders/lines` have no `prce` (did you mean `price`?)
    Warning playbooks/shop/playbook.yaml:17: world.invariants[0].holds: the records of `orders` have no `totl` (did you mean `total`?)
    Warning playbooks/shop/playbook.yaml:18: world.invariants[1].each: the records of `orders` have no `lnes` (did you mean `lines`?)
    Warning playbooks/shop/playbook.yaml:19: world.invariants[2].each: `orders/total` is no collection, so the rule is never checked
    ");
    let others = [
        r#"name: d, holds: 'all([o.get("totl", 0) >= 0 for o in world["orders"].values()])'"#,
        r#"name: e, each: orders, holds: 'parent["total"] > 0 if record["total"] < 0 else True'"#,
        r#"name: f, each: orders/lines, holds: 'record["price"] <= parent.get("total", 0)'"#,
    ];
    assert_snapshot!(rules(others), @"
    Warning playbooks/shop/playbook.yaml:17: world.invariants[0].holds: nothing in the world has `totl` (did you mean `total`?), so `.get` never finds it
    Warning playbooks/shop/playbook.yaml:18: world.invariants[1].holds: reads `total` from `parent`, which is None: no record holds the records of `orders`
    ");
    let policy = "simulate: terminal\npolicy_rules: [{name: kept, message: m, holds: 'len(before[\"ordrs\"]) == len(world[\"orders\"])'}]\n";
    assert_snapshot!(found(&[("playbook.yaml", "simulate: terminal\n", policy)]), @"Error playbooks/shop/playbook.yaml:61: policy_rules[0].holds: the world has no `ordrs` (did you mean `orders`?)");
}

#[test]
fn what_tools_write_is_known_and_prose_reads_nothing() {
    let before = "    - name: refund_within_total\n      holds: all([o[\"refunded\"] <= o[\"total\"] for o in world[\"orders\"].values()])\n      message: a refund is never more than the order cost\n";
    let rule = |name: &str, field: &str| {
        format!("    - {{name: {name}, message: m, each: orders, holds: 'record.get(\"{field}\", 0) >= 0'}}\n")
    };
    let after = rule("a", "noted") + &rule("b", "seen") + &rule("c", "zzzzzzzz");
    let edits = [
        ("playbook.yaml", before, after.as_str()),
        ("tools.star", "return \"done\"\n", "return \"done\"\n\ndef _note(order):\n    order[\"noted\"] = 1\n"),
        ("find.json", "\"hits\": 1", "\"hits\": 1, \"seen\": 0"),
    ];
    assert_snapshot!(found(&edits), @"Warning playbooks/shop/playbook.yaml:19: world.invariants[2].holds: the records of `orders` have no `zzzzzzzz`");
    let edits = [
        ("tools.star", "fail(\"no order %s\" % order_id)", "fail(\"no order %s in world['oldest']\" % order_id)"),
        ("tools.star", "order_id, amount):", "order_id, amount):  # not world[\"old\"]"),
        (
            "tools.star",
            "return \"done\"\n",
            "return \"done\"\n\n# As world[\"former\"].\ndef _note(world):\n    \"\"\"Reads\n    world[\"older\"].\n    \"\"\"\n    return world[\"ordrs\"]\n",
        ),
    ];
    assert_snapshot!(found(&edits), @"Error playbooks/shop/tools.star:21: the world has no `ordrs` (did you mean `orders`?)");
}

#[test]
fn a_hook_is_called_with_four_values() {
    let hook = |function: &str, writes: &str| {
        let name = function.trim_start_matches("def ").split('(').next().unwrap_or_default();
        let after = format!("simulate: terminal\nafter_call: {{function: {name}, writes: [{writes}]}}\n");
        let function = format!("return \"done\"\n\n{function}\n");
        found(&[("playbook.yaml", "simulate: terminal\n", &after), ("tools.star", "return \"done\"\n", &function)])
    };
    assert_snapshot!(hook("def derive(world, ctx, tool):\n    return 1", "/orders/*/total"), @"Error playbooks/shop/tools.star:16: derive: is the hook, which is called with four values: `(world, ctx, tool, answer)`");
    assert_snapshot!(hook("def derive(world, ctx, tool, answer, more):\n    return 1", "/order/*"), @"
    Error playbooks/shop/playbook.yaml:61: after_call.writes[0]: `/order/*` matches nothing in the world's schema or in any initial world (did you mean `orders`?)
    Error playbooks/shop/tools.star:16: derive: is the hook, which is called with four values: `(world, ctx, tool, answer)`
    ");
    assert_snapshot!(hook("def derive(world, ctx, tool, answer):\n    answer.nothing()", "/orders/*/total"), @r#"
    Error playbooks/shop/tools.star:2: get_order: get_order({"order_id":"o_17"}) in scenario `small_refund` breaks: playbooks/shop/tools.star:17, in derive: the hook `derive` failed: Object of type `dict` has no attribute `nothing`
    Error playbooks/shop/tools.star:12: meddle: meddle({}) in scenario `small_refund` breaks: playbooks/shop/tools.star:17, in derive: the hook `derive` failed: Object of type `string` has no attribute `nothing`
    "#);
    assert_snapshot!(hook("def derive(world, ctx, tool, answer):\n    world[\"orders\"].clear()", "/articles"), @r#"
    Error playbooks/shop/tools.star:2: get_order: get_order({"order_id":"o_17"}) in scenario `small_refund` is undone: neither `get_order` nor the hook `derive` may change /orders/o_17; no `writes` names it
    Error playbooks/shop/tools.star:7: refund: refund({"order_id":"o_17","amount":1.0}) in scenario `small_refund` is undone: neither `refund` nor the hook `derive` may change /orders/o_17; no `writes` names it
    Error playbooks/shop/tools.star:12: meddle: meddle({}) in scenario `small_refund` is undone: neither `meddle` nor the hook `derive` may change /orders/o_17; no `writes` names it
    "#);
    assert_snapshot!(hook("def derive(world, ctx, tool, answer):\n    for i in range(1000000):\n        for j in range(1000):\n            pass", "/orders/*/total"), @r#"Error playbooks/shop/tools.star:2: get_order: get_order({"order_id":"o_17"}) in scenario `small_refund` breaks: playbooks/shop/tools.star:16, in derive: the hook `derive` failed: the call took more than 1,000,000 steps; each call of a function and each round of a loop is one"#);
    assert_snapshot!(hook("def derive(world, ctx, tool, answer, more = 1):\n    pass", "/orders/*/total"), @"");
    assert_snapshot!(hook("def _derive(world, ctx, tool, answer):\n    pass", "/orders/*/total"), @"");
    assert_snapshot!(hook("def _derive(world, ctx, tool):\n    pass", "/orders/*/total"), @"Error playbooks/shop/tools.star:16: _derive: is the hook, which is called with four values: `(world, ctx, tool, answer)`");
}

#[test]
fn worlds_and_invariants_are_tried() {
    let field = [("playbook.yaml", "o[\"refunded\"] <= o[\"total\"]", "o[\"refunded\"] <= o[\"totl\"]")];
    assert_snapshot!(found(&field), @r#"Error playbooks/shop/playbook.yaml:18: world.invariants[0].holds: invariant `refund_within_total` cannot be evaluated: Key `"totl"` was not found (in scenario `small_refund`)"#);
    let each = [
        ("playbook.yaml", "name: refund_within_total", "{name: priced, each: orders, message: m,"),
        (
            "playbook.yaml",
            "      holds: all([o[\"refunded\"] <= o[\"total\"] for o in world[\"orders\"].values()])",
            "       holds: 'record.get(\"totl\", 0) >= 0' }",
        ),
        ("playbook.yaml", "      message: a refund is never more than the order cost", ""),
    ];
    assert_snapshot!(found(&each), @"Warning playbooks/shop/playbook.yaml:18: world.invariants[0].holds: the records of `orders` have no `totl` (did you mean `total`?)");
    let base = [("base.yaml", "articles:", "articls:")];
    assert_snapshot!(found(&base), @"Error playbooks/shop/playbook.yaml:15: world.base: the base world is invalid: Additional properties are not allowed ('articls' was unexpected)");
}

#[test]
fn what_does_not_compile_is_an_error() {
    assert_snapshot!(found(&[("tools.star", "def refund(", "def refnd("), ("world.yaml", "type: object", "type: objct")]), @r#"
    Error playbooks/shop/playbook.yaml:14: world.schema: is not a valid JSON Schema: "objct" is not valid under any of the schemas listed in the 'anyOf' keyword
    Error playbooks/shop/playbook.yaml:28: tools[1].simulate: no function `refund` in the playbook's code
    "#);
}
