use insta::assert_snapshot;

use super::{parse, text, value};
use crate::playbook::Playbook;
use crate::scenario::Scenario;

fn problems<T: serde::de::DeserializeOwned + schemars::JsonSchema>(text: &str) -> String {
    match parse::<T>("x.yaml", text) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

const SCENARIO: &str = "\
id: late_fee
playbook: retail_bank
intent: fees
description: A fee is disputed.
user_goal: Get the fee back.
expected_outcome:
  told: ['12.50']
script:
  - user: {simple: a, medium: b}
  - agent: The fee is 12.50.
";

#[test]
fn a_good_scenario_is_read() {
    assert_snapshot!(problems::<Scenario>(SCENARIO), @"no problem");
}

#[test]
fn every_problem_is_named_with_line_and_field() {
    let text = SCENARIO
        .replace("intent: fees", "intnt: fees")
        .replace("told: ['12.50']", "told: 12.50\n  action: []")
        .replace("- agent: The fee", "- agnet: The fee")
        .replace("late_fee", "Late Fee");
    assert_snapshot!(problems::<Scenario>(&text), @"
    x.yaml:1: field `intent` is missing
    x.yaml:1: id: expected text like /^[a-z0-9_]{1,80}$/, found text `Late Fee`
    x.yaml:3: intnt: unknown field (did you mean `intent`?); expected one of: id, playbook, intent, description, tags, family, user_facts, user_request, user_mistakes, system_facts, user_goal, expected_outcome, personas, faults, clock, script
    x.yaml:7: expected_outcome.told: expected array, found 12.5
    x.yaml:8: expected_outcome.action: unknown field (did you mean `actions`?); expected one of: world, actions, actions_in_order, forbidden, told
    x.yaml:11: script[1].agnet: unknown field (did you mean `agent`?); expected one of: user, agent, user_calls, calls, reasoning
    ");
}

#[test]
fn of_many_problems_the_first_are_named_and_the_others_counted() {
    let fields: String = (0..20_000).map(|n| format!("field{n}: x\n")).collect();
    let found = parse::<Scenario>("x.yaml", &format!("{SCENARIO}{fields}")).expect_err("unknown fields");
    assert_eq!(found.len(), 101);
    assert_eq!(found[100].message, "and 19900 more problems, not listed");
    let steps: String = (0..5_000).map(|_| "  - agent: 5\n").collect();
    let found = parse::<Scenario>("x.yaml", &format!("{SCENARIO}{steps}")).expect_err("numbers for texts");
    assert_eq!(found.len(), 101);
    assert_eq!(found[100].message, "and 4900 more problems, not listed");
}

/// With a whole pointer for each value this took 5.6 GiB, and minutes.
#[test]
fn places_cost_little_however_long_the_keys_are() {
    let keys: String = (0..60).map(|i| format!("{}{}:\n", " ".repeat(i), "k".repeat(1_000))).collect();
    let items = format!("{}[{}]\n", " ".repeat(60), "1,".repeat(200_000));
    let started = std::time::Instant::now();
    let located = value("x.yaml", &(keys + &items)).expect("a document");
    let deep = format!("{}/199999", format!("/{}", "k".repeat(1_000)).repeat(60));
    assert_eq!((located.line(&deep), located.line(&format!("{deep}/none"))), (61, 61));
    let name = vec!["k".repeat(1_000); 60].join(".") + "[199999]";
    assert_eq!(located.pointer(&name), Some(deep));
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn fields_are_found_by_their_names() {
    let located = value("x.yaml", "a.b: 1\na:\n  b: 2\n  '7': [x, {c/d: y}]\n").expect("a document");
    for (name, pointer, line) in
        [("", "", 1), ("a.b", "/a.b", 1), ("a", "/a", 2), ("a[7]", "/a/7", 4), ("a[7][1].c/d", "/a/7/1/c~1d", 4)]
    {
        assert_eq!(located.pointer(name).as_deref(), Some(pointer), "{name}");
        assert_eq!(located.line(pointer), line, "{name}");
    }
    assert_eq!(located.pointer("a.c"), None);
    assert_eq!(located.line("/a/c/d"), 2);
}

#[test]
fn what_is_nested_without_end_is_refused_at_once() {
    for text in ["[".repeat(1_000_000), "- ".repeat(1_000_000), "{a: ".repeat(300_000), "? ".repeat(300_000)] {
        let said = value("x.yaml", &text).expect_err("it is nested too deep")[0].to_string();
        let known = ["nested deeper than 64 levels", "is not valid YAML", "a key that is not a plain text"];
        assert!(known.iter().any(|known| said.contains(known)), "{said:.200}");
    }
    let many = "[0,0,0,0,0,0,0,0,0,0],\n".repeat(100_000);
    let said = value("x.yaml", &format!("[{many}]")).expect_err("it holds too much")[0].to_string();
    assert!(said.ends_with("is one value too many: a document holds at most 1000000"), "{said:.200}");
}

#[test]
fn unknown_variants_list_the_known_ones() {
    let text = "\
name: p
title: t
description: d
prompt: p.md
policy: p.md
intents: []
clock: yesterday
judge: default
clarification: c
world: {schema: w.yaml}
limits: {user_turns: 0}
tools:
  - {name: 'bad name', description: d, parameters: {}, simulate: cod}
";
    assert_snapshot!(problems::<Playbook>(text), @"
    x.yaml:7: clock: expected a date-time, found text `yesterday`
    x.yaml:11: limits.user_turns: 0 is less than the minimum of 1
    x.yaml:13: tools[0].name: expected text like /^[a-zA-Z0-9_-]{1,64}$/, found text `bad name`
    x.yaml:13: tools[0].simulate: expected one of code, model, constant, agent, service, terminal, found text `cod` (did you mean `code`?)
    ");
}

#[test]
fn yaml_itself_is_strict() {
    assert_snapshot!(problems::<Scenario>("a: 1\na: 2\n"), @"x.yaml:2: a: is given twice");
    assert_snapshot!(problems::<Scenario>("a: &x 1\nb: *x\n"), @"x.yaml:2: b: is an alias; write the value out (anchors and aliases are not read)");
    assert_snapshot!(problems::<Scenario>("a: [1\nb: 2\n"), @"x.yaml:2: is not valid YAML: illegal placement of ':' indicator");
    assert_snapshot!(problems::<Scenario>("a: 1\n---\nb: 2\n"), @"x.yaml:2: holds a second document; one file is one document");
    assert_snapshot!(problems::<Scenario>("a: .nan\n"), @"x.yaml:1: a: is not a finite number");
    assert_snapshot!(problems::<Scenario>(&format!("a: {}1{}", "[".repeat(100), "]".repeat(100))), @"x.yaml:1: a[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: is nested deeper than 64 levels");
    assert_snapshot!(problems::<Scenario>(""), @"x.yaml: expected object, found nothing");
}

#[test]
fn what_is_written_is_read_back() {
    let odd = [
        "",
        " a ",
        "yes",
        "~",
        "1",
        "1e3",
        "0x1",
        "2026-03-02",
        "a: b",
        "- a",
        "# a",
        "{{ x }}",
        "'",
        "\"",
        "\\n",
        "%a",
        "@a",
        "one\ntwo",
        "one\n\n  two\n",
        "\n\n",
        "---",
        "a\n---\nb",
        "...",
        "tab\there",
        "a\u{7}b",
        "ä\u{2028}b",
        "\u{feff}",
        "😀",
        "\u{85}",
        "a \nb",
        "a\n\n\n",
        "a\r\nb",
        "[a]",
        "!a",
        "&a",
        "*a",
        ":",
        "a #b",
        "-",
        "?",
        "null",
    ];
    for odd in odd {
        let document =
            serde_json::json!({"first": odd, odd: [odd, [[odd]], {odd: odd}, {}, []], "last": {"a": {"b": odd}}});
        let written = text(&document);
        match value("x.yaml", &written) {
            Ok(read) => assert_eq!(read.value, document, "{odd:?}:\n{written}"),
            Err(problems) => panic!("{odd:?}: {}\n{written}", problems[0]),
        }
    }
    let numbers = serde_json::json!([0, -1, 1.5, 100.0, 1e300, i64::MIN, null, true]);
    assert_eq!(value("x.yaml", &text(&numbers)).unwrap().value, numbers);
}
