//! Who gets what.

use std::collections::BTreeMap;

use domain::api::{AssignmentState, Page, ReviewItem};
use futures::future::join_all;
use serde_json::json;
use sqlx::PgPool;

use super::*;

/// Takes and rates until nothing is left.
async fn work(app: &TestApp, queue: &str) -> Vec<String> {
    let mut rated = Vec::new();
    while let Some(task) = next(app, queue).await.task {
        assert_eq!(rate(app, &task.conversation, &json!({"scores": {"overall": 5}})).await.0, 200);
        rated.push(task.conversation);
    }
    rated
}

#[sqlx::test(migrations = "../migrations")]
async fn raters_who_race_share_the_places(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 8).await;
    let made = queue(&app, &json!({"name": "q", "raters_each": 2, "conversations": played.conversations})).await;
    let raters: Vec<TestApp> = join_all(["ann", "ben", "cem", "dee"].map(|name| named(&app, name, Role::Author))).await;
    let rated = join_all(raters.iter().map(|rater| work(rater, &made.id))).await;
    let mut times: BTreeMap<&String, usize> = BTreeMap::new();
    for own in &rated {
        let different: std::collections::BTreeSet<&String> = own.iter().collect();
        assert_eq!(different.len(), own.len(), "nobody gets a conversation twice");
        own.iter().for_each(|id| *times.entry(id).or_default() += 1);
    }
    assert_eq!(times.len(), 8);
    assert!(times.values().all(|n| *n == 2), "{times:?}");
}

#[sqlx::test(migrations = "../migrations")]
async fn the_last_place_is_given_once(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let (ann, ben) = (named(&app, "ann", Role::Author).await, named(&app, "ben", Role::Author).await);
    for i in 0..20 {
        let order = json!({"name": format!("q{i}"), "conversations": played.conversations});
        let made = queue(&app, &order).await;
        let (a, b) = tokio::join!(next(&ann, &made.id), next(&ben, &made.id));
        assert!(a.task.is_some() != b.task.is_some(), "{a:?} {b:?}");
        // The last two places at once: nobody is told that there is none.
        let order = json!({"name": format!("r{i}"), "raters_each": 2, "conversations": played.conversations});
        let made = queue(&app, &order).await;
        let (a, b) = tokio::join!(next(&ann, &made.id), next(&ben, &made.id));
        assert!(a.task.is_some() && b.task.is_some(), "{a:?} {b:?}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn who_is_idle_blocks_nobody_and_loses_nothing(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let (ann, ben) = (named(&app, "ann", Role::Author).await, named(&app, "ben", Role::Author).await);
    let made = queue(&app, &json!({"name": "q", "conversations": played.conversations})).await;
    let taken = next(&ann, &made.id).await.task.unwrap();
    let hour = taken.expires_at.unwrap() - store::clock::now();
    assert!((3590..=3600).contains(&hour.num_seconds()), "{hour}");
    assert_eq!(next(&ben, &made.id).await.task, None);
    let idle = "UPDATE review_assignments SET expires_at = now() - interval '1 second'";
    sqlx::query(idle).execute(&pool).await.unwrap();
    assert!(next(&ben, &made.id).await.task.is_some());
    assert_eq!(next(&ann, &made.id).await.task, None, "the place is another's now");
    // What was thought about all the same is kept.
    assert_eq!(rate(&ann, &taken.conversation, &json!({"scores": {"overall": 3}})).await.0, 200);
    let items: Page<ReviewItem> = app.json(&format!("/api/v1/review-queues/{}/items", made.id)).await;
    let states: Vec<_> = items.items[0].assignments.iter().map(|a| (a.rater.as_str(), a.state)).collect();
    assert_eq!(states, [("ann", AssignmentState::Done), ("ben", AssignmentState::Assigned)]);
}

#[sqlx::test(migrations = "../migrations")]
async fn admins_give_conversations_to_people(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 2).await;
    let (ann, ben) = (named(&app, "ann", Role::Author).await, named(&app, "ben", Role::Author).await);
    let vic = named(&app, "vic", Role::Viewer).await;
    let made = queue(&app, &json!({"name": "q", "conversations": played.conversations})).await;
    let second = played.conversations[1];
    let give = format!("/api/v1/review-queues/{}/items/{second}/assignments", made.id);
    let item: ReviewItem = app.post(&give, &json!({"rater": "ben"})).await;
    assert_eq!((item.assignments[0].assigned_by.as_deref(), item.assignments[0].expires_at), (Some("root"), None));
    assert_eq!(next(&ben, &made.id).await.task.unwrap().conversation, second.to_string(), "it comes first");
    assert_eq!(next(&ann, &made.id).await.left, 1, "it is nobody else's");
    // Also beyond the places that there are.
    let item: ReviewItem = app.post(&give, &json!({"rater": "ann"})).await;
    assert_eq!(item.assignments.len(), 2);
    assert_eq!(next(&ann, &made.id).await.left, 2);

    let wrong = |rater: &str| json!({"rater": rater});
    assert_eq!(app.refused(&give, &wrong("vic")).await[0].1, "vic is a viewer, and viewers do not rate");
    assert_eq!(
        app.refused(&give, &wrong("benn")).await[0].1,
        "`benn` is not a member of the project (did you mean `ben`?)"
    );
    assert_eq!(ann.send(Method::POST, &give, &wrong("ben")).await.0, StatusCode::FORBIDDEN);
    assert_eq!(vic.send(Method::POST, &format!("/api/v1/review-queues/{}/next", made.id), &json!({})).await.0, 403);
    let nowhere = format!("/api/v1/review-queues/{}/items/{}/assignments", made.id, Uuid::nil());
    assert_eq!(app.send(Method::POST, &nowhere, &wrong("ben")).await.0, StatusCode::NOT_FOUND);

    let back = format!("{give}/ben");
    assert_eq!(app.request(Method::DELETE, &back).send().await.unwrap().status(), StatusCode::NO_CONTENT);
    assert_eq!(app.request(Method::DELETE, &back).send().await.unwrap().status(), StatusCode::NOT_FOUND);
    rate(&ann, &second.to_string(), &json!({"scores": {"overall": 9}})).await;
    assert_eq!(app.send(Method::POST, &give, &wrong("ann")).await.0, StatusCode::CONFLICT, "she has rated it");
    assert_eq!(app.request(Method::DELETE, &format!("{give}/ann")).send().await.unwrap().status(), 404);
}
