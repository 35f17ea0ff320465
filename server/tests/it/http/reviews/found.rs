//! What people did about conversations, as lists, facets and corpora are narrowed by it.

use std::time::Duration;

use domain::api::{Annotation, ConversationFacets, ConversationSummary, Page};
use domain::corpus::Report;
use domain::correction::Correction;
use serde_json::json;
use sqlx::PgPool;

use super::*;
use crate::support::pass;

/// Which of the run's conversations are found, in the run's list and in that of all runs.
async fn found(app: &TestApp, run: Uuid, query: &str) -> Vec<i32> {
    let of_run: Page<ConversationSummary> = app.json(&format!("/api/v1/runs/{run}/conversations?{query}")).await;
    let all = format!("/api/v1/projects/default/conversations?{query}");
    let of_project: Page<ConversationSummary> = app.json(&all).await;
    assert_eq!(of_run.items, of_project.items, "{query}");
    of_run.items.iter().map(|item| item.position).collect()
}

/// A list is as it was a second ago or later.
async fn a_while() {
    pass(Duration::from_millis(1100)).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn lists_and_facets_go_by_what_people_did(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 4).await;
    let run = played.run;
    for name in ["rated", "annotated", "corrected"] {
        assert_eq!(found(&app, run, &format!("{name}=true")).await, [0; 0], "{name}");
        assert_eq!(found(&app, run, &format!("{name}=false")).await, [0, 1, 2, 3], "{name}");
    }
    let last = *played.turns().last().unwrap();
    let note: Annotation = app.post(&played.path("annotations"), &json!({"seq": 1, "text": "Why?"})).await;
    let correct = json!({"seq": last, "content": "Gladly!", "note": "warmer"});
    let _: Correction = app.post(&played.path("corrections"), &correct).await;
    let other = played.conversations[2].to_string();
    assert_eq!(rate(&app, &other, &json!({"scores": {"overall": 7}})).await.0, StatusCode::OK);
    a_while().await;
    assert_eq!(found(&app, run, "rated=true").await, [2]);
    assert_eq!(found(&app, run, "annotated=true&corrected=true").await, [0]);
    assert_eq!(found(&app, run, "annotated=true&rated=true").await, [0; 0]);
    assert_eq!(found(&app, run, "annotated=false&rated=false").await, [1, 3]);
    let facets: ConversationFacets = app.json(&format!("/api/v1/runs/{run}/conversations/facets?rated=true")).await;
    let counts = |name: &str| {
        let facet = facets.facets.iter().find(|facet| facet.name == name).unwrap();
        facet.values.iter().map(|value| (value.value.clone(), value.count)).collect::<Vec<_>>()
    };
    let count = |value: &str, count| (value.to_owned(), count);
    assert_eq!(counts("rated"), [count("false", 3), count("true", 1)], "as if it were not asked for");
    assert_eq!(counts("corrected"), [count("false", 1)]);

    // What is taken back counts no more.
    let withdraw = json!({"seq": last, "withdraw": true, "note": "It was better before."});
    let _: Correction = app.post(&played.path("corrections"), &withdraw).await;
    let path = format!("/api/v1/annotations/{}", note.id);
    assert_eq!(app.request(Method::DELETE, &path).send().await.unwrap().status(), StatusCode::NO_CONTENT);
    a_while().await;
    assert_eq!(found(&app, run, "annotated=true").await, [0; 0]);
    assert_eq!(found(&app, run, "corrected=true").await, [0; 0]);
    assert_eq!(found(&app, run, "rated=true").await, [2]);
    for query in ["rated=perhaps", "corrected=1", "annotated=true&annotated=false"] {
        let refused = app.status(&format!("/api/v1/runs/{run}/conversations?{query}")).await;
        assert_eq!(refused, StatusCode::BAD_REQUEST, "{query}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn corpora_go_by_what_people_did(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 3).await;
    let correct = json!({"seq": *played.turns().last().unwrap(), "content": "Gladly!", "note": "warmer"});
    let _: Correction = app.post(&played.path("corrections"), &correct).await;
    assert_eq!(rate(&app, &played.conversations[1].to_string(), &json!({"scores": {"overall": 7}})).await.0, 200);
    for (filter, left) in [
        (json!({"corrected": true}), vec![("outcomes", 3), ("corrected", 1)]),
        (json!({"rated": true, "corrected": false}), vec![("outcomes", 3), ("rated", 1), ("corrected", 1)]),
        (json!({"rated": false, "annotated": false}), vec![("outcomes", 3), ("rated", 2), ("annotated", 2)]),
        (json!({"annotated": true}), vec![("outcomes", 3), ("annotated", 0)]),
    ] {
        let spec = json!({"filter": filter, "duplicates": {"exact": false}, "split": {"golden": 0}});
        let report: Report = app.post("/api/v1/projects/default/corpora/preview", &spec).await;
        let stages = report.filter.iter().map(|stage| (stage.condition.as_str(), stage.left));
        assert_eq!(stages.collect::<Vec<_>>(), left, "{filter}");
    }
}
