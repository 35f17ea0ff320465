//! Flags that cannot be obeyed, and models that cannot write.

use super::{author, model, said, scenarios, small_project, status};
use crate::support::endpoint::Endpoint;

/// What is said of these flags, which are bad input.
async fn refused(flags: &str) -> String {
    let project = small_project();
    let said = said(&mut project.groundstate(&format!("author scenarios {flags}"))).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.stderr);
    assert_eq!(scenarios(&project).len(), 2);
    said.stderr
}

#[tokio::test]
async fn everything_wrong_at_once() {
    let mut all = String::new();
    for flags in [
        "--playbook retail_bank",
        "--playbook retail_bnk --model scripted",
        "--playbook retail_bank --intent money_transfr --model scripted --dry-run",
        "--playbook retail_bank --model m@http://localhost/v1@NO_SUCH_KEY",
        "--playbook retail_bank --model gpt-x --out playbooks/retail_bank/policy.md",
        "--playbook retail_bank --model m@http://localhost/v1 --out playbooks/retail_bank/policy.md",
    ] {
        all += &refused(flags).await;
    }
    insta::assert_snapshot!(all, @"
    --model: scenarios are written by a model: name a model as NAME@BASE_URL or NAME@BASE_URL@KEY_VARIABLE, e.g. gpt-x@https://api.openai.com/v1@OPENAI_API_KEY, or one of models.yaml
    1 problem found; nothing was done
    --playbook: there is no playbook `retail_bnk` (did you mean `retail_bank`?); known: retail_bank
    --model: `scripted` only plays what scenarios say: name a model as NAME@BASE_URL or NAME@BASE_URL@KEY_VARIABLE, e.g. gpt-x@https://api.openai.com/v1@OPENAI_API_KEY, or one of models.yaml
    2 problems found; nothing was done
    --intent: `retail_bank` has no intent `money_transfr` (did you mean `money_transfer`?); known: card_dispute, card_block, card_replacement, card_limit, money_transfer, payee_setup, fee_refund, identity_document, contact_update, account_question, general_help, sensitive_case
    --model: `scripted` only plays what scenarios say: name a model as NAME@BASE_URL or NAME@BASE_URL@KEY_VARIABLE, e.g. gpt-x@https://api.openai.com/v1@OPENAI_API_KEY, or one of models.yaml
    2 problems found; nothing was done
    --model: m@http://localhost/v1@NO_SUCH_KEY: the environment variable NO_SUCH_KEY, which must hold the key, is not set or empty
    1 problem found; nothing was done
    --model: no model is named `gpt-x`; add it to models.yaml, which names none, or give NAME@BASE_URL
    1 problem found; nothing was done
    --out: playbooks/retail_bank/policy.md is not a folder
    1 problem found; nothing was done
    ");
    assert!(refused("--playbook retail_bank --temperature hot").await.contains("expected a number from 0 to 2"));
    assert!(refused("--playbook retail_bank --n 0").await.contains("0 is not in"));
}

#[tokio::test]
async fn a_key_that_opens_nothing_stops_at_once() {
    let project = small_project();
    let endpoint = Endpoint::start(|_| status(401)).await;
    let said = said(&mut author(&project, &endpoint, "--n 50")).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(said.stderr.replace(&endpoint.model(), "MODEL"), @"
    --model: MODEL: answered 401 (no luck today); check that the spec names the key's environment variable and that the key may use this model (attempts: 1)
    1 problem found; nothing was done
    ");
    assert_eq!(endpoint.requests().len(), 1);
}

#[tokio::test]
async fn a_dry_run_shows_the_question_and_asks_nobody() {
    let project = small_project();
    let endpoint = model(Vec::new()).await;
    let said = said(&mut author(&project, &endpoint, "--n 7 --brief lessons --dry-run")).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert!(said.stdout.contains("A test case is called a scenario."), "{}", said.stdout);
    assert!(said.stdout.contains("def make_transfer(world, ctx"), "{}", said.stdout);
    let (_, end) = said.stdout.split_once("Write one new scenario").unwrap();
    insta::assert_snapshot!(end.replace(&endpoint.model(), "MODEL"), @"
     with `playbook: retail_bank` and `intent: money_transfer`.
    What is asked for: lessons


    would ask MODEL for 7 scenarios, 1 at once
      each up to 3 times, temperature 0.8, 8192 tokens at most
      of the intents money_transfer
    scenarios would go to scenarios/retail_bank
    ");
    assert_eq!((endpoint.requests().len(), scenarios(&project).len()), (0, 2));
}
