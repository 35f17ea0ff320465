use insta::assert_debug_snapshot;
use serde_json::{Value, json};

use super::{Attempt, RefusalSource, Reply};
use crate::playbook::{Sources, compile};
use crate::testing;

/// The shop's scenario, in which order `o_17` cost 80.
fn shop() -> Attempt {
    shop_with(&[])
}

fn shop_with(edits: &[(&str, &str)]) -> Attempt {
    let mut files = testing::files();
    files.extend(edits.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
    let playbook = compile(&Sources { folder: "playbooks/shop", files: &files }).expect("the shop compiles");
    Attempt::new(playbook, testing::judge(), Some(testing::scenario(&[])))
}

fn call(attempt: &mut Attempt, tool: &str, arguments: Value) -> Option<Reply> {
    attempt.call(tool, arguments.as_object().expect("an object"))
}

#[test]
fn calls_build_on_each_other() {
    let mut shop = shop();
    for (amount, refunded) in [(20.0, 20.0), (30.5, 50.5)] {
        let reply = call(&mut shop, "refund", json!({"order_id": "o_17", "amount": amount}));
        let Some(Reply::Answered { content, patch }) = reply else { panic!("{reply:?}") };
        assert_eq!(content, json!({"refunded": refunded}).to_string());
        assert_eq!(json!(patch), json!([{"op": "replace", "path": "/orders/o_17/refunded", "value": refunded}]));
    }
    assert_eq!(call(&mut shop, "hand_over", json!({})), Some(Reply::Ended));
    assert_eq!(call(&mut shop, "hours", json!({})), None, "the conversation is over");
}

#[test]
fn many_calls_are_no_step_limit() {
    let mut shop = shop();
    for _ in 0..20 {
        assert!(matches!(call(&mut shop, "hours", json!({})), Some(Reply::Answered { .. })));
    }
}

#[test]
fn who_refused_is_named() {
    let mut shop = shop();
    let calls = [
        ("refnd", json!({})),
        ("refund", json!({"order_id": "o_17"})),
        ("get_order", json!({"order_id": "o_18"})),
        ("refund", json!({"order_id": "o_17", "amount": -1})),
        ("refund", json!({"order_id": "o_17", "amount": 81})),
        ("refund", json!({"order_id": "o_18", "amount": 1})),
        ("meddle", json!({})),
    ];
    let replies: Vec<_> = calls.map(|(tool, arguments)| call(&mut shop, tool, arguments)).into();
    assert_debug_snapshot!(replies, @r#"
    [
        Some(
            Refused {
                content: "Error: there is no tool `refnd` (did you mean `refund`?)",
                why: UnknownTool,
            },
        ),
        Some(
            Refused {
                content: "Error: invalid arguments for `refund`: \"amount\" is a required property",
                why: Arguments,
            },
        ),
        Some(
            Refused {
                content: "Error: no order o_18",
                why: Fail,
            },
        ),
        Some(
            Refused {
                content: "Error: /orders/o_17/refunded: -1.0 is less than the minimum of 0",
                why: Schema,
            },
        ),
        Some(
            Refused {
                content: "Error: a refund is never more than the order cost",
                why: Invariants(
                    [
                        "refund_within_total",
                    ],
                ),
            },
        ),
        Some(
            Broken {
                content: "Error: the service could not process this request; nothing was changed",
                why: "playbooks/shop/tools.star:8, in refund: Key `\"o_18\"` was not found",
            },
        ),
        Some(
            Broken {
                content: "Error: the service could not process this request; nothing was changed",
                why: "`meddle` may not change /orders/o_17/total; its `writes` do not name it",
            },
        ),
    ]
    "#);
}

#[test]
fn a_hook_that_refuses_is_named() {
    let files = testing::files();
    let playbook = format!("{}after_call: {{function: derive, writes: [/orders]}}\n", files["playbook.yaml"]);
    let hook = "\ndef derive(world, ctx, tool, answer):\n    fail(\"The books are closed.\")\n";
    let tools = format!("{}{hook}", files["tools.star"]);
    let mut shop = shop_with(&[("playbook.yaml", &playbook), ("tools.star", &tools)]);
    let why = |reply: Option<Reply>| match reply {
        Some(Reply::Refused { content, why }) => (content, why),
        reply => panic!("{reply:?}"),
    };
    assert_eq!(
        why(call(&mut shop, "get_order", json!({"order_id": "o_17"}))),
        ("Error: The books are closed.".to_owned(), RefusalSource::Hook("derive".to_owned()))
    );
    assert_eq!(
        why(call(&mut shop, "get_order", json!({"order_id": "o_18"}))),
        ("Error: no order o_18".to_owned(), RefusalSource::Fail)
    );
}

#[test]
fn a_model_is_shown_its_prompt_and_scripted_may_answer() {
    let mut shop = shop();
    let Some(Reply::Asks { prompt }) = call(&mut shop, "find_article", json!({"query": "refunds"})) else { panic!() };
    assert!(prompt.contains("Call: find_article({\"query\":\"refunds\"})"), "{prompt}");
    assert_eq!(call(&mut shop, "hours", json!({})), None, "a model is waited for");
    let reply = shop.answer_as_scripted();
    assert!(matches!(reply, Ok(Some(Reply::Answered { .. }))), "{reply:?}");
    assert!(matches!(call(&mut shop, "hours", json!({})), Some(Reply::Answered { .. })));
    assert_eq!(shop.answer_as_scripted(), Ok(None));
}

#[test]
fn what_scripted_cannot_answer_is_broken() {
    let mut shop = shop_with(&[("ticket.json", "{\"ticket_id\": {{ now }}}")]);
    call(&mut shop, "open_ticket", json!({"about": "a lamp"}));
    let reply = shop.answer_as_scripted();
    let Ok(Some(Reply::Broken { why, .. })) = reply else { panic!("{reply:?}") };
    assert!(why.starts_with("not JSON"), "{why}");
}

/// The values of the last reply and of its changes, with their origins.
fn origins(attempt: &mut Attempt, tool: &str, arguments: Value) -> Vec<String> {
    let reply = match call(attempt, tool, arguments) {
        Some(Reply::Asks { .. }) => attempt.answer_as_scripted().expect("it renders"),
        reply => reply,
    };
    let Some(Reply::Answered { content, patch }) = reply else { panic!("{reply:?}") };
    let all = attempt.origins_of_content(&content).into_iter().chain(attempt.origins_of_patch(&patch));
    all.map(|traced| format!("{} = {}: {:?}", traced.pointer, traced.value, traced.origin)).collect()
}

#[test]
fn values_of_a_reply_come_from_somewhere() {
    let mut shop = shop();
    assert_eq!(
        origins(&mut shop, "get_order", json!({"order_id": "o_17"})),
        [
            r#"/refunded = 0: World { pointer: "/orders/o_17/refunded", others: 0 }"#,
            r#"/total = 80.0: World { pointer: "/orders/o_17/total", others: 0 }"#
        ]
    );
    assert_eq!(
        origins(&mut shop, "refund", json!({"order_id": "o_17", "amount": 20.5})),
        [
            r#"/refunded = 20.5: Argument { pointer: "/amount" }"#,
            r#"/orders/o_17/refunded = 20.5: Argument { pointer: "/amount" }"#
        ]
    );
    let twice = origins(&mut shop, "refund", json!({"order_id": "o_17", "amount": 10}));
    assert_eq!(twice[0], "/refunded = 30.5: Function");
    assert_eq!(origins(&mut shop, "hours", json!({})), [r#"/opens = "09:00": Playbook"#]);
}

#[test]
fn what_a_model_answers_comes_from_records_or_from_the_model() {
    let found = origins(&mut shop(), "find_article", json!({"query": "refunds"}));
    let expected = [
        r#"/title = "Refunds": World { pointer: "/articles/a_1/title", others: 0 }"#,
        r#"/text = "Refunds take 5 days.": World { pointer: "/articles/a_1/text", others: 0 }"#,
        "/hits = 1: Model",
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_clock_and_new_ids_are_known() {
    let tools = testing::files()["tools.star"].replace(
        "    return world[\"orders\"][order_id]\n",
        "    return {\"id\": fresh_id(\"ref\"), \"other\": fresh_id(\"ref\"), \"at\": ctx.now, \"day\": ctx.now[:10]}\n",
    );
    let found = origins(&mut shop_with(&[("tools.star", &tools)]), "get_order", json!({"order_id": "o_17"}));
    let kinds: Vec<&str> = found.iter().filter_map(|line| line.rsplit(": ").next()).collect();
    assert_eq!(kinds, ["FreshId", "FreshId", "Clock", "Clock"], "{found:?}");
}
