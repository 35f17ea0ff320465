//! The shapes of trainers, on rows with parallel calls and reasoning.

use datasets::export::profile::{Place, record};
use datasets::export::{Choice, RowOutcome, Source, rows};
use domain::export::{Arguments, Profile, Reasoning, Toggles, ToolsAs};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::material;

use crate::support::play::{HELP, played};

/// The first row of [`HELP`], in a profile.
async fn first(pool: &PgPool, profile: Profile, toggles: Toggles) -> Value {
    let run = played(pool, &[HELP], 1, 3, &[]).await;
    let mut db = pool.acquire().await.unwrap();
    let source =
        Source::of_run(pool, &run.control.run, &run.kind.config, &run.kind.library, Choice::to_imitate(false, false))
            .await
            .unwrap();
    let wanted = source.after(&mut db, -1, 1).await.unwrap();
    let material = material::of(&mut db, &wanted, false).await.unwrap();
    let RowOutcome::Rows { rows: made, .. } =
        rows(&source.contexts[&run.control.run.id], &material[0], source.wanted).unwrap()
    else {
        panic!()
    };
    let row = made.into_iter().next().unwrap().unwrap();
    let mut out = Vec::new();
    let shape = profile.settle(&toggles).unwrap();
    record(&shape, &row, Place { index: 5, split: "golden" }, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn calling(record: &Value) -> &Value {
    let messages = record["messages"].as_array().unwrap();
    messages.iter().find(|message| message.get("tool_calls").is_some()).unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn toggles_are_honoured(pool: PgPool) {
    let kept = first(&pool, Profile::Trl, Toggles::default()).await;
    let message = calling(&kept);
    assert!(message["reasoning_content"].as_str().unwrap().contains("no verification is needed"));
    assert_eq!(message["tool_calls"].as_array().unwrap().len(), 2);
    assert!(message["tool_calls"][0]["function"]["arguments"].is_object());
    assert!(kept["tools"].is_string());

    let toggles = Toggles { reasoning: Some(Reasoning::Inline), tools: Some(ToolsAs::Array), ..Toggles::default() };
    let inline = first(&pool, Profile::Trl, toggles).await;
    assert!(calling(&inline)["content"].as_str().unwrap().starts_with("<think>\n"));
    assert!(calling(&inline).get("reasoning_content").is_none() && inline["tools"].is_array());
    let dropped = Toggles { reasoning: Some(Reasoning::Drop), ..Toggles::default() };
    let silent = first(&pool, Profile::Canonical, dropped).await;
    assert!(calling(&silent).get("reasoning_content").is_none() && calling(&silent)["content"] == "");

    let swift = async |asked| {
        let toggles = Toggles { arguments: asked, ..Toggles::default() };
        let record = first(&pool, Profile::MsSwift, toggles).await;
        calling(&record)["tool_calls"][0]["function"]["arguments"].clone()
    };
    let (text, object) = (swift(None).await, swift(Some(Arguments::Object)).await);
    assert!(object.is_object());
    assert_eq!(serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap(), object);
}

#[sqlx::test(migrations = "../migrations")]
async fn llamafactory_alternates(pool: PgPool) {
    let record = first(&pool, Profile::Llamafactory, Toggles::default()).await;
    let turns = record["conversations"].as_array().unwrap();
    let from: Vec<&str> = turns.iter().map(|turn| turn["from"].as_str().unwrap()).collect();
    assert_eq!(&from[..4], ["human", "function_call", "observation", "gpt"]);
    let call = turns[1]["value"].as_str().unwrap();
    let (thought, calls) = call.split_once("</think>\n\n").unwrap();
    assert!(thought.starts_with("<think>\n"));
    let calls: Value = serde_json::from_str(calls).unwrap();
    assert_eq!(calls[0]["name"], "search_help");
    assert!(calls[0]["arguments"].is_object());
    assert_eq!(turns[2]["value"].as_str().unwrap().matches("</tool_response>\n<tool_response>").count(), 1);
    assert!(serde_json::from_str::<Value>(record["tools"].as_str().unwrap()).unwrap().is_array());
}

#[sqlx::test(migrations = "../migrations")]
async fn openai_gets_no_key_that_it_refuses(pool: PgPool) {
    let record = first(&pool, Profile::Openai, Toggles::default()).await;
    let keys: Vec<&String> = record.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["messages", "tools", "parallel_tool_calls"]);
    assert!(calling(&record).get("reasoning_content").is_none());
    assert!(calling(&record)["tool_calls"][0]["function"]["arguments"].is_string());
}

#[sqlx::test(migrations = "../migrations")]
async fn verl_gets_a_prompt_and_what_it_came_to(pool: PgPool) {
    let record = first(&pool, Profile::Verl, Toggles::default()).await;
    let roles: Vec<&Value> = record["prompt"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, [&json!("system"), &json!("user")]);
    assert_eq!((&record["extra_info"]["index"], &record["extra_info"]["split"]), (&json!(5), &json!("golden")));
    let truth: Value = serde_json::from_str(record["reward_model"]["ground_truth"].as_str().unwrap()).unwrap();
    assert_eq!(truth["calls"][0]["name"], "search_help");
}
