//! Documents: proved when they are sound, and refused with everything that is wrong at once.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::findings::sarif_results;
use super::{Project, database_url, said};

#[tokio::test]
async fn the_shipped_documents_are_sound_and_all_scenarios_proved() {
    let said = said(&mut Project::new().groundstate("validate")).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(said.stdout, @"1 playbooks, 24 scenarios (each proved solvable), 8 persona profiles, 1 judges: no problem found");
}

/// Faults of many kinds, in many files.
fn broken() -> Project {
    let project = Project::new();
    let scenario = |name: &str| format!("scenarios/retail_bank/{name}.yaml");
    project.edit(&scenario("help_card_abroad"), "intent: general_help", "intent: general_halp");
    project.edit(&scenario("help_card_abroad"), "tool: get_opening_hours", "tool: get_opening_hour");
    project.edit(&scenario("bereavement_handover"), "user_goal:", "user_gaol:");
    project.edit(&scenario("transfer_rent_to_payee"), "description: A monthly", "description: [A monthly]\n#");
    project.edit(&scenario("identity_check_fails"), "playbook: retail_bank", "playbook: retail_bnk");
    project.edit(&scenario("missing_transaction"), "id: missing_transaction", "id: 'missing");
    project.edit("playbooks/retail_bank/playbook.yaml", "user_turns: 12", "user_turns: twelve");
    project.edit("playbooks/retail_bank/playbook.yaml", "simulate: terminal", "simulate: termnal");
    project
}

#[tokio::test]
async fn broken_documents_are_explained_all_at_once() {
    let said = said(&mut broken().groundstate("validate")).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(said.stderr, @"
    playbooks/retail_bank/playbook.yaml:15: limits.user_turns: expected integer, found text `twelve`
    playbooks/retail_bank/playbook.yaml:410: tools[23].simulate: expected one of code, model, constant, agent, service, terminal, found text `termnal` (did you mean `terminal`?)
    scenarios/retail_bank/bereavement_handover.yaml:1: field `user_goal` is missing
    scenarios/retail_bank/bereavement_handover.yaml:9: user_gaol: unknown field (did you mean `user_goal`?); expected one of: id, playbook, intent, description, tags, family, user_facts, user_request, user_mistakes, system_facts, user_goal, expected_outcome, personas, faults, clock, script
    scenarios/retail_bank/identity_check_fails.yaml:2: playbook: there is no playbook `retail_bnk`; known: none
    scenarios/retail_bank/missing_transaction.yaml:1: is not valid YAML: invalid indentation in quoted scalar
    scenarios/retail_bank/transfer_rent_to_payee.yaml:4: description: expected string, found a list of 1
    7 problems found; nothing was done
    ");
}

#[tokio::test]
async fn broken_documents_are_explained_to_programs_too() {
    let project = broken();
    let json = said(&mut project.groundstate("validate --format json")).await;
    assert_eq!((json.code, json.stderr.as_str()), (Some(2), ""));
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["counts"], json!({"critical": 0, "error": 7, "warning": 0, "info": 0}));
    assert_eq!(json["findings"].as_array().unwrap().len(), 7);
    insta::assert_snapshot!(json["findings"][0], @r#"{"grade":"error","rule":"bad-input","file":"playbooks/retail_bank/playbook.yaml","line":15,"field":"limits.user_turns","message":"expected integer, found text `twelve`"}"#);
    let sarif = said(&mut project.groundstate("validate --format sarif")).await;
    assert_eq!((sarif.code, sarif.stderr.as_str()), (Some(2), ""));
    let results = sarif_results(&sarif.stdout);
    assert_eq!(results.len(), 7);
    insta::assert_snapshot!(results[0], @r#"{"ruleId":"bad-input","level":"error","message":{"text":"limits.user_turns: expected integer, found text `twelve`"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"playbooks/retail_bank/playbook.yaml"},"region":{"startLine":15}}}],"properties":{"grade":"error","field":"limits.user_turns"}}"#);
}

#[tokio::test]
async fn scenarios_of_a_sound_playbook_are_checked_against_it() {
    let project = Project::new();
    let scenario = |name: &str| format!("scenarios/retail_bank/{name}.yaml");
    project.edit(&scenario("help_card_abroad"), "intent: general_help", "intent: general_halp");
    project.edit(&scenario("help_card_abroad"), "tool: get_opening_hours", "tool: get_opening_hour");
    project.edit(&scenario("transfer_rent_to_payee"), "args: {customer_id: cus_1008}", "args: {custmer_id: cus_1008}");
    project.edit(&scenario("bereavement_handover"), "[careful_pensioner", "[careful_pensoner");
    let said = said(&mut project.groundstate("validate")).await;
    assert_eq!(said.code, Some(2));
    insta::assert_snapshot!(said.stderr, @"
    scenarios/retail_bank/bereavement_handover.yaml:20: personas[0]: there is no persona profile `careful_pensoner` (did you mean `careful_pensioner`?)
    scenarios/retail_bank/help_card_abroad.yaml:3: intent: `general_halp` is not an intent of the playbook (did you mean `general_help`?)
    scenarios/retail_bank/help_card_abroad.yaml:32: script[1].calls[1].tool: the playbook has no tool `get_opening_hour` (did you mean `get_opening_hours`?)
    scenarios/retail_bank/transfer_rent_to_payee.yaml:79: script[4].calls[0].args.custmer_id: `list_accounts` has no argument `custmer_id` (did you mean `customer_id`?)
    4 problems found; nothing was done
    ");
}

#[sqlx::test(migrations = "../migrations")]
async fn contradicting_facts_are_never_played(pool: PgPool) {
    let project = Project::new();
    let file = "scenarios/retail_bank/transfer_rent_to_payee.yaml";
    project.edit(file, "postcode: \"81669\"", "postcode: \"81670\"");
    let mut command = project.groundstate("generate --playbook retail_bank --database-url");
    let said = said(command.arg(database_url(&pool))).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(said.stderr, @"
    scenarios/retail_bank/transfer_rent_to_payee.yaml:11: user_facts.postcode: the user is said to know `81670`, which is not in the records; a choice of the user belongs in user_request, a false belief in user_mistakes
    1 problem found; nothing was done
    ");
    assert!(!project.join("rows.jsonl").exists());
    let runs: i64 = sqlx::query_scalar("SELECT count(*) FROM runs").fetch_one(&pool).await.unwrap();
    assert_eq!(runs, 0);
}

#[tokio::test]
async fn a_folder_that_is_no_project() {
    let dir = tempfile::tempdir().unwrap();
    let said = said(super::groundstate(["validate"]).current_dir(dir.path())).await;
    assert_eq!(said.code, Some(2));
    insta::assert_snapshot!(said.stderr, @"
    .: is not a project: it has no folder `playbooks` and no folder `workflows`; run from a project or name one with --project
    1 problem found; nothing was done
    ");
    for command in ["validate", "playbook check"] {
        let arguments = command.split(' ').chain(["--format", "json"]);
        let said = super::said(super::groundstate(arguments).current_dir(dir.path())).await;
        assert_eq!((said.code, said.stderr.as_str()), (Some(2), ""), "{command}");
        let report: Value = serde_json::from_str(&said.stdout).unwrap();
        let [found] = report["findings"].as_array().unwrap().as_slice() else { panic!("{command}: {report}") };
        assert!(found["message"].as_str().unwrap().starts_with("is not a project: "), "{command}: {found}");
    }
}

#[tokio::test]
async fn flags_that_are_bad_input_have_no_place_in_a_file() {
    let project = Project::new();
    let said = said(&mut project.groundstate("validate --model nobody --format sarif")).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(2), ""));
    let results = sarif_results(&said.stdout);
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].get("locations"), None);
    let text = results[0]["message"]["text"].as_str().unwrap();
    assert!(text.starts_with("--model: "), "{text}");
}
