//! Several judges: their median counts, and their agreement is known.

use domain::api::ConversationDetail;
use domain::event::EventKind;
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use serde_json::json;
use sqlx::PgPool;

use crate::http::TestApp;
use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HELP, exported, planned_as, play_all, rows, stories};

/// A judge that gives every criterion the same score.
async fn judge(score: u8, goal_achieved: bool) -> Endpoint {
    let mut said = verdict();
    for one in said["scores"].as_array_mut().unwrap() {
        one["score"] = json!(score);
    }
    said["overall"] = json!(score);
    said["goal_achieved"] = json!(goal_achieved);
    Endpoint::start(move |_| says(&said.to_string())).await
}

#[sqlx::test(migrations = "../migrations")]
async fn the_median_counts_and_the_row_says_how_far_they_agree(pool: PgPool) {
    let judges = [judge(9, true).await, judge(2, false).await, judge(8, true).await];
    let player = planned_as(&pool, &[HELP], 1, 1, &[(Role::Judge, judges[0].model())], |config| {
        config.panel = judges[1..].iter().map(|judge| judge.model().parse().unwrap()).collect();
    })
    .await;
    let player = play_all(player, 4).await;
    let story = &stories(&player).await[0];
    assert_eq!(story.outcome, Outcome::Accepted);
    let judged = story.events.iter().filter(|e| matches!(e.kind, EventKind::Judged { .. })).count();
    assert_eq!(judged, 3, "each verdict is an event");
    let row = &rows(&player).await[0]["metadata"];
    assert_eq!((&row["overall"], &row["scores"]["consistency"]), (&json!(8), &json!(8)));
    assert_eq!(row["judge"]["models"], json!(judges.each_ref().map(Endpoint::model)));
    // Distances 7, 1 and 6 on a scale of 10.
    assert!((row["judge"]["agreement"].as_f64().unwrap() - (1.0 - 1.4 / 3.0)).abs() < 1e-9);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_judge_of_the_panel_that_fails_is_named(pool: PgPool) {
    let (good, broken) = (judge(9, true).await, Endpoint::start(|_| says("no verdict")).await);
    let player = planned_as(&pool, &[HELP], 1, 1, &[(Role::Judge, good.model())], |config| {
        config.panel = vec![broken.model().parse().unwrap()];
    })
    .await;
    let player = play_all(player, 4).await;
    stories(&player).await[0].assert_failed(Blame::Judge, "not JSON");
    assert_eq!(exported(&player, false).await.0.report.rows, 0);
}

#[sqlx::test(migrations = "../migrations")]
async fn the_api_shows_the_median_with_all_who_gave_it(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let judges = [judge(9, true).await, judge(4, true).await, judge(8, true).await];
    let player = planned_as(&pool, &[HELP], 1, 1, &[(Role::Judge, judges[0].model())], |config| {
        config.panel = judges[1..].iter().map(|judge| judge.model().parse().unwrap()).collect();
    })
    .await;
    let player = play_all(player, 4).await;
    let id = stories(&player).await[0].planned.id;
    let detail: ConversationDetail = app.json(&format!("/api/v1/conversations/{id}")).await;
    let verdict = detail.verdict.unwrap();
    assert_eq!((verdict.overall, verdict.panel.len()), (8, 3));
    assert_eq!(detail.summary.overall, Some(8), "the list shows it as well");
}
