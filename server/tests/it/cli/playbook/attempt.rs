//! One call, as the agent would make it.

use crate::cli::{CommandOutput, Project, groundstate, said};

const VERIFY: &str =
    r#"verify_identity {"customer_id": "cus_1012", "date_of_birth": "1957-03-16", "postcode": "63225"}"#;
const GOODWILL: [&str; 4] = ["--scenario", "fee_refund_goodwill", "--before", VERIFY];

async fn attempt(project: &Project, tool: &str, arguments: &[&str]) -> CommandOutput {
    let fixed = ["playbook", "try", tool, "--playbook", "retail_bank"];
    let mut command = groundstate(fixed.into_iter().chain(arguments.iter().copied()));
    said(command.current_dir(project.path())).await
}

/// What is said of flags that are bad input.
async fn refused(tool: &str, arguments: &[&str]) -> String {
    let said = attempt(&Project::new(), tool, arguments).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.stderr);
    said.stderr
}

/// What is answered in a project with some of its text replaced: (file, from, to).
async fn answered(edits: &[(&str, &str, &str)], tool: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let project = Project::new();
    for (file, from, to) in edits {
        project.edit(&format!("playbooks/retail_bank/{file}"), from, to);
    }
    let said = attempt(&project, tool, arguments).await;
    assert_eq!(said.stderr, "");
    (said.code, said.stdout)
}

#[tokio::test]
async fn everything_wrong_at_once() {
    let said = refused(
        "refund_fe",
        &[
            "--scenario",
            "fee_refund_godwill",
            "--before",
            "verify_identiy {}",
            "--before",
            "verify_identity [1]",
            "--before",
            "verify_identity {",
        ],
    )
    .await;
    insta::assert_snapshot!(said, @r#"
    TOOL: there is no tool `refund_fe` (did you mean `refund_fee`?); known: verify_identity, get_customer, list_accounts, get_account, list_transactions, get_transaction, list_cards, list_disputes, list_payees, list_transfers, list_fee_refunds, get_kyc_status, block_card, order_replacement_card, set_card_limit, open_dispute, add_payee, make_transfer, refund_fee, update_contact_details, submit_kyc_document, search_help, get_opening_hours, transfer_to_human, finance, disputes
    --before: there is no tool `verify_identiy` (did you mean `verify_identity`?); known: verify_identity, get_customer, list_accounts, get_account, list_transactions, get_transaction, list_cards, list_disputes, list_payees, list_transfers, list_fee_refunds, get_kyc_status, block_card, order_replacement_card, set_card_limit, open_dispute, add_payee, make_transfer, refund_fee, update_contact_details, submit_kyc_document, search_help, get_opening_hours, transfer_to_human, finance, disputes
    --before: expected a JSON object such as {"id": 1}, found `[1]`
    --before: `{` is not JSON: EOF while parsing an object at line 1 column 1
    --scenario: there is no scenario `fee_refund_godwill` (did you mean `fee_refund_goodwill`?); known: address_change_after_move, bereavement_handover, card_lost_replacement_fee, card_stolen_replaced_free, claim_wrong_amount, claim_wrong_date, dispute_duplicate_cafe, dispute_fraud_online_shop, dispute_outside_window, dispute_wrong_amount_restaurant, fee_refund_already_granted, fee_refund_goodwill, help_card_abroad, identity_check_fails, kyc_document_runs_out_too_soon, kyc_passport_renewed, missing_transaction, other_persons_account, overdraft_interest_waiver, transfer_insufficient_funds, transfer_new_payee_first_day, transfer_over_daily_limit, transfer_rent_to_payee, wallet_stolen_block_and_dispute
    5 problems found; nothing was done
    "#);
}

#[tokio::test]
async fn arguments_that_are_no_object() {
    let mut all = String::new();
    for arguments in ["{", "[]", "7", r#"{"amount": 1e400}"#] {
        all += &refused("refund_fee", &["--args", arguments]).await;
    }
    insta::assert_snapshot!(all, @r#"
    --args: `{` is not JSON: EOF while parsing an object at line 1 column 1
    1 problem found; nothing was done
    --args: expected a JSON object such as {"id": 1}, found `[]`
    1 problem found; nothing was done
    --args: expected a JSON object such as {"id": 1}, found `7`
    1 problem found; nothing was done
    --args: `{"amount": 1e400}` is not JSON: a number is too large
    1 problem found; nothing was done
    "#);
}

#[tokio::test]
async fn documents_that_are_not_there() {
    let project = Project::new();
    let mut command = project.groundstate("playbook try refund_fee --playbook retail_bnk");
    insta::assert_snapshot!(said(&mut command).await.stderr, @"
    --playbook: there is no playbook `retail_bnk` (did you mean `retail_bank`?); known: retail_bank
    1 problem found; nothing was done
    ");
    std::fs::remove_dir_all(project.join("judges")).unwrap();
    insta::assert_snapshot!(attempt(&project, "refund_fee", &[]).await.stderr, @"
    playbooks/retail_bank/playbook.yaml: judge: there is no judge `default`; known: none
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn calls_that_nothing_can_follow() {
    let over = refused(
        "get_opening_hours",
        &["--before", r#"transfer_to_human {"department": "security", "summary": "A stolen card."}"#],
    )
    .await;
    insta::assert_snapshot!(over, @"
    --before: `transfer_to_human`: ends the conversation, so nothing can come after it
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn an_answer_and_what_it_changed() {
    let refund = [&GOODWILL[..], &["--args", r#"{"transaction_id": "txn_4121", "reason": "goodwill"}"#]].concat();
    let (code, said) = answered(&[], "refund_fee", &refund).await;
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(said, @r#"
    verify_identity answered:
      {
        "verified": true,
        "customer_id": "cus_1012",
        "full_name": "Edmund Sallow"
      }
    changed:
      add     /session/verified_customer_id "cus_1012"

    refund_fee answered:
      {
        "refund_id": "ref_a79e4087",
        "amount": 25.0,
        "new_balance": 1175.08
      }
    changed:
      replace /accounts/acc_2012/balance 1150.08 -> 1175.08
      add     /fee_refunds/ref_a79e4087 {"amount":25.0,"customer_id":"cus_1012","reason":"goodwill","refunded_on":"2026-03-02","transaction_id":"txn_4121"}
    "#);
}

#[tokio::test]
async fn what_the_function_prints_is_shown_to_its_author() {
    let print = [(
        "tools.star",
        "def refund_fee(world, ctx, transaction_id, reason):\n",
        "def refund_fee(world, ctx, transaction_id, reason):\n    print(\"reason:\", reason, [1, 2])\n",
    )];
    let refund = [&GOODWILL[..], &["--args", r#"{"transaction_id": "txn_4121", "reason": "goodwill"}"#]].concat();
    let (code, said) = answered(&print, "refund_fee", &refund).await;
    assert_eq!(code, Some(0), "{said}");
    let (_, call) = said.split_once("\n\n").unwrap();
    assert!(call.starts_with("printed: reason: goodwill [1, 2]\nrefund_fee answered:\n"), "{call}");
    assert_eq!(said.matches("printed:").count(), 1, "{said}");
}

#[tokio::test]
async fn refusals_are_answers() {
    let mut all = String::new();
    let unfit = ["--args", r#"{"transaction_id": 7, "reason": "kindness"}"#];
    let unverified = ["--args", r#"{"transaction_id": "txn_4121", "reason": "goodwill"}"#];
    for arguments in [unfit, unverified] {
        let (code, said) = answered(&[], "refund_fee", &arguments).await;
        assert_eq!(code, Some(0), "{said}");
        all += &said;
    }
    let refund = [&GOODWILL[..], &unverified].concat();
    let invariant = [(
        "playbook.yaml",
        "not _has_duplicates([r[\"transaction_id\"] for r in world[\"fee_refunds\"].values()])",
        "len(world[\"fee_refunds\"]) == 0",
    )];
    let schema = [(
        "tools.star",
        "\"transaction_id\": transaction_id,\n        \"amount\": transaction[\"amount\"]",
        "\"transaction_id\": transaction_id,\n        \"amount\": \"much\"",
    )];
    for edits in [invariant, schema] {
        let (code, said) = answered(&edits, "refund_fee", &refund).await;
        assert_eq!(code, Some(0), "{said}");
        all += said.split_once("\n\n").unwrap().1;
    }
    insta::assert_snapshot!(all, @r#"
    refund_fee refused; the agent reads:
      Error: invalid arguments for `refund_fee`: /transaction_id: 7 is not of type "string"; /reason: "kindness" is not one of "goodwill" or "bank_error"
    why: the arguments do not fit the tool's `parameters`; nothing was changed
    refund_fee refused; the agent reads:
      Error: Nobody is verified in this conversation. Use verify_identity first.
    why: the tool's function called fail(); nothing was changed
    refund_fee refused; the agent reads:
      Error: This fee has already been refunded.
    why: the world would break the invariant fee_refunded_once; nothing was changed
    refund_fee refused; the agent reads:
      Error: /fee_refunds/ref_a79e4087/amount: "much" is not of type "number"
    why: the world would no longer fit its schema; nothing was changed
    "#);
}

#[tokio::test]
async fn a_playbook_at_fault_is_bad_input() {
    let refund = [&GOODWILL[..], &["--args", r#"{"transaction_id": "txn_4121", "reason": "goodwill"}"#]].concat();
    let authority =
        [("playbook.yaml", "writes: [/fee_refunds/+, \"/accounts/*/balance\"]", "writes: [/fee_refunds/+]")];
    let code = [(
        "tools.star",
        "def refund_fee(world, ctx, transaction_id, reason):\n",
        "def refund_fee(world, ctx, transaction_id, reason):\n    world[\"acounts\"]\n",
    )];
    let mut all = String::new();
    for edits in [authority, code] {
        let (code, said) = answered(&edits, "refund_fee", &refund).await;
        assert_eq!(code, Some(2), "{said}");
        all += said.split_once("\n\n").unwrap().1;
    }
    insta::assert_snapshot!(all, @r#"
    refund_fee is broken; the agent reads:
      Error: the service could not process this request; nothing was changed
    why, for you:
      `refund_fee` may not change /accounts/acc_2012/balance; its `writes` do not name it
    refund_fee is broken; the agent reads:
      Error: the service could not process this request; nothing was changed
    why, for you:
      playbooks/retail_bank/tools.star:376, in refund_fee: Key `"acounts"` was not found
    "#);
}

#[tokio::test]
async fn tools_that_a_model_answers() {
    let articles = ["--args", r#"{"query": "abroad"}"#];
    let (code, said) = answered(&[], "search_help", &articles).await;
    assert_eq!(code, Some(0));
    let (begin, end) = (said.lines().take(4), said.lines().rev().take(4));
    insta::assert_snapshot!(begin.chain(end).collect::<Vec<_>>().join("\n"), @r#"
    search_help is answered by a model (--tool-simulator), which would read:
      You answer calls of the tool `search_help` as the backend of a company.

      You are the search engine behind the help pages of a bank. It is 2026-03-02T09:00:00Z.
      {"type":"object","additionalProperties":false,"required":["articles"],"properties":{"articles":{"type":"array","maxItems":3,"items":{"type":"object","additionalProperties":false,"required":["article_id","title","body"],"properties":{"article_id":{"type":"string","pattern":"^art_[0-9a-z_]{3,40}$"},"title":{"type":"string"},"body":{"type":"string"}}}}}}
      Answer with one JSON value of this schema and nothing else:

      Call: search_help({"query":"abroad"})
    "#);
    let first = ["--before", r#"search_help {"query": "abroad"}"#];
    let (code, said) = answered(&[], "get_opening_hours", &first).await;
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(said, @r#"
    search_help answered:
      {
        "articles": [
          {
            "article_id": "art_card_abroad",
            "title": "Paying with your card abroad",
            "body": "Card payments in other currencies cost a foreign exchange fee of 1.75 % of the amount. Payments in EUR are free in every country. Cash from a machine abroad costs 4.00 a time. You need not tell us before you travel."
          }
        ]
      }
    changed nothing

    get_opening_hours answered:
      {
        "chat": "Every day, 07:00 to 22:00",
        "telephone": "Monday to Saturday, 08:00 to 20:00",
        "branches": "Monday to Friday, 09:30 to 16:00",
        "card_blocking": "Day and night"
      }
    changed nothing
    "#);
    let handover = ["--args", r#"{"department": "security", "summary": "A stolen card."}"#];
    insta::assert_snapshot!(answered(&[], "transfer_to_human", &handover).await.1, @"transfer_to_human ends the conversation; the agent reads nothing");
}
