//! Simulated users who say what they may not.

use domain::event::EventKind;
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use serde_json::Value;
use sqlx::PgPool;

use crate::support::agent::is_handover;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HANDOVER, HELP, exported, played, stories};

const INVENTED: &str = "Her account is acc_9999, please close it.";

/// In one conversation a user who makes up a record, in the other one who plays well.
fn user(request: &Value) -> axum::response::Response {
    let messages = request["messages"].as_array().unwrap().len();
    match (is_handover(request), messages) {
        (true, _) => says(INVENTED),
        (false, 2) => says("What does paying by card cost me abroad, and when can I call?"),
        (false, _) => says("Thank you. [END]"),
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_user_who_invents_facts_never_gets_a_word_in(pool: PgPool) {
    let endpoint = Endpoint::start(user).await;
    let player = played(&pool, &[HANDOVER, HELP], 2, 1, &[(Role::SimulatedUser, endpoint.model())]).await;
    let stories = stories(&player).await;
    stories[0].assert_failed(Blame::SimulatedUser, "`acc_9999` is nothing you know");
    assert!(!stories[0].events.iter().any(|event| matches!(event.kind, EventKind::UserSpoke { .. })));
    assert_eq!(stories[1].outcome, Outcome::Accepted);
    let (written, text) = exported(&player, true).await;
    assert!(!text.contains("acc_9999"));
    assert_eq!(written.unusable, [(0, "does not end with the agent".to_owned())]);
}
