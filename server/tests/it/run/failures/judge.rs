//! Judges whose reply is no verdict.

use axum::response::Response;
use domain::event::EventKind;
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::agent::{is_handover, verdict};
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HANDOVER, HELP, Story, played, rows, stories};

fn refusals(story: &Story) -> Vec<&str> {
    let reason = |kind| match kind {
        &EventKind::Refused { role: Role::Judge, ref reason, .. } => Some(reason.as_str()),
        _ => None,
    };
    story.events.iter().filter_map(|event| reason(&event.kind)).collect()
}

/// Verdicts with something wrong, first one thing and then another.
fn wrong(request: &Value) -> Response {
    let mut verdict = verdict();
    if request.to_string().contains("That was refused") {
        verdict["scores"].as_array_mut().unwrap().pop();
    } else {
        verdict["overall"] = json!(11);
    }
    says(&verdict.to_string())
}

#[sqlx::test(migrations = "../migrations")]
async fn a_judge_is_told_what_was_wrong_and_may_repair_it_once(pool: PgPool) {
    let endpoint = Endpoint::start(|request| match request.to_string().matches("That was refused").count() {
        0 => wrong(request),
        _ => says(&format!("```json\n{}\n```", verdict())),
    })
    .await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Judge, endpoint.model())]).await;
    let story = &stories(&player).await[0];
    assert_eq!(story.outcome, Outcome::Accepted);
    assert_eq!(refusals(story), ["overall is 11, above 10"]);
    let row = &rows(&player).await[0];
    assert_eq!(row["metadata"]["usage"]["judge"]["completion_tokens"], 14, "refused replies were paid for");
    assert_eq!(row["metadata"]["judge"]["models"], json!([endpoint.model()]));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_judge_that_never_gives_a_verdict_is_to_blame_itself(pool: PgPool) {
    let judge = |request: &Value| if is_handover(request) { wrong(request) } else { says(&verdict().to_string()) };
    let endpoint = Endpoint::start(judge).await;
    let player = played(&pool, &[HANDOVER, HELP], 2, 1, &[(Role::Judge, endpoint.model())]).await;
    let stories = stories(&player).await;
    stories[0].assert_failed(Blame::Judge, "`error_handling` is not scored");
    assert_eq!(refusals(&stories[0]).len(), 2);
    assert_eq!(stories[1].outcome, Outcome::Accepted);
    assert_eq!(rows(&player).await.len(), 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_a_judge_finds_bad_is_the_agents_failure(pool: PgPool) {
    for (field, value, because) in
        [("overall", json!(2), "overall 2 is below"), ("goal_achieved", json!(false), "the goal was not achieved")]
    {
        let mut strict = verdict();
        strict[field] = value;
        let endpoint = Endpoint::start(move |_| says(&strict.to_string())).await;
        let player = played(&pool, &[HELP], 1, 1, &[(Role::Judge, endpoint.model())]).await;
        stories(&player).await[0].assert_failed(Blame::Agent, because);
    }
}
