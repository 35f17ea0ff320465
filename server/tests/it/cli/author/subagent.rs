//! Sub-agents from descriptions.

use super::small_project;
use crate::cli::{CommandOutput, Project, groundstate, said};
use crate::support::endpoint::{Endpoint, says};

const LOANS: &str = include_str!("subagent/loans.yaml");

async fn author(project: &Project, spec: &str, flags: &[&str]) -> CommandOutput {
    std::fs::write(project.join("spec.yaml"), spec).unwrap();
    let arguments = ["author", "subagent", "spec.yaml"].into_iter().chain(flags.iter().copied());
    said(groundstate(arguments).current_dir(project.path())).await
}

/// What is said of a description that is refused, and that nothing was written.
async fn refused(spec: &str, flags: &[&str]) -> String {
    let project = small_project();
    let before = playbook(&project);
    let said = author(&project, spec, flags).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.stderr);
    assert_eq!(playbook(&project), before);
    said.stderr
}

/// Every file of the playbook.
fn playbook(project: &Project) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["playbooks/retail_bank", "playbooks/retail_bank/templates"] {
        let entries = std::fs::read_dir(project.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        files.extend(entries.filter(|path| path.is_file()).map(|path| {
            (path.strip_prefix(project.path()).unwrap().display().to_string(), std::fs::read_to_string(path).unwrap())
        }));
    }
    files.sort();
    files
}

/// What calls are answered by `scripted`, one after the other.
async fn answered(project: &Project, calls: &[&str]) -> String {
    let before = calls.iter().flat_map(|call| ["--before", call]);
    let arguments = ["playbook", "try", "get_opening_hours", "--playbook", "retail_bank"].into_iter().chain(before);
    let said = said(groundstate(arguments).current_dir(project.path())).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    said.stdout.split_once("get_opening_hours").unwrap().0.to_owned()
}

#[tokio::test]
async fn a_description_becomes_a_sub_agent_that_plays() {
    let project = small_project();
    let (before, warned) = (playbook(&project), said(&mut project.groundstate("playbook check")).await);
    let made = author(&project, LOANS, &[]).await;
    assert_eq!((made.code, made.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(made.stdout, @"
    wrote    playbooks/retail_bank/loans.md.j2
    wrote    playbooks/retail_bank/templates/apply_for_loan.json.j2
    wrote    playbooks/retail_bank/templates/apply_for_loan.md.j2
    wrote    playbooks/retail_bank/templates/apply_for_loan.patch.j2
    wrote    playbooks/retail_bank/templates/defer_loan.json.j2
    wrote    playbooks/retail_bank/templates/defer_loan.md.j2
    wrote    playbooks/retail_bank/templates/defer_loan.patch.j2
    wrote    playbooks/retail_bank/templates/get_loan.json.j2
    wrote    playbooks/retail_bank/templates/get_loan.md.j2
    wrote    playbooks/retail_bank/templates/list_loans.json.j2
    wrote    playbooks/retail_bank/templates/list_loans.md.j2
    wrote    playbooks/retail_bank/templates/search_loan_rules.json.j2
    wrote    playbooks/retail_bank/templates/search_loan_rules.md.j2
    added to playbooks/retail_bank/base_world.yaml
    added to playbooks/retail_bank/playbook.yaml
    added to playbooks/retail_bank/world.schema.yaml

    Each tool is answered by a model, and by `scripted` in tests. Read what was written, then try:
      groundstate playbook check retail_bank
      groundstate playbook try list_loans --playbook retail_bank --args '{...}'
    ");

    let after = playbook(&project);
    for (path, text) in before {
        let (_, now) = after.iter().find(|(other, _)| *other == path).unwrap();
        let mut lines = now.lines();
        let kept = |line: &str| {
            lines.any(|other| other == line || (line.starts_with("required: [") && other.starts_with("required: [")))
        };
        assert!(text.lines().all(kept), "{path} has lost a line");
    }
    let checked = said(&mut project.groundstate("playbook check")).await;
    assert_eq!(
        (checked.code, checked.stdout.lines().count()),
        (Some(0), warned.stdout.lines().count()),
        "{}",
        checked.stdout
    );
    let validated = said(&mut project.groundstate("validate --strict")).await;
    assert_eq!(validated.code, Some(0), "{}", validated.stdout);

    let again = author(&project, LOANS, &[]).await;
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("spec.yaml:2: name: `retail_bank` has a tool `loans` already"), "{}", again.stderr);
}

#[tokio::test]
async fn every_capability_answers() {
    let project = small_project();
    assert_eq!(author(&project, LOANS, &[]).await.code, Some(0));
    let found = answered(
        &project,
        &[
            r#"list_loans {"customer_id": "cus_1901"}"#,
            r#"list_loans {"customer_id": "cus_1902"}"#,
            r#"get_loan {"loan_id": "loan_0000"}"#,
            r#"search_loan_rules {"question": "Can I repay it early?"}"#,
        ],
    );
    insta::assert_snapshot!(found.await, @r#"
    list_loans answered:
      {
        "loans": [
          {
            "loan_id": "loan_9901",
            "customer_id": "cus_1901",
            "amount": 4200,
            "purpose": "New kitchen",
            "status": "open",
            "applied_on": "2024-05-02"
          }
        ]
      }
    changed nothing

    list_loans answered:
      {
        "loans": []
      }
    changed nothing

    get_loan answered:
      {
        "loan_id": "loan_0000",
        "refused": "There is no loan loan_0000."
      }
    changed nothing

    search_loan_rules answered:
      {
        "loan_rules": [
          {
            "loan_rule_id": "rule_early",
            "title": "Early repayment",
            "body": "A loan can be repaid early without a fee."
          }
        ]
      }
    changed nothing
    "#);
    let changed = answered(
        &project,
        &[
            r#"apply_for_loan {"customer_id": "cus_1901", "amount": 500, "purpose": "A \"blue\" {{ bicycle }}"}"#,
            r#"apply_for_loan {"customer_id": "cus_0000", "amount": 500, "purpose": "A boat"}"#,
            r#"defer_loan {"loan_id": "loan_9901", "note": "Out of work"}"#,
            r#"defer_loan {"loan_id": "loan_0000"}"#,
        ],
    );
    insta::assert_snapshot!(changed.await, @r#"
    apply_for_loan answered:
      {
        "loan_id": "loan_292a3bc8",
        "customer_id": "cus_1901",
        "amount": 500,
        "purpose": "A \"blue\" {{ bicycle }}",
        "status": "applied"
      }
    changed:
      add     /loans/loan_292a3bc8 {"applied_on":"2026-03-02","customer_id":"cus_1901","amount":500,"purpose":"A \"blue\" {{ bicycle }}","status":"applied"}

    apply_for_loan answered:
      {
        "refused": "There is no cus_0000."
      }
    changed nothing

    defer_loan answered:
      {
        "loan_id": "loan_9901",
        "note": "Out of work",
        "status": "deferred"
      }
    changed:
      add     /loans/loan_9901/note "Out of work"
      add     /loans/loan_9901/status "deferred"

    defer_loan answered:
      {
        "loan_id": "loan_0000",
        "refused": "There is no loan loan_0000."
      }
    changed nothing
    "#);
    let shown = "playbook try get_loan --playbook retail_bank --scenario transfer_rent_to_payee --args {\"loan_id\":\"loan_9901\"}";
    let shown = said(&mut project.groundstate(shown)).await;
    assert!(shown.stdout.contains("Answer with `loan_id` and the record's `customer_id`"), "{}", shown.stdout);
}

/// The team's orchestrator leaves the calls to the new sub-agent, so the proof plays it.
#[tokio::test]
async fn a_scenario_can_be_proved_with_it() {
    let project = small_project();
    assert_eq!(author(&project, LOANS, &[]).await.code, Some(0));
    std::fs::write(project.join("scenarios/retail_bank/loan.yaml"), LOAN).unwrap();
    let validated = said(&mut project.groundstate("validate --strict")).await;
    assert_eq!(validated.code, Some(0), "{}", validated.stdout);
}

const LOAN: &str = "\
id: loan_for_a_boat
playbook: retail_bank
intent: account_question
description: A customer applies for a loan.
user_facts: {customer_id: cus_1901}
user_request: {amount: 900, purpose: a boat}
user_goal: You want a loan of 900 for a boat.
expected_outcome:
  world: {/loans/+/amount: 900, /loans/+/applied_on: 2026-03-02, /loans/+/status: applied}
  actions: [{tool: apply_for_loan, args: {customer_id: cus_1901}}]
script:
  - user: I am cus_1901 and would like a loan of 900 for a boat.
  - calls: [{tool: apply_for_loan, args: {customer_id: cus_1901, amount: 900, purpose: a boat}}]
    reasoning: All that is needed is known.
  - agent: Your application {{ calls.apply_for_loan.loan_id }} is filed.
";

#[tokio::test]
async fn everything_wrong_at_once() {
    let mut all = refused("playbook: retail_bnk\nname: loans\ndescription: a\nscope: b\ncapabilities: [{name: a, description: a, kind: get, record: a}]\n", &[]).await;
    all += &refused(
        "playbook: retail_bank\nname: Loans\ndescription: \"\"\ncapabilities: [{name: a, kind: gett}]\nscop: b\n",
        &[],
    )
    .await;
    let wrong = LOANS
        .replace("name: loans", "name: list_cards")
        .replace("refers_to: customers", "refers_to: custmers")
        .replace("exclusiveMinimum: 0", "exclusiveMinimum: none")
        .replace("{type: string, maxLength: 200, optional: true}", "{typ: string}")
        .replace("collection: loan_rules", "collection: accounts")
        .replace("id_prefix: rule", "id_prefix: loan")
        .replace("      title: {type: string}\n", "      title: text\n")
        .replace("name: get_loan", "name: list_loans")
        .replace("fields: [customer_id]", "fields: [custmer_id]")
        .replace("fields: [customer_id, amount, purpose, note]", "fields: [customer_id, purpose, purpose]")
        .replace("status: applied", "status: granted")
        .replace("uses: [get_customer]", "uses: [get_custmer, transfer_to_human]");
    all += &refused(&wrong, &[]).await;
    all += &refused(LOANS, &["--model", "scripted"]).await;
    insta::assert_snapshot!(all, @r#"
    spec.yaml:1: playbook: there is no playbook `retail_bnk` (did you mean `retail_bank`?); known: retail_bank
    1 problem found; nothing was done
    spec.yaml:1: field `scope` is missing
    spec.yaml:2: name: expected text like /^[a-z][a-z0-9_]{0,63}$/, found text `Loans`
    spec.yaml:3: description: "" is shorter than 1 character
    spec.yaml:4: capabilities[0]: field `description` is missing
    spec.yaml:4: capabilities[0]: field `record` is missing
    spec.yaml:4: capabilities[0].kind: expected one of list, get, create, update, answer, found text `gett` (did you mean `get`?)
    spec.yaml:5: scop: unknown field (did you mean `scope`?); expected one of: playbook, name, description, scope, constraints, records, capabilities, uses
    7 problems found; nothing was done
    spec.yaml:2: name: `retail_bank` has a tool `list_cards` already
    spec.yaml:16: records[0].fields.customer_id.refers_to: the world has no `custmers` (did you mean `customers`?)
    spec.yaml:17: records[0].fields.amount: is not a valid JSON Schema: "none" is not of type "number"
    spec.yaml:21: records[0].fields.note: does not say what it holds: expected `type`, `enum` or `refers_to` (did you mean `type`?)
    spec.yaml:24: records[1].collection: the world has `accounts` already
    spec.yaml:25: records[1].id_prefix: `loan` is that of other records already
    spec.yaml:27: records[1].fields.title: expected a JSON Schema such as `{type: number}`, or `{refers_to: COLLECTION}`
    spec.yaml:36: capabilities[0].fields[0]: `loans` has no field `custmer_id` (did you mean `customer_id`?)
    spec.yaml:37: capabilities[1].name: `list_loans` is given twice
    spec.yaml:41: capabilities[2]: a new record needs `amount`: name it in `fields` or `sets`
    spec.yaml:41: capabilities[2]: a new record needs `note`: name it in `fields` or `sets`
    spec.yaml:45: capabilities[2].fields[2]: `purpose` is given twice
    spec.yaml:46: capabilities[2].sets.status: expected one of the values that its field lists with `enum`, found "granted"
    spec.yaml:56: capabilities[4].record: `records` has no `loan_rules` (did you mean `loans`?)
    spec.yaml:57: uses[0]: the playbook has no tool `get_custmer` (did you mean `get_customer`?)
    spec.yaml:57: uses[1]: `transfer_to_human` ends the conversation, and only the agent under test may do that
    16 problems found; nothing was done
    --model: `scripted` only plays what scenarios say: name a model as NAME@BASE_URL or NAME@BASE_URL@KEY_VARIABLE, e.g. gpt-x@https://api.openai.com/v1@OPENAI_API_KEY, or one of models.yaml
    1 problem found; nothing was done
    "#);
}

#[tokio::test]
async fn what_the_linter_refuses_is_not_written() {
    let faulty = LOANS.replace("amount: 4200, ", "").replace("customer_id: cus_1901", "customer_id: cus_0001");
    insta::assert_snapshot!(refused(&faulty, &[]).await, @r#"
    playbooks/retail_bank/playbook.yaml:45: world.base: the base world is invalid: /loans/loan_9901: "amount" is a required property
    1 problem found; nothing was done
    "#);
    let nobody = LOANS.replace("customer_id: cus_1901", "customer_id: cus_0001");
    insta::assert_snapshot!(refused(&nobody, &[]).await, @"
    playbooks/retail_bank/playbook.yaml:45: world.base: The customer_id of a loan must be that of a record in customers. (in scenario `help_card_abroad` and 1 more)
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn a_dry_run_writes_nothing() {
    let project = small_project();
    let before = playbook(&project);
    let said = author(&project, LOANS, &["--dry-run"]).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert_eq!(playbook(&project), before);
    let lines = said.stdout.lines().filter_map(|line| line.split_once(" + ")).map(|(_, line)| line);
    let added: Vec<&str> = lines.filter(|line| line.starts_with("  - name:") || line.starts_with("required")).collect();
    insta::assert_snapshot!(added.join("\n"), @"
      - name: list_loans
      - name: get_loan
      - name: apply_for_loan
      - name: defer_loan
      - name: search_loan_rules
      - name: loans
    required: [session, settings, customers, accounts, cards, transactions, disputes, payees, transfers, fee_schedule, fee_refunds, kyc_cases, kyc_documents, articles, loans, loan_rules]
    ");
}

#[tokio::test]
async fn a_model_writes_the_prose_and_nothing_else() {
    const GOOD: &str = "prompt: |\n  You lend. Call list_loans, get_loan, apply_for_loan, defer_loan and search_loan_rules.\n  {{ boom }} {% boom %}\ncapabilities:\n  list_loans: You list {{ boom }}.\n  get_loan: You get.\n  apply_for_loan: You file.\n  defer_loan: You defer.\n  search_loan_rules: You search.\n";
    let project = small_project();
    let endpoint = Endpoint::start(|request| {
        let mended = request.to_string().contains("does not say when `defer_loan` is called");
        says(&if mended { GOOD.to_owned() } else { GOOD.replace(", defer_loan and", " and") })
    })
    .await;
    let made = author(&project, LOANS, &["--model", &endpoint.model()]).await;
    assert_eq!((made.code, made.stderr.as_str()), (Some(0), ""));
    assert!(made.stdout.contains("tokens   22 read, 14 written"), "{}", made.stdout);
    let prompt = std::fs::read_to_string(project.join("playbooks/retail_bank/loans.md.j2")).unwrap();
    assert!(prompt.contains("You lend.") && prompt.contains("- Never promise"), "{prompt}");
    let shown = "playbook try list_loans --playbook retail_bank --args {\"customer_id\":\"cus_1901\"}";
    let shown = said(&mut project.groundstate(shown)).await;
    assert!(shown.stdout.contains("You list {{ boom }}."), "{}", shown.stdout);
    let checked = said(&mut project.groundstate("playbook check")).await;
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);

    let teapot = Endpoint::start(|_| says("I am a teapot.")).await;
    insta::assert_snapshot!(refused(LOANS, &["--attempts", "2", "--model", &teapot.model()]).await, @"
    --model: wrote no usable texts (the reply is no document: answer with one YAML document and nothing else); raise --attempts, or leave --model out to take the words of the description
    1 problem found; nothing was done
    ");
    assert_eq!(teapot.requests().len(), 2);
}

#[tokio::test]
async fn an_agent_without_a_team_gets_one() {
    let project = small_project();
    assert_eq!(said(&mut project.groundstate("playbook new bakery")).await.code, Some(0));
    let spec = "playbook: bakery\nname: vouchers\ndescription: Vouchers.\nscope: You see to vouchers.\nrecords:\n  - collection: vouchers\n    id_prefix: vch\n    fields: {order_id: {refers_to: orders}, kind: {enum: [gift, refund]}}\ncapabilities:\n  - {name: give_voucher, description: Gives one., kind: create, record: vouchers, fields: [order_id], sets: {kind: gift}}\n";
    let made = author(&project, spec, &[]).await;
    assert_eq!((made.code, made.stderr.as_str()), (Some(0), ""));
    assert!(!made.stdout.contains("warning"), "{}", made.stdout);
    let text = std::fs::read_to_string(project.join("playbooks/bakery/playbook.yaml")).unwrap();
    let (_, uses) = text.rsplit_once("uses:").unwrap();
    insta::assert_snapshot!(uses, @" [get_order, cancel_order, transfer_to_human, vouchers]");
    let checked = said(&mut project.groundstate("playbook check bakery --strict")).await;
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    let validated = said(&mut project.groundstate("validate --strict")).await;
    assert_eq!(validated.code, Some(0), "{}", validated.stdout);
}
