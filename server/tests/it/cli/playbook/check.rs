//! What compiles and is still wrong.

use crate::cli::{Project, said};

const PLAYBOOK: &str = "playbooks/retail_bank/playbook.yaml";

#[tokio::test]
async fn a_playbook_that_is_not_there() {
    let said = said(&mut Project::new().groundstate("playbook check retail_bnk")).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(said.stderr, @"
    NAME: there is no playbook `retail_bnk` (did you mean `retail_bank`?); known: retail_bank
    1 problem found; nothing was done
    ");
    let said = crate::cli::said(&mut Project::new().groundstate("playbook check retail_bnk --format json")).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(2), ""));
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    insta::assert_snapshot!(report, @r#"{"playbooks":0,"errors":1,"warnings":0,"findings":[{"severity":"error","file":"NAME","line":0,"field":"","message":"there is no playbook `retail_bnk` (did you mean `retail_bank`?); known: retail_bank"}]}"#);
}

#[tokio::test]
async fn errors_are_bad_input() {
    let project = Project::new();
    project.edit(
        "playbooks/retail_bank/tools.star",
        "def list_payees(world, ctx, customer_id):",
        "def list_payees(world, ctx, customr_id, customer_id = None):",
    );
    project.edit(
        "playbooks/retail_bank/tools.star",
        "account_id, from_date = \"\", to_date = \"\", search = \"\"):",
        "account_id, from_date, to_date = \"\", search = \"\", text = \"\"):",
    );
    project.edit(
        "playbooks/retail_bank/templates/search_help.md.j2",
        "{{ view.articles | tojson }}",
        "{{ view.article | tojson }}",
    );
    project.edit("scenarios/retail_bank/help_card_abroad.yaml", "user_goal:", "user_gaol:");
    let said = said(&mut project.groundstate("playbook check retail_bank")).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(2), ""));
    insta::assert_snapshot!(said.stdout, @"
    error: scenarios/retail_bank/help_card_abroad.yaml:1: field `user_goal` is missing
    error: scenarios/retail_bank/help_card_abroad.yaml:9: user_gaol: unknown field (did you mean `user_goal`?); expected one of: id, playbook, intent, description, tags, family, user_facts, user_request, user_mistakes, system_facts, user_goal, expected_outcome, personas, faults, clock, script
    warning: playbooks/retail_bank/playbook.yaml:33: intents[3]: no scenario has the intent `card_limit`
    warning: playbooks/retail_bank/playbook.yaml:40: intents[10]: no scenario has the intent `general_help`
    warning: playbooks/retail_bank/playbook.yaml:178: tools[7].name: no scenario calls `list_disputes`, and neither prompt, policy nor guardrails mention it
    warning: playbooks/retail_bank/playbook.yaml:254: tools[14].name: no scenario calls `set_card_limit`, and neither prompt, policy nor guardrails mention it
    warning: playbooks/retail_bank/playbook.yaml:364: tools[21].name: no scenario calls `search_help`, and neither prompt, policy nor guardrails mention it
    warning: playbooks/retail_bank/playbook.yaml:374: tools[21].template: `templates/search_help.md.j2` uses `view.article`, which it never sees (did you mean `articles`?)
    warning: playbooks/retail_bank/playbook.yaml:393: tools[22].name: no scenario calls `get_opening_hours`, and neither prompt, policy nor guardrails mention it
    error: playbooks/retail_bank/tools.star:143: list_transactions: needs `from_date`, which callers may leave out: give it a default (`from_date = None`)
    warning: playbooks/retail_bank/tools.star:143: list_transactions: takes `text`, which the tool does not declare
    error: playbooks/retail_bank/tools.star:184: list_payees: needs `customr_id`, which the tool does not declare (did you mean `customer_id`?)
    1 playbook checked: 4 errors, 8 warnings
    ");
}

#[tokio::test]
async fn what_does_not_compile_is_not_checked_further() {
    let project = Project::new();
    project.edit(PLAYBOOK, "    returns:\n", "    retruns:\n");
    project.edit(PLAYBOOK, "simulate: terminal", "simulate: termnal");
    let said = said(&mut project.groundstate("playbook check")).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(2), ""));
    insta::assert_snapshot!(said.stdout, @"
    error: playbooks/retail_bank/playbook.yaml:376: tools[21].retruns: unknown field (did you mean `returns`?); expected one of: name, description, parameters, simulate, writes, reads, template, returns, scripted, scripted_patch, id_prefix, response, prompt, uses, service, service_tool
    error: playbooks/retail_bank/playbook.yaml:410: tools[23].simulate: expected one of code, model, constant, agent, service, terminal, found text `termnal` (did you mean `terminal`?)
    1 playbook checked: 2 errors, 0 warnings
    ");
}

#[tokio::test]
async fn warnings_are_printed_and_strict_refuses_them() {
    let project = Project::new();
    project.edit(PLAYBOOK, "writes: [/payees/+]", "writes: [/payees/+, /payees/*/ibn]");
    project.edit(PLAYBOOK, "  - general_help", "  - general_help\n  - loan_request");
    project.edit(
        "playbooks/retail_bank/tools.star",
        "# Looking things up.",
        "def get_limits(world, ctx):\n    return {}\n",
    );
    let warned = said(&mut project.groundstate("playbook check")).await;
    assert_eq!((warned.code, warned.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(warned.stdout, @"
    warning: playbooks/retail_bank/playbook.yaml:33: intents[3]: no scenario has the intent `card_limit`
    warning: playbooks/retail_bank/playbook.yaml:41: intents[11]: no scenario has the intent `loan_request`
    warning: playbooks/retail_bank/playbook.yaml:179: tools[7].name: no scenario calls `list_disputes`, and neither prompt, policy nor guardrails mention it
    warning: playbooks/retail_bank/playbook.yaml:255: tools[14].name: no scenario calls `set_card_limit`, and neither prompt, policy nor guardrails mention it
    warning: playbooks/retail_bank/playbook.yaml:293: tools[16].writes[1]: `/payees/*/ibn` matches nothing in the world's schema or in any initial world
    warning: playbooks/retail_bank/tools.star:105: get_limits: looks like a tool, but no tool with `simulate: code` has this name (did you mean `set_card_limit`?); begin a helper's name with `_`
    1 playbook checked: 0 errors, 6 warnings
    ");
    let strict = said(&mut project.groundstate("playbook check --strict")).await;
    assert_eq!((strict.code, strict.stdout), (Some(2), warned.stdout));
}

#[tokio::test]
async fn names_that_no_world_can_have_are_errors() {
    let project = Project::new();
    project.edit(PLAYBOOK, "writes: [/payees/+]", "writes: [/payees/+, /paye/+]");
    project.edit(PLAYBOOK, "world[\"fee_refunds\"]", "world.get(\"fee_refund\", {})");
    let said = said(&mut project.groundstate("playbook check --format json")).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(2), ""));
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    let errors = report["findings"].as_array().unwrap().iter().filter(|found| found["severity"] == "error");
    let lines = errors.map(|found| format!("{} {} {}", found["line"], found["field"], found["message"]));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    75 "world.invariants[9].holds" "the world has no `fee_refund` (did you mean `fee_refunds`?)"
    292 "tools[16].writes[1]" "`/paye/+` matches nothing in the world's schema or in any initial world (did you mean `payees`?)"
    "#);
    assert_eq!((&report["errors"], &report["warnings"], &report["playbooks"]), (&2.into(), &3.into(), &1.into()));
}

#[tokio::test]
async fn the_shipped_playbook_has_no_errors() {
    let said = said(&mut Project::new().groundstate("playbook check")).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(said.stdout, @"
    warning: playbooks/retail_bank/playbook.yaml:33: intents[3]: no scenario has the intent `card_limit`
    warning: playbooks/retail_bank/playbook.yaml:178: tools[7].name: no scenario calls `list_disputes`, and neither prompt, policy nor guardrails mention it
    warning: playbooks/retail_bank/playbook.yaml:254: tools[14].name: no scenario calls `set_card_limit`, and neither prompt, policy nor guardrails mention it
    1 playbook checked: 0 errors, 3 warnings
    ");
}
