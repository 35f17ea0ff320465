//! What becomes of drafts.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::time::timeout;

use super::{
    author, bicycle, endless, model, music_school, prompts_sent, said, says, scenarios, small_project, status,
};
use crate::support::endpoint::silence;

/// Nobody has the money.
fn poor() -> String {
    bicycle().replace("balance: 1823.12", "balance: 12.00")
}

#[tokio::test]
async fn sound_drafts_are_kept_and_the_rest_is_listed_with_reasons() {
    let project = small_project();
    let endpoint = model(vec![
        || says(&format!("Here is one:\n```yaml\n{}```\n", music_school())),
        // Mended after it was told what is wrong.
        || says(&poor()),
        || says(&bicycle()),
        // Nearly the first one.
        || says(&music_school().replace("id: music_school_term", "id: school").replace("paid before", "paid once")),
        // Never mended.
        || says(&poor().replace("id: bicycle_deposit", "id: poor")),
        || says(&poor().replace("id: bicycle_deposit", "id: poor").replace("intent: money_transfer", "intent: magic")),
        // No scenarios at all.
        || says("I am a teapot.\u{1b}[31m"),
        endless,
        || says(&"and so on ".repeat(10_000)),
        || says("user_gaol: a\nintent: money_transfer\nscript: [{agent: \"{{ 'a' * 999999999 }}\"}]"),
    ])
    .await;
    let drafted = said(&mut author(&project, &endpoint, "--n 6 --attempts 2 --brief lessons")).await;
    assert_eq!(drafted.code, Some(1), "{}", drafted.stderr);
    insta::assert_snapshot!(drafted.stdout, @"
    kept     2 of 6
      scenarios/retail_bank/music_school_term.yaml: Somebody settles the fee of the summer term at a music school that was paid before.
      scenarios/retail_bank/bicycle_deposit.yaml: The deposit on a new bicycle goes to a workshop from the list.
    dropped  4
      Somebody settles the fee of the summer term at a music school that was paid once. (1 attempt)
        description: is 0.96 like that of `music_school_term`
        user_goal: is 1.00 like that of `music_school_term`
      The deposit on a new bicycle goes to a workshop from the list. (2 attempts)
        intent: expected `money_transfer`
      a scenario of the intent `money_transfer` (2 attempts)
        the reply was not complete (finish_reason `length`): be shorter
      a scenario of the intent `money_transfer` (2 attempts)
        script[0]: `{{ 'a' * 999999999 }}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters int, float, round, abs, first, last, length, lower, upper
    tokens   110 read, 70 written
    4 fewer than asked for. To go on, order 4 more with another --seed; raise --attempts if drafts
    were nearly sound, and give another --brief if they were like others.
    ");
    assert!(drafted.stderr.ends_with("6/6 drafts, 2 kept\n"), "{}", drafted.stderr);

    let feedback = prompts_sent(&endpoint, 2);
    assert_eq!(feedback[..2], prompts_sent(&endpoint, 1)[..2], "the question is the same");
    assert_eq!(feedback[2], poor());
    insta::assert_snapshot!(feedback[3], @"
    That cannot be used:
    - expected_outcome: the script does not reach it: infrastructure: undefined value: `calls.make_transfer` is undefined (in <string>:1); `make_transfer` answered `Error: Insufficient funds: 512.00 is available on acc_2008.` [unreachable-outcome]
    Mend all of it and write the whole document again.
    ");
    assert!(
        prompts_sent(&endpoint, 3)[1].contains("- The deposit on a new bicycle"),
        "what was kept is not to be repeated"
    );
    assert!(prompts_sent(&endpoint, 0)[1].contains("What is asked for: lessons"));
    let huge = prompts_sent(&endpoint, 9);
    assert_eq!(huge.len(), 3, "what is too long is not sent back");
    assert!(huge[2].contains("the reply is 100000 bytes long; at most 65536 are read"), "{}", huge[2]);

    let validated = said(&mut project.groundstate("validate --strict")).await;
    assert_eq!(validated.code, Some(0), "{}", validated.stdout);
    assert!(validated.stdout.starts_with("1 playbooks, 4 scenarios (each proved solvable)"), "{}", validated.stdout);
}

#[tokio::test]
async fn a_kept_scenario_reads_like_a_shipped_one() {
    let project = small_project();
    let endpoint = model(vec![|| says(&music_school())]).await;
    let drafted = said(&mut author(&project, &endpoint, "--n 1 --out drafts")).await;
    assert_eq!(drafted.code, Some(0), "{}", drafted.stdout);
    let text = std::fs::read_to_string(project.join("drafts/music_school_term.yaml")).unwrap();
    let lines: Vec<&str> = text.lines().take(24).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    id: music_school_term
    playbook: retail_bank
    intent: money_transfer
    description: Somebody settles the fee of the summer term at a music school that was paid before.
    tags: [transfer, parallel_calls]

    user_facts:
      customer_id: cus_1008
      full_name: Lucian Farrow
      date_of_birth: 1991-12-19
      postcode: "81669"
      payee: Brass and Reed School
    user_request: {amount: 950.0, reference: Summer term}
    system_facts:
      customers:
        cus_1008:
          full_name: Lucian Farrow
          date_of_birth: 1991-12-19
          email: lucian.farrow@example.org
          phone: +999 555 0008
          address: {street: "5 Chapel Steps", postcode: "81669", city: Eastmere}
          segment: standard
          customer_since: 2018-06-01
      accounts:
    "#);
    assert_eq!(scenarios(&project).len(), 2, "nothing is written elsewhere");
}

#[tokio::test]
async fn nothing_is_overwritten() {
    let project = small_project();
    let blank = project.join("scenarios/retail_bank/music_school_term_2.yaml");
    std::fs::rename(project.join("scenarios/retail_bank/help_card_abroad.yaml"), &blank).unwrap();
    let before = scenarios(&project);
    let endpoint =
        model(vec![|| says(&music_school().replace("id: music_school_term", "id: transfer_rent_to_payee")), || {
            says(&bicycle().replace("id: bicycle_deposit", "id: ../Help Card-Abroad"))
        }])
        .await;
    let drafted = said(&mut author(&project, &endpoint, "--n 2")).await;
    assert_eq!(drafted.code, Some(0), "{}", drafted.stdout);
    let after = scenarios(&project);
    assert!(before.iter().all(|file| after.contains(file)));
    let names: Vec<&str> = after.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "help_card_abroad_2.yaml",
            "music_school_term_2.yaml",
            "transfer_rent_to_payee.yaml",
            "transfer_rent_to_payee_2.yaml"
        ]
    );
}

#[tokio::test]
async fn a_failing_endpoint_costs_one_draft() {
    let project = small_project();
    let endpoint = model(vec![|| says(&music_school()), || status(400), || says(&bicycle())]).await;
    let drafted = said(&mut author(&project, &endpoint, "--n 3")).await;
    assert_eq!(drafted.code, Some(1), "{}", drafted.stderr);
    let stdout = drafted.stdout.replace(&endpoint.model(), "MODEL");
    assert!(stdout.contains("kept     2 of 3"), "{stdout}");
    let reason = "a scenario of the intent `money_transfer` (0 attempts)\n    MODEL: answered 400 (no luck today)";
    assert!(stdout.contains(reason), "{stdout}");
}

#[tokio::test]
async fn ctrl_c_keeps_what_was_kept() {
    let project = small_project();
    let endpoint = model(vec![|| says(&music_school()), silence]).await;
    let mut command = author(&project, &endpoint, "--n 5");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while endpoint.requests().len() < 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    kill_process(Pid::from_raw(child.id().unwrap().cast_signed()).unwrap(), Signal::INT).unwrap();
    let output = timeout(Duration::from_mins(1), child.wait_with_output()).await.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.ends_with("interrupted; 1 of 5 scenarios were kept\n  scenarios/retail_bank/music_school_term.yaml\n"),
        "{stderr}"
    );
    assert!(project.join("scenarios/retail_bank/music_school_term.yaml").is_file());
}
