//! /api/v1/conversations/{id}/annotations and /api/v1/annotations

use domain::api::Annotation;
use serde_json::json;
use sqlx::PgPool;

use super::*;

#[sqlx::test(migrations = "../migrations")]
async fn steps_are_annotated_and_resolved(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let (ann, ben) = (named(&app, "ann", Role::Author).await, named(&app, "ben", Role::Author).await);
    let list = played.path("annotations");
    let hostile = "<img src=x onerror=alert(1)>\nand '; DROP TABLE annotations; --";
    let made: Annotation = ann.post(&list, &json!({"seq": 2, "text": hostile, "labels": ["tone"]})).await;
    let _: Annotation = ben.post(&list, &json!({"seq": 1, "text": "Why?"})).await;
    let all: Vec<Annotation> = app.json(&list).await;
    assert_eq!((all.len(), all[0].seq, &all[1]), (2, 1, &made), "in the order of the events");
    assert_eq!((made.text.as_str(), made.author.as_str()), (hostile, "ann"));

    let path = format!("/api/v1/annotations/{}", made.id);
    let (_, resolved) = ben.send(Method::PATCH, &path, &json!({"resolved": true})).await;
    assert_eq!((&resolved["resolved_by"], &resolved["text"]), (&json!("ben"), &json!(hostile)));
    assert_eq!(ben.send(Method::PATCH, &path, &json!({"text": "no"})).await.0, StatusCode::FORBIDDEN);
    let (_, open) = ann.send(Method::PATCH, &path, &json!({"resolved": false, "text": "better"})).await;
    assert_eq!((open.get("resolved_by"), &open["text"]), (None, &json!("better")));
    let delete = async |app: &TestApp| app.request(Method::DELETE, &path).send().await.unwrap().status();
    assert_eq!(delete(&ben).await, StatusCode::FORBIDDEN);
    assert_eq!(delete(&ann).await, StatusCode::NO_CONTENT);
    assert_eq!(delete(&ann).await, StatusCode::NOT_FOUND);
    assert_eq!(app.json::<Vec<Annotation>>(&list).await.len(), 1);
}

/// All annotations of a conversation are shown to everybody who looks at it.
#[sqlx::test(migrations = "../migrations")]
async fn a_conversation_has_a_thousand_annotations_at_most(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let (ann, list) = (named(&app, "ann", Role::Author).await, played.path("annotations"));
    let many = "INSERT INTO annotations (id, conversation_id, seq, text, labels, author, created_at)
                SELECT gen_random_uuid(), $1, 1, 'hm', '{}'::text[], 'ann', now() FROM generate_series(1, 999)";
    sqlx::query(many).bind(played.conversations[0]).execute(&pool).await.unwrap();
    let new = json!({"seq": 1, "text": "And another one."});
    let last: Annotation = ann.post(&list, &new).await;
    let (status, answer) = ann.send(Method::POST, &list, &new).await;
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    assert_eq!(answer["detail"], "the conversation has 1000 annotations; delete some that are resolved");
    let delete = ann.request(Method::DELETE, &format!("/api/v1/annotations/{}", last.id)).send().await.unwrap();
    assert_eq!(delete.status(), StatusCode::NO_CONTENT);
    let _: Annotation = ann.post(&list, &new).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn annotations_that_cannot_be(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let list = played.path("annotations");
    let mut all = String::new();
    for bad in [
        json!({"seq": 999, "text": "x"}),
        json!({"seq": 4_294_967_295_u32, "text": "x"}),
        json!({"seq": -1, "text": "x"}),
        json!({"seq": 1, "text": "\n"}),
        json!({"seq": 1, "text": "\u{1b}]0;title\u{7}"}),
        json!({"seq": 1, "text": "x", "labels": ["fine", "Not fine"]}),
        json!({"seq": 1, "text": "x", "labels": vec!["a"; 21]}),
    ] {
        for (pointer, detail) in app.refused(&list, &bad).await {
            all += &format!("{pointer}: {detail}\n");
        }
    }
    insta::assert_snapshot!(all, @"
    /seq: the conversation has no event 999
    /seq: the conversation has no event 4294967295
    /seq: invalid number
    /text: say something
    /text: the control character U+001B cannot be kept
    /labels/1: use 1 to 40 letters a-z, digits, _ and -
    /labels: expected at most 20
    ");
    assert_eq!(app.json::<Vec<Annotation>>(&list).await, []);
    let vic = named(&app, "vic", Role::Viewer).await;
    assert_eq!(vic.send(Method::POST, &list, &json!({"seq": 1, "text": "x"})).await.0, StatusCode::FORBIDDEN);
    assert_eq!(vic.json::<Vec<Annotation>>(&list).await, []);
    let huge = app.send(Method::POST, &list, &json!({"seq": 1, "text": "x".repeat(5 << 20)})).await;
    assert_eq!(huge.0, StatusCode::PAYLOAD_TOO_LARGE);
}
