//! Documents that nest without end, and documents that grow when they are read.

use serde_json::json;
use sqlx::PgPool;

use super::{Attack, checked, own, suffered};

fn code_that_nests(depth: usize) -> Vec<Attack> {
    let code = own("tools.star");
    let with = |more: String| [("tools.star", format!("{code}\n{more}\n"))];
    let within = |open: &str, text: &str, close: &str| format!("{}{text}{}", open.repeat(depth), close.repeat(depth));
    // Indented, such a text grows with the square of its depth.
    let most = depth.min(2_000);
    let ifs: String = (1..=most).map(|i| format!("{}if x:\n", " ".repeat(i))).collect();
    let elifs = "  elif x:\n    return 1\n".repeat(depth);
    let playbook = own("playbook.yaml");
    let invariant = playbook.replacen("holds: ", &format!("holds: {} and ", within("(", "True", ")")), 1);
    vec![
        checked("brackets", &with(format!("_x = {}", within("[", "", "]")))),
        checked("open brackets", &with(format!("_x = {}", "(".repeat(depth)))),
        checked("minuses", &with(format!("_x = {}1", "-".repeat(depth)))),
        checked("nots", &with(format!("_x = {}True", "not ".repeat(depth)))),
        checked("sums", &with(format!("_x = 1{}", " + 1".repeat(depth)))),
        checked("ifs", &with(format!("def _f(x):\n{ifs}{}return 1", " ".repeat(most + 1)))),
        checked("elifs", &with(format!("def _f(x):\n  if x == 0:\n    return 0\n{elifs}"))),
        checked("conditions", &with(format!("_x = {}1", "1 if True else ".repeat(depth)))),
        checked("lambdas", &with(format!("_x = {}1", "lambda: ".repeat(depth)))),
        checked("an invariant", &[("playbook.yaml", invariant)]),
    ]
}

fn documents_that_nest(depth: usize) -> Vec<Attack> {
    let template = |text: String| [("prompt.md.j2", text)];
    let world = |text: String| [("base_world.yaml", text)];
    let within = |open: &str, text: &str, close: &str| format!("{}{text}{}", open.repeat(depth), close.repeat(depth));
    let blocks: String = (0..depth.min(2_000)).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    let schema = format!("type: object\nproperties:\n  a: {}\n", within("{anyOf: [", "{type: string}", "]}"));
    let facts = format!("id: x\nplaybook: retail_bank\nsystem_facts: {}", within("{a: ", "", "}"));
    let interface = format!("openapi: 3.0.0\npaths: {}", within("{a: ", "", "}"));
    let request = |name: &str, path, body| Attack { name: name.to_owned(), path, body, may_pass: false };
    vec![
        checked(
            "elifs of a template",
            &template(format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}x".repeat(depth))),
        ),
        checked("ifs of a template", &template(within("{% if a %}", "", "{% endif %}"))),
        checked("brackets of a template", &template(format!("{{{{ {} }}}}", within("(", "1", ")")))),
        checked("filters of a template", &template(format!("{{{{ x{} }}}}", "|upper".repeat(depth)))),
        checked("a world", &world(format!("customers: {}", within("[", "", "]")))),
        checked("a world in blocks", &world(blocks)),
        checked("a schema", &[("world.schema.yaml", schema)]),
        request("a scenario", "/scenarios/x/check", json!({"text": facts})),
        request("an interface", "/playbooks/shop/import", json!({"openapi": interface})),
    ]
}

fn documents_that_grow() -> Vec<Attack> {
    let keys: String = (0..60).map(|i| format!("{}{}:\n", " ".repeat(i), "k".repeat(1_000))).collect();
    let items = format!("{}[{}]\n", " ".repeat(60), "1,".repeat(200_000));
    let laughs: String = (1..30).map(|i| format!("a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1)).collect();
    let unknown: String = (0..100_000).map(|i| format!("field_{i}: 1\n")).collect();
    let doubled =
        |i: usize| format!("  d{i}: {{anyOf: [{{$ref: '#/$defs/d{0}'}}, {{$ref: '#/$defs/d{0}'}}]}}\n", i + 1);
    let definitions: String = (0..30).map(doubled).collect();
    let schema =
        format!("type: object\n$defs:\n{definitions}  d30: {{const: 1}}\nproperties:\n  a: {{$ref: '#/$defs/d0'}}\n");
    let scenario = |name: &str, text: String| Attack {
        name: name.to_owned(),
        path: "/scenarios/x/check",
        body: json!({"text": text}),
        may_pass: false,
    };
    vec![
        scenario("long keys above many items", keys + &items),
        scenario("anchors that double", format!("a0: &a0 [x]\n{laughs}")),
        scenario("unknown fields", unknown),
        checked("a schema that doubles", &[("world.schema.yaml", schema), ("base_world.yaml", "a: 2\n".to_owned())]),
    ]
}

/// Half a thousand levels of some of this are within what people may write; fifty thousand are not.
#[sqlx::test(migrations = "../migrations")]
async fn documents_that_nest_are_refused(pool: PgPool) {
    let of = |depth| code_that_nests(depth).into_iter().chain(documents_that_nest(depth));
    let shallow = of(500).map(|attack| Attack { may_pass: true, ..attack });
    suffered(&pool, shallow.chain(of(50_000)).collect()).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn documents_that_grow_are_refused(pool: PgPool) {
    suffered(&pool, documents_that_grow()).await;
}
