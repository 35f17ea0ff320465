//! Preference pairs of a run in which the agent is now good and now not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::export::{ExportSpec, PairRule, Profile, RunRows, SourceSpec, Toggles};
use domain::role::Role;
use serde_json::Value;
use server::export::Unwatched;
use server::export::build::{Built, Order, build};
use server::export::order;
use sqlx::PgPool;

use crate::support::agent;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HELP, played};

async fn pairs(pool: &PgPool, profile: Profile) -> (Built, Vec<Value>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let endpoint = Endpoint::start(move |request| {
        let answers = request["messages"].as_array().unwrap().last().unwrap()["role"] == "tool";
        // Every third answer tells nothing.
        if answers && asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) {
            says("I can not say.")
        } else {
            agent::help(request)
        }
    })
    .await;
    let run = played(pool, &[HELP], 24, 1, &[(Role::Agent, endpoint.model())]).await;
    let source = RunRows { id: run.run.id.to_string(), judging: None, corrected: false, all: false, branches: false };
    let spec = ExportSpec {
        source: SourceSpec::Run(source),
        profile,
        toggles: Toggles::default(),
        pairs: PairRule::default(),
    };
    let checked = order::check(pool, &spec, None).await.unwrap().ok().unwrap();
    let order = Order::of(pool, &spec, &checked).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let built = build(pool, &order, folder.path(), &mut Unwatched).await.unwrap();
    let text = std::fs::read_to_string(folder.path().join(&built.parts[0].path)).unwrap();
    (built, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[sqlx::test(migrations = "../migrations")]
async fn what_was_accepted_is_preferred_to_what_was_not(pool: PgPool) {
    let (built, pairs) = pairs(&pool, Profile::TrlDpo).await;
    let report = built.parts[0].pairs.as_ref().unwrap();
    assert!(!pairs.is_empty());
    assert_eq!(report.used, i64::try_from(pairs.len()).unwrap());
    assert_eq!(report.candidates, report.alone + report.too_close + report.left_over + 2 * report.used);
    for pair in &pairs {
        assert_eq!(pair["prompt"].as_array().unwrap().last().unwrap()["role"], "tool", "they part after both answers");
        assert!(pair["chosen"][0]["content"].as_str().unwrap().contains("1.75"));
        assert_eq!(pair["rejected"][0]["content"], "I can not say.");
        let metadata: Value = serde_json::from_str(pair["metadata"].as_str().unwrap()).unwrap();
        assert!(metadata["chosen"]["overall"].as_i64() > metadata["rejected"]["overall"].as_i64());
        assert_eq!(metadata["chosen"]["world"], metadata["rejected"]["world"]);
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn openai_takes_one_message_a_side(pool: PgPool) {
    let (_, pairs) = pairs(&pool, Profile::OpenaiDpo).await;
    assert!(!pairs.is_empty());
    for pair in &pairs {
        assert_eq!(pair["preferred_output"].as_array().unwrap().len(), 1);
        assert_eq!(pair["non_preferred_output"].as_array().unwrap().len(), 1);
        assert!(!pair.to_string().contains("reasoning_content"));
    }
}
