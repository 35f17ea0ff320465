//! Tool simulators that state what is in no record.

use std::sync::Arc;

use domain::event::{Answer, EventKind};
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use generation::ConversationRun;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::agent::search_help;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HANDOVER, HELP, exported, played, stories};

/// The right article, with a fee that nobody charges.
fn invention() -> Value {
    let mut response = search_help();
    response["articles"][0]["body"] = json!("Paying abroad costs 9.99 EUR each time.");
    response
}

fn answers(player: &[domain::Event]) -> Vec<(Answer, &str)> {
    let answer = |kind| match kind {
        &EventKind::ToolAnswered { ref tool, answer, ref content, .. } if tool == "search_help" => {
            Some((answer, content.as_str()))
        }
        _ => None,
    };
    player.iter().filter_map(|event| answer(&event.kind)).collect()
}

async fn inventing(pool: &PgPool) -> Arc<ConversationRun> {
    let endpoint = Endpoint::start(|_| says(&invention().to_string())).await;
    played(pool, &[HELP, HANDOVER], 2, 1, &[(Role::ToolSimulator, endpoint.model())]).await
}

#[sqlx::test(migrations = "../migrations")]
async fn inventions_never_reach_the_agent(pool: PgPool) {
    let player = inventing(&pool).await;
    let stories = stories(&player).await;
    let fallback = "Error: the service could not process this request; nothing was changed";
    assert_eq!(answers(&stories[0].events), [(Answer::Fallback, fallback)]);
    let refused = |kind: &EventKind| matches!(kind, EventKind::Refused { reason, .. } if reason.contains("9.99"));
    assert_eq!(stories[0].events.iter().filter(|event| refused(&event.kind)).count(), 3);
    assert!(matches!(stories[0].outcome, Outcome::Failed { .. }), "a tool that was needed did not work");
    assert_eq!(stories[1].outcome, Outcome::Accepted);
    let (written, text) = exported(&player, true).await;
    assert_eq!(written.report.rows, 2);
    assert!(!text.contains("9.99"));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_fallback_that_fails_the_conversation_is_not_the_agents_fault(pool: PgPool) {
    let player = inventing(&pool).await;
    stories(&player).await[0].assert_failed(Blame::ToolSimulator, "search_help");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_tool_simulator_that_mends_its_reply_is_heard(pool: PgPool) {
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let endpoint = Endpoint::start(move |_| match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => says("I found an article for you!"),
        1 => says(&invention().to_string()),
        _ => says(&search_help().to_string()),
    })
    .await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::ToolSimulator, endpoint.model())]).await;
    let story = &stories(&player).await[0];
    assert_eq!(story.outcome, Outcome::Accepted);
    assert_eq!(answers(&story.events), [(Answer::Succeeded, search_help().to_string().as_str())]);
    assert_eq!(endpoint.requests().len(), 3);
}
