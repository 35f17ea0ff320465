//! Flags that name what does not exist: all of them said at once, and nothing started.

use super::{Project, said};

/// What is said of these flags, which are bad input.
async fn refused(arguments: &str) -> String {
    let project = Project::new();
    let said = said(&mut project.groundstate(arguments)).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.stderr);
    assert!(!project.join("rows.jsonl").exists());
    said.stderr
}

#[tokio::test]
async fn everything_wrong_at_once() {
    let said = refused(
        "generate --playbook retail_bnk --scenario help_card_abrod --agent gpt-x --user m@ftp://host \
         --judge scriptd --temperature agnt=0.5 --temperature judge=hot --temperature user --complexity vage=1 --max-tokens judge=0 --out no/such/rows.jsonl",
    )
    .await;
    insta::assert_snapshot!(said, @"
    --playbook: there is no playbook `retail_bnk` (did you mean `retail_bank`?); known: retail_bank
    --scenario: there is no scenario `help_card_abrod` (did you mean `help_card_abroad`?); known: address_change_after_move, bereavement_handover, card_lost_replacement_fee, card_stolen_replaced_free, claim_wrong_amount, claim_wrong_date, dispute_duplicate_cafe, dispute_fraud_online_shop, dispute_outside_window, dispute_wrong_amount_restaurant, fee_refund_already_granted, fee_refund_goodwill, help_card_abroad, identity_check_fails, kyc_document_runs_out_too_soon, kyc_passport_renewed, missing_transaction, other_persons_account, overdraft_interest_waiver, transfer_insufficient_funds, transfer_new_payee_first_day, transfer_over_daily_limit, transfer_rent_to_payee, wallet_stolen_block_and_dispute
    --user: the base URL begins with `ftp:`, expected http: or https:; expected `scripted`, a name from models.yaml, NAME@BASE_URL or NAME@BASE_URL@KEY_VARIABLE, e.g. gpt-x@https://api.openai.com/v1@OPENAI_API_KEY
    --complexity: there is no `vage` (did you mean `vague`?); known: simple, medium, complex, vague
    --temperature: there is no `agnt` (did you mean `agent`?); known: simulated_user, agent, tool_simulator, state_manager, judge
    --temperature: `hot` is not a temperature from 0 to 2
    --temperature: `user` is not NAME=VALUE; names: simulated_user, agent, tool_simulator, state_manager, judge
    --max-tokens: `0` is not a number of tokens
    --out: the folder no/such does not exist
    --agent: no model is named `gpt-x`; add it to models.yaml, which names none, or give NAME@BASE_URL
    --judge: no model is named `scriptd`; add it to models.yaml, which names none, or give NAME@BASE_URL
    11 problems found; nothing was done
    ");
}

#[tokio::test]
async fn rows_replace_files_and_nothing_else() {
    let said = refused("generate --playbook retail_bank --out /dev/null").await;
    insta::assert_snapshot!(said, @"
    --out: /dev/null is not a regular file
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn a_key_that_is_not_there() {
    let said = refused("generate --playbook retail_bank --agent m@http://localhost/v1@NO_SUCH_KEY").await;
    insta::assert_snapshot!(said, @"
    --agent: m@http://localhost/v1@NO_SUCH_KEY: the environment variable NO_SUCH_KEY, which must hold the key, is not set or empty
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn without_a_name_all_playbooks_are_played_in_turn() {
    let mut command = super::groundstate(["generate", "--dry-run", "--n", "5", "--seed", "3"]);
    let said = super::said(command.current_dir(crate::support::project())).await;
    assert_eq!(said.stderr, "");
    let lines: Vec<&str> = said.stdout.lines().take_while(|line| !line.starts_with("by persona")).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    would play 5 conversations of crm_assistant, retail_bank, telecom_support
      simulated user   scripted, temperature 0.7
      agent            scripted, temperature 0.7
      tool simulator   scripted, temperature 0.3
      state manager    scripted, temperature 0
      judge            scripted, temperature 0.2
    by scenario:
          1 address_change_after_move
          1 airplane_mode_after_flight
          1 bereavement_handover
          1 book_board_meeting_with_coffee
          1 book_training_day_tentative
    ");
}

#[tokio::test]
async fn a_dry_run_says_what_it_would_play() {
    let project = Project::new();
    let mut command = project.groundstate(
        "generate --playbook retail_bank --scenario help_card_abroad --scenario bereavement_handover --n 5 --seed 3 \
         --temperature agent=0.9 --agent gpt-x@http://localhost:9/v1 --out /tmp/rows.jsonl --dry-run",
    );
    let said = said(&mut command).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(said.stdout, @"
    would play 5 conversations of retail_bank
      simulated user   scripted, temperature 0.7
      agent            gpt-x@http://localhost:9/v1, temperature 0.9
      tool simulator   scripted, temperature 0.3
      state manager    scripted, temperature 0
      judge            scripted, temperature 0.2
    by scenario:
          2 bereavement_handover
          3 help_card_abroad
    by persona:
          1 careful_pensioner
          1 easygoing_traveller
          1 newcomer
          1 small_business_owner
          1 worried_parent
    by complexity:
          2 medium
          2 simple
          1 vague
    rows would go to /tmp/rows.jsonl
    ");
}
