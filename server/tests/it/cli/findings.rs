//! Scenarios that read well and are not sound: graded, in three formats, with an exit code for scripts.

use serde_json::Value;

use super::{Project, said};

const RENT: &str = "scenarios/retail_bank/transfer_rent_to_payee.yaml";

/// One scenario beside its near-duplicate; proving all of them takes a while.
fn project() -> Project {
    let project = Project::new();
    let folder = project.join("scenarios/retail_bank");
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path != project.join(RENT) {
            std::fs::remove_file(path).unwrap();
        }
    }
    std::fs::copy(project.join(RENT), folder.join("rent again.yaml")).unwrap();
    project.edit("scenarios/retail_bank/rent again.yaml", "id: transfer_rent_to_payee", "id: transfer_rent_zealous");
    project.edit("scenarios/retail_bank/rent again.yaml", "A monthly rent", "The monthly rent");
    project
}

#[tokio::test]
async fn near_duplicates_are_warnings() {
    let project = project();
    let found = said(&mut project.groundstate("validate")).await;
    assert_eq!((found.code, found.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(found.stdout, @"
    scenarios/retail_bank/rent again.yaml
      4: warning: description: is 0.97 like that of `transfer_rent_to_payee`; tell them apart or drop one [similar-description]
      48: warning: user_goal: is 1.00 like that of `transfer_rent_to_payee`; tell them apart or drop one [similar-goal]

    1 playbooks, 2 scenarios (each proved solvable), 8 persona profiles, 1 judges: 2 warnings
    ");
    let strict = said(&mut project.groundstate("validate --strict")).await;
    assert_eq!((strict.code, strict.stdout), (Some(1), found.stdout));
    let nobody = said(&mut project.groundstate("validate --similar-description 0.99 --similar-goal 2")).await;
    assert_eq!(nobody.code, Some(2));
    assert!(nobody.stderr.contains("expected a number from 0 to 1"), "{}", nobody.stderr);
}

#[tokio::test]
async fn unsound_scenarios_fail_and_are_grouped_by_file() {
    let project = project();
    project.edit(RENT, "balance: 1823.12", "balance: 12.00");
    project.edit("scenarios/retail_bank/rent again.yaml", "intent: money_transfer", "intent: money_transfr");
    let found = said(&mut project.groundstate("validate")).await;
    assert_eq!((found.code, found.stderr.as_str()), (Some(1), ""));
    insta::assert_snapshot!(found.stdout, @"
    scenarios/retail_bank/rent again.yaml
      3: error: intent: `money_transfr` is not an intent of the playbook (did you mean `money_transfer`?) [unknown-intent]
      4: warning: description: is 0.97 like that of `transfer_rent_to_payee`; tell them apart or drop one [similar-description]
      48: warning: user_goal: is 1.00 like that of `transfer_rent_to_payee`; tell them apart or drop one [similar-goal]

    scenarios/retail_bank/transfer_rent_to_payee.yaml
      51: critical: expected_outcome: the script does not reach it: infrastructure: undefined value: `calls.make_transfer` is undefined (in <string>:1); `make_transfer` answered `Error: Insufficient funds: 512.00 is available on acc_2008.` [unreachable-outcome]

    1 playbooks, 2 scenarios, 8 persona profiles, 1 judges: 1 critical, 1 error, 2 warnings
    ");
    let json = said(&mut project.groundstate("validate --format json")).await;
    assert_eq!(json.code, Some(1));
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    insta::assert_snapshot!(json["counts"], @r#"{"critical":1,"error":1,"info":0,"warning":2}"#);
    insta::assert_snapshot!(json["findings"][0], @r#"{"grade":"error","rule":"unknown-intent","file":"scenarios/retail_bank/rent again.yaml","line":3,"field":"intent","message":"`money_transfr` is not an intent of the playbook (did you mean `money_transfer`?)"}"#);
}

/// The results of a log that fits SARIF's schema.
pub fn sarif_results(log: &str) -> Vec<Value> {
    let sarif: Value = serde_json::from_str(log).unwrap();
    let schema: Value = serde_json::from_str(include_str!("findings/sarif.json")).unwrap();
    let faults: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&sarif).map(|e| e.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    sarif["runs"][0]["results"].as_array().unwrap().clone()
}

/// One document's fault is found wherever that document is used.
#[tokio::test]
async fn what_is_found_in_many_files_is_written_once() {
    let project = project();
    for n in 2..5 {
        let copy = format!("scenarios/retail_bank/rent {n}.yaml");
        std::fs::copy(project.join(RENT), project.join(&copy)).unwrap();
        project.edit(&copy, "id: transfer_rent_to_payee", &format!("id: transfer_rent_{n}"));
    }
    let scenarios = std::fs::read_dir(project.join("scenarios/retail_bank")).unwrap();
    for scenario in scenarios.map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
        project.edit(&format!("scenarios/retail_bank/{scenario}"), "intent: money_transfer", "intent: money_transfr");
    }
    let found = said(&mut project.groundstate("validate")).await;
    assert_eq!((found.code, found.stderr.as_str()), (Some(1), ""));
    let intents: Vec<&str> = found.stdout.lines().filter(|line| line.contains("[unknown-intent]")).collect();
    insta::assert_snapshot!(intents.join("\n"), @"  3: error: intent: `money_transfr` is not an intent of the playbook (did you mean `money_transfer`?) [unknown-intent] (and 4 times more)");
}

#[tokio::test]
async fn sarif_is_for_code_hosts() {
    let sarif = said(&mut project().groundstate("validate --format sarif")).await;
    assert_eq!((sarif.code, sarif.stderr.as_str()), (Some(0), ""));
    let results = sarif_results(&sarif.stdout);
    insta::assert_snapshot!(serde_json::to_string_pretty(&results[0]).unwrap(), @r#"
    {
      "ruleId": "similar-description",
      "level": "warning",
      "message": {
        "text": "description: is 0.97 like that of `transfer_rent_to_payee`; tell them apart or drop one"
      },
      "locations": [
        {
          "physicalLocation": {
            "artifactLocation": {
              "uri": "scenarios/retail_bank/rent%20again.yaml"
            },
            "region": {
              "startLine": 4
            }
          }
        }
      ],
      "properties": {
        "grade": "warning",
        "field": "description"
      }
    }
    "#);
}
