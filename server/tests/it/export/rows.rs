//! The rows of conversations that are the same every time: what stands in them was recorded and read by people.

use std::collections::VecDeque;
use std::sync::Arc;

use datasets::export::{Choice, RowOutcome, Source, rows};
use domain::fault::{FaultKind, FaultRule};
use domain::playbook::AgentStyle;
use domain::role::Role;
use generation::ConversationRun;
use generation::plan::RunConfig;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::material;

use crate::support::endpoint::{Endpoint, says};
use crate::support::library;
use crate::support::play::{HANDOVER, HELP, TRANSFER, exported_rows, planned_as, play_all};

async fn rows_of(run: &ConversationRun) -> Vec<Value> {
    let choice = Choice::to_imitate(true, true);
    let (_, text) = exported_rows(run, choice).await;
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Rows of one conversation, played from the script.
async fn rows_of_one(pool: &PgPool, scenario: &str, configure: impl FnOnce(&mut RunConfig)) -> Vec<Value> {
    rows_of(&*play_all(planned_as(pool, &[scenario], 1, 11, &[], configure).await, 1).await).await
}

/// Every scenario of a playbook, once for each complexity and then some.
async fn all_scenarios(pool: &PgPool, configure: impl FnOnce(&mut RunConfig)) -> Arc<ConversationRun> {
    let library = library();
    let scenarios: Vec<&str> = library.scenarios.keys().map(String::as_str).collect();
    let run = planned_as(pool, &scenarios, 2 * scenarios.len(), 11, &[], configure).await;
    play_all(run, 4).await
}

fn orchestrated(config: &mut RunConfig) {
    config.variant = Some("orchestrator".to_owned());
}

fn in_text_and_with_faults(config: &mut RunConfig) {
    let fault = |kind, calls, probability| FaultRule { kind, tools: Vec::new(), calls, probability };
    config.agent_style = Some(AgentStyle::React);
    config.faults = vec![
        fault(FaultKind::ServerError, vec![1], None),
        fault(FaultKind::StaleRead, vec![3], None),
        fault(FaultKind::TruncatedBody, Vec::new(), Some(0.2)),
    ];
}

/// The messages of a row, a line each.
fn messages(row: &Value) -> String {
    let line = |message: &Value| {
        let content = message["content"].as_str().unwrap().replace('\n', "\n    ");
        match message["role"].as_str().unwrap() {
            // A page of text; how it begins tells whose it is.
            "system" => format!("system: {}...\n", content.lines().next().unwrap()),
            "tool" => format!("{}: {content}\n", message["tool_call_id"].as_str().unwrap()),
            "assistant" => {
                let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
                    let function = &call["function"];
                    let [id, name] = [&call["id"], &function["name"]].map(|text| text.as_str().unwrap());
                    format!("    {id}: {name}({})\n", function["arguments"].as_str().unwrap())
                });
                let thought = message["reasoning_content"].as_str();
                let thought = thought.map(|thought| format!("    thinks: {thought}\n")).unwrap_or_default();
                let said = format!("assistant: {content}");
                format!("{}\n{thought}{}", said.trim_end(), calls.collect::<String>())
            }
            role => format!("{role}: {content}\n"),
        }
    };
    row["messages"].as_array().unwrap().iter().map(line).collect()
}

fn tools(row: &Value) -> Vec<&str> {
    row["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

/// What a row says of where it comes from; ids, times and hashes are masked.
fn metadata(row: &Value) -> String {
    let mut metadata = row["metadata"].clone();
    metadata["id"] = json!("[id]");
    mask(&mut metadata);
    serde_json::to_string_pretty(&metadata).unwrap()
}

fn mask(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let masked = ["run_id", "created_at", "generator", "version", "initial", "final"];
                match field {
                    Value::String(text) if masked.contains(&name.as_str()) => *text = format!("[{name}]"),
                    _ => mask(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        _ => {}
    }
}

/// What a trainer relies on: the system prompt comes first, the agent has the last word, and the calls of a turn are answered
/// right after it, in their order. Fails with what is wrong.
fn assert_well_formed(row: &Value) {
    let said = messages(row);
    let all = row["messages"].as_array().unwrap();
    assert_eq!((&all[0]["role"], &all[all.len() - 1]["role"]), (&json!("system"), &json!("assistant")), "{said}");
    let mut unanswered = VecDeque::new();
    for message in &all[1..] {
        if message["role"] == "tool" {
            assert_eq!(Some(&message["tool_call_id"]), unanswered.pop_front(), "{said}");
        } else {
            assert_eq!((unanswered.len(), message["role"] != "system"), (0, true), "{said}");
            unanswered.extend(message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["id"]));
        }
    }
    let called = |name: &Value| tools(row).iter().any(|tool| name == tool);
    let mut calls = all.iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
    assert!(calls.all(|call| called(&call["function"]["name"])), "{said}");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_conversation_that_changes_the_world(pool: PgPool) {
    let rows = rows_of_one(&pool, TRANSFER, |_| {}).await;
    assert_eq!(rows.len(), 1);
    insta::assert_snapshot!(messages(&rows[0]), @r#"
    system: You are the chat agent of Harbourlight Bank. You serve private customers in plain, friendly and short sentences....
    user: A new month has started and my landlord gets nervous.
    assistant: I am glad to help. Could you tell me in a few words what it is about, for example a card, a payment, a transfer, a fee or your personal details?
    user: Please send 950.00 to Hilltop Lettings from my current account, it is the rent.
    assistant: Gladly. Please give me your customer number, your date of birth and your postcode so that I can verify you.
    user: It is cus_1008, born 1991-12-19, postcode is 81669.
    assistant:
        thinks: Money can be moved for a verified customer only.
        call_1: verify_identity({"customer_id":"cus_1008","date_of_birth":"1991-12-19","postcode":"81669"})
    call_1: {"verified":true,"customer_id":"cus_1008","full_name":"Lucian Farrow"}
    assistant:
        thinks: I need the sender's account and the landlord's payee id, and neither lookup needs the other.
        call_2: list_accounts({"customer_id":"cus_1008"})
        call_3: list_payees({"customer_id":"cus_1008"})
    call_2: {"accounts":[{"account_id":"acc_2008","type":"current","balance":1823.12,"status":"open"},{"account_id":"acc_2108","type":"savings","balance":4200.0,"status":"open"}]}
    call_3: {"payees":[{"payee_id":"pay_5008","name":"Hilltop Lettings","iban":"ZZ32LAND0000071155","added_on":"2023-08-28"},{"payee_id":"pay_5108","name":"Hilltop Dental Practice","iban":"ZZ95DENT0000020418","added_on":"2024-03-11"}]}
    assistant: Thank you. You have 1,823.12 on your current account, and Hilltop Lettings is on your list. Shall I send the 950.00 now with the reference Rent March? It cannot be taken back.
        thinks: I do not want to move money on an assumption, so I repeat amount, recipient and reference.
    user: Yes, send the 950.00 to Hilltop Lettings now.
    assistant:
        thinks: The customer confirmed, the balance covers it, and the payee is known.
        call_4: make_transfer({"from_account_id":"acc_2008","destination_id":"pay_5008","amount":950.0,"reference":"Rent March"})
    call_4: {"transfer_id":"trf_7398ebed","amount":950.0,"status":"completed","new_balance":873.12}
    assistant: The 950.00 are on their way to Hilltop Lettings, transfer trf_7398ebed. Your current account now holds 873.12.
    "#);
    insta::assert_snapshot!(tools(&rows[0]).join(" "), @"verify_identity get_customer list_accounts get_account list_transactions get_transaction list_cards list_disputes list_payees list_transfers list_fee_refunds get_kyc_status block_card order_replacement_card set_card_limit open_dispute add_payee make_transfer refund_fee update_contact_details submit_kyc_document search_help get_opening_hours transfer_to_human");
    insta::assert_snapshot!(metadata(&rows[0]), @r#"
    {
      "id": "[id]",
      "run_id": "[run_id]",
      "created_at": "[created_at]",
      "generator": "[generator]",
      "playbook": {
        "name": "retail_bank",
        "version": "[version]"
      },
      "scenario": {
        "id": "transfer_rent_to_payee",
        "version": "[version]",
        "family": "transfer_rent_to_payee",
        "intent": "money_transfer",
        "tags": [
          "transfer",
          "parallel_calls"
        ]
      },
      "persona": {
        "profile": "easygoing_traveller",
        "demographics": {
          "age_bracket": "25_39",
          "channel": "mobile_app",
          "device_type": "smartphone",
          "jurisdiction": "asia_pacific",
          "language_proficiency": "fluent",
          "time_availability": "relaxed"
        },
        "traits": {
          "assertiveness": 0.31,
          "compliance_tendency": 0.419,
          "cost_sensitivity": 0.37,
          "digital_literacy": 0.783,
          "domain_knowledge": 0.301,
          "emoji_usage": 0.764,
          "patience": 0.726,
          "platform_trust": 0.8,
          "politeness": 0.657,
          "risk_tolerance": 0.964,
          "slang_usage": 0.577,
          "verbosity": 0.416
        },
        "emotions": {
          "anxiety": 0.115,
          "confidence": 0.697,
          "frustration": 0.085,
          "stress": 0.203,
          "trust": 0.629
        }
      },
      "complexity": "vague",
      "seed": {
        "run": 11,
        "repeat": 0
      },
      "attempt": 1,
      "models": {
        "agent": "scripted",
        "judge": "scripted",
        "simulated_user": "scripted",
        "state_manager": "scripted",
        "tool_simulator": "scripted"
      },
      "temperatures": {
        "agent": 0.7,
        "judge": 0.2,
        "simulated_user": 0.7,
        "state_manager": 0.0,
        "tool_simulator": 0.3
      },
      "scripted_roles": [
        "agent",
        "judge",
        "simulated_user",
        "state_manager",
        "tool_simulator"
      ],
      "agent_style": "function_calling",
      "variant": "",
      "branch": {
        "sub_agent": "",
        "call_id": "",
        "depth": 0
      },
      "world": {
        "initial": "[initial]",
        "final": "[final]",
        "version": 2
      },
      "ending": "user_ended",
      "user_turns": 5,
      "tool_calls": 4,
      "corrections": [],
      "accepted": true,
      "blame": "",
      "reason": "",
      "judge": {
        "name": "default",
        "version": "[version]",
        "models": [
          "scripted"
        ],
        "agreement": 1.0
      },
      "scores": {
        "communication_quality": 9,
        "consistency": 9,
        "error_handling": 9,
        "goal_achievement": 9,
        "reasoning_hallucination": 9,
        "reasoning_quality": 9,
        "tool_call_hallucination": 9,
        "tool_usage": 9
      },
      "rationales": {
        "communication_quality": "scripted: no model judged this; all 8 items of the verifier hold",
        "consistency": "scripted: no model judged this; all 8 items of the verifier hold",
        "error_handling": "scripted: no model judged this; all 8 items of the verifier hold",
        "goal_achievement": "scripted: no model judged this; all 8 items of the verifier hold",
        "reasoning_hallucination": "scripted: no model judged this; all 8 items of the verifier hold",
        "reasoning_quality": "scripted: no model judged this; all 8 items of the verifier hold",
        "tool_call_hallucination": "scripted: no model judged this; all 8 items of the verifier hold",
        "tool_usage": "scripted: no model judged this; all 8 items of the verifier hold"
      },
      "overall": 9,
      "overall_rationale": "scripted: no model judged this; all 8 items of the verifier hold",
      "weighted_mean": 9.0,
      "goal_achieved": true,
      "verifier": {
        "passed": true,
        "items": [
          {
            "rule": "expected_world",
            "passed": true,
            "detail": "a new record /transfers/+ with /from_account_id = \"acc_2008\", /payee_id = \"pay_5008\", /amount = 950.0"
          },
          {
            "rule": "expected_world",
            "passed": true,
            "detail": "/session/verified_customer_id = \"cus_1008\""
          },
          {
            "rule": "expected_world",
            "passed": true,
            "detail": "/accounts/acc_2008/balance = 873.12"
          },
          {
            "rule": "expected_action",
            "passed": true,
            "detail": "`make_transfer` with {\"from_account_id\":\"acc_2008\",\"destination_id\":\"pay_5008\",\"amount\":950.0}"
          },
          {
            "rule": "fact_told",
            "passed": true,
            "detail": "`873.12`"
          },
          {
            "rule": "grounded",
            "passed": true,
            "detail": "ids, amounts and dates that were said: `1,823.12` from call_2, `873.12` from call_4, `950.00` from the user, `march` from call_3, `trf_7398ebed` from call_4"
          },
          {
            "rule": "policy",
            "passed": true,
            "detail": "refunds_are_looked_up_first"
          },
          {
            "rule": "ending",
            "passed": true,
            "detail": "the conversation"
          }
        ]
      },
      "usage": {
        "agent": {
          "prompt_tokens": 0,
          "completion_tokens": 0
        },
        "judge": {
          "prompt_tokens": 0,
          "completion_tokens": 0
        },
        "simulated_user": {
          "prompt_tokens": 0,
          "completion_tokens": 0
        },
        "state_manager": {
          "prompt_tokens": 0,
          "completion_tokens": 0
        },
        "tool_simulator": {
          "prompt_tokens": 0,
          "completion_tokens": 0
        }
      }
    }
    "#);
    let worlds = &rows[0]["metadata"]["world"];
    assert_ne!(worlds["initial"], worlds["final"]);
}

#[sqlx::test(migrations = "../migrations")]
async fn one_with_sub_agents_has_a_row_for_each_time_that_one_was_at_work(pool: PgPool) {
    let rows = rows_of_one(&pool, TRANSFER, orchestrated).await;
    insta::assert_snapshot!(rows.iter().map(messages).collect::<Vec<_>>().join("--\n"), @r#"
    system: You are the chat agent of Harbourlight Bank. You serve private customers in plain, friendly and short sentences, and you...
    user: A new month has started and my landlord gets nervous.
    assistant: I am glad to help. Could you tell me in a few words what it is about, for example a card, a payment, a transfer, a fee or your personal details?
    user: Please send 950.00 to Hilltop Lettings from my current account, it is the rent.
    assistant: Gladly. Please give me your customer number, your date of birth and your postcode so that I can verify you.
    user: It is cus_1008, born 1991-12-19, postcode is 81669.
    assistant:
        thinks: Money can be moved for a verified customer only.
        call_1: verify_identity({"customer_id":"cus_1008","date_of_birth":"1991-12-19","postcode":"81669"})
    call_1: {"verified":true,"customer_id":"cus_1008","full_name":"Lucian Farrow"}
    assistant:
        thinks: I need the sender's account and the landlord's payee id, and neither lookup needs the other.
        call_2: finance({"task":"Call list_accounts with {\"customer_id\":\"cus_1008\"}. Call list_payees with {\"customer_id\":\"cus_1008\"}."})
    call_2: Done.
        - list_accounts: {"accounts":[{"account_id":"acc_2008","type":"current","balance":1823.12,"status":"open"},{"account_id":"acc_2108","type":"savings","balance":4200.0,"status":"open"}]}
        - list_payees: {"payees":[{"payee_id":"pay_5008","name":"Hilltop Lettings","iban":"ZZ32LAND0000071155","added_on":"2023-08-28"},{"payee_id":"pay_5108","name":"Hilltop Dental Practice","iban":"ZZ95DENT0000020418","added_on":"2024-03-11"}]}
    assistant: Thank you. You have 1,823.12 on your current account, and Hilltop Lettings is on your list. Shall I send the 950.00 now with the reference Rent March? It cannot be taken back.
        thinks: I do not want to move money on an assumption, so I repeat amount, recipient and reference.
    user: Yes, send the 950.00 to Hilltop Lettings now.
    assistant:
        thinks: The customer confirmed, the balance covers it, and the payee is known.
        call_5: finance({"task":"Call make_transfer with {\"from_account_id\":\"acc_2008\",\"destination_id\":\"pay_5008\",\"amount\":950.0,\"reference\":\"Rent March\"}."})
    call_5: Done.
        - make_transfer: {"transfer_id":"trf_7398ebed","amount":950.0,"status":"completed","new_balance":873.12}
    assistant: The 950.00 are on their way to Hilltop Lettings, transfer trf_7398ebed. Your current account now holds 873.12.
    --
    system: You are the finance desk of Harbourlight Bank. A colleague talks to the customer in the chat and gives you tasks. You...
    user: Call list_accounts with {"customer_id":"cus_1008"}. Call list_payees with {"customer_id":"cus_1008"}.
    assistant:
        thinks: I need the sender's account and the landlord's payee id, and neither lookup needs the other.
        call_3: list_accounts({"customer_id":"cus_1008"})
        call_4: list_payees({"customer_id":"cus_1008"})
    call_3: {"accounts":[{"account_id":"acc_2008","type":"current","balance":1823.12,"status":"open"},{"account_id":"acc_2108","type":"savings","balance":4200.0,"status":"open"}]}
    call_4: {"payees":[{"payee_id":"pay_5008","name":"Hilltop Lettings","iban":"ZZ32LAND0000071155","added_on":"2023-08-28"},{"payee_id":"pay_5108","name":"Hilltop Dental Practice","iban":"ZZ95DENT0000020418","added_on":"2024-03-11"}]}
    assistant: Done.
        - list_accounts: {"accounts":[{"account_id":"acc_2008","type":"current","balance":1823.12,"status":"open"},{"account_id":"acc_2108","type":"savings","balance":4200.0,"status":"open"}]}
        - list_payees: {"payees":[{"payee_id":"pay_5008","name":"Hilltop Lettings","iban":"ZZ32LAND0000071155","added_on":"2023-08-28"},{"payee_id":"pay_5108","name":"Hilltop Dental Practice","iban":"ZZ95DENT0000020418","added_on":"2024-03-11"}]}
    --
    system: You are the finance desk of Harbourlight Bank. A colleague talks to the customer in the chat and gives you tasks. You...
    user: Call make_transfer with {"from_account_id":"acc_2008","destination_id":"pay_5008","amount":950.0,"reference":"Rent March"}.
    assistant:
        thinks: The customer confirmed, the balance covers it, and the payee is known.
        call_6: make_transfer({"from_account_id":"acc_2008","destination_id":"pay_5008","amount":950.0,"reference":"Rent March"})
    call_6: {"transfer_id":"trf_7398ebed","amount":950.0,"status":"completed","new_balance":873.12}
    assistant: Done.
        - make_transfer: {"transfer_id":"trf_7398ebed","amount":950.0,"status":"completed","new_balance":873.12}
    "#);
    let about = |row: &Value| {
        let metadata = &row["metadata"];
        let (id, branch) = (metadata["id"].as_str().unwrap(), &metadata["branch"]);
        let place = id.split_once('/').map_or("", |(_, place)| place);
        format!("[id]/{place} {branch} {} {}: {}", metadata["variant"], metadata["tool_calls"], tools(row).join(" "))
    };
    insta::assert_snapshot!(rows.iter().map(about).collect::<Vec<_>>().join("\n"), @r#"
    [id]/ {"sub_agent":"","call_id":"","depth":0} "orchestrator" 6: verify_identity get_customer get_kyc_status update_contact_details submit_kyc_document search_help get_opening_hours transfer_to_human finance disputes
    [id]/call_2 {"sub_agent":"finance","call_id":"call_2","depth":1} "orchestrator" 6: list_accounts get_account list_payees list_transfers list_fee_refunds add_payee make_transfer refund_fee
    [id]/call_5 {"sub_agent":"finance","call_id":"call_5","depth":1} "orchestrator" 6: list_accounts get_account list_payees list_transfers list_fee_refunds add_payee make_transfer refund_fee
    "#);
}

#[sqlx::test(migrations = "../migrations")]
async fn one_in_text_in_which_a_tool_fails(pool: PgPool) {
    let rows = rows_of_one(&pool, HANDOVER, in_text_and_with_faults).await;
    assert_eq!(rows.len(), 1);
    insta::assert_snapshot!(messages(&rows[0]), @r#"
    system: You are the chat agent of Harbourlight Bank. You serve private customers in plain, friendly and short sentences....
    user: Nothing is as it was, and now all her papers are here.
    assistant: I am glad to help. Could you tell me in a few words what it is about, for example a card, a payment, a transfer, a fee or your personal details?
    user: My mother Tilda Marrowby has died, and she had an account with you.
    assistant: I am very sorry for your loss. You need not answer any questions here. We have colleagues who guide relatives through this step by step. May I connect you with them now?
        thinks: The policy wants no verification and no questions about accounts in this case, only a careful handover.
    user: Yes please, I would be grateful for that.
    assistant:
        thinks: She agreed, and the death of a customer belongs to the bereavement team.
        call_1: transfer_to_human({"department":"bereavement","summary":"A relative reports the death of her mother, Tilda Marrowby, a customer. She asks for guidance. Nobody was verified, and no account was looked at."})
    call_1: Error: 500 Internal Server Error
    assistant:
        thinks: The call met a fault of the backend, so I make it again.
        call_2: transfer_to_human({"department":"bereavement","summary":"A relative reports the death of her mother, Tilda Marrowby, a customer. She asks for guidance. Nobody was verified, and no account was looked at."})
    "#);
    let metadata = &rows[0]["metadata"];
    insta::assert_snapshot!(format!("{} {} {}", metadata["agent_style"], metadata["ending"], metadata["tool_calls"]), @r#""react" "terminal" 2"#);
    assert_eq!(metadata["world"]["initial"], metadata["world"]["final"], "nothing was changed");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_user_that_has_the_last_word_is_not_heard(pool: PgPool) {
    let user = Endpoint::start(|request| {
        let answered = request["messages"].to_string().contains("1.75 %");
        says(if answered { "Thank you, goodbye. [END]" } else { "What does it cost to pay by card abroad?" })
    })
    .await;
    let run = planned_as(&pool, &[HELP], 1, 11, &[(Role::SimulatedUser, user.model())], |_| {}).await;
    let rows = rows_of(&*play_all(run, 1).await).await;
    assert_eq!(rows[0]["metadata"]["user_turns"], 3, "and two of them are here");
    insta::assert_snapshot!(rows.iter().map(messages).collect::<String>(), @r#"
    system: You are the chat agent of Harbourlight Bank. You serve private customers in plain, friendly and short sentences....
    user: What does it cost to pay by card abroad?
    assistant: I am glad to help. Could you tell me in a few words what it is about, for example a card, a payment, a transfer, a fee or your personal details?
    user: What does it cost to pay by card abroad?
    assistant:
        thinks: These are general questions, so no verification is needed. The article and the opening hours do not depend on each other.
        call_1: search_help({"query":"card payments and cash abroad"})
        call_2: get_opening_hours({})
    call_1: {"articles":[{"article_id":"art_card_abroad","title":"Paying with your card abroad","body":"Card payments in other currencies cost a foreign exchange fee of 1.75 % of the amount. Payments in EUR are free in every country. Cash from a machine abroad costs 4.00 a time. You need not tell us before you travel."}]}
    call_2: {"chat":"Every day, 07:00 to 22:00","telephone":"Monday to Saturday, 08:00 to 20:00","branches":"Monday to Friday, 09:30 to 16:00","card_blocking":"Day and night"}
    assistant: Card payments in other currencies cost a foreign exchange fee of 1.75 % of the amount, and payments in EUR are free everywhere. Cash from a machine abroad costs 4.00 a time. By telephone you reach us Monday to Saturday from 08:00 to 20:00, and cards can be blocked day and night. Have a good trip!
        thinks: The article and the hours answer everything that was asked, so I need no further call.
    "#);
}

#[sqlx::test(migrations = "../migrations")]
async fn every_row_is_what_trainers_rely_on(pool: PgPool) {
    let mut found = Vec::new();
    for configure in [|_: &mut RunConfig| {}, orchestrated, in_text_and_with_faults] {
        let run = all_scenarios(&pool, configure).await;
        let choice = Choice::to_imitate(true, true);
        let (written, text) = exported_rows(&run, choice).await;
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        rows.iter().for_each(assert_well_formed);
        found.push(format!(
            "{} conversations, {} rows, {} of sub-agents; left out: {:?}",
            written.report.conversations,
            rows.len(),
            written.report.about.of_sub_agents,
            written.report.left_out
        ));
    }
    insta::assert_snapshot!(found.join("\n"), @r#"
    48 conversations, 48 rows, 0 of sub-agents; left out: {}
    48 conversations, 152 rows, 104 of sub-agents; left out: {}
    48 conversations, 39 rows, 0 of sub-agents; left out: {"does not end with the agent": 9}
    "#);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_row_is_written_as_it_would_be_serialised(pool: PgPool) {
    let run = all_scenarios(&pool, |_| {}).await;
    let mut db = pool.acquire().await.unwrap();
    let source =
        Source::of_run(&pool, &run.control.run, &run.kind.config, &run.kind.library, Choice::to_imitate(false, false))
            .await
            .unwrap();
    let wanted = source.after(&mut db, -1, 100).await.unwrap();
    for material in material::of(&mut db, &wanted, false).await.unwrap() {
        let RowOutcome::Rows { rows: made, .. } =
            rows(&source.contexts[&run.control.run.id], &material, Choice::to_imitate(false, true).wanted).unwrap()
        else {
            continue;
        };
        for row in made.into_iter().flatten() {
            let mut written = Vec::new();
            row.write(&mut written).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), serde_json::to_string(&row).unwrap());
        }
    }
}
