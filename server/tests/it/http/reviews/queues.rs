//! Making queues, and how far they are.

use domain::api::{CorpusSummary, Page, QueueState, RaterProgress, ReviewItem, ReviewQueue};
use domain::job::JobKind;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::*;
use crate::support::jobs;
use crate::support::play::planned;

#[sqlx::test(migrations = "../migrations")]
async fn a_queue_is_worked_through(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 3).await;
    let (ann, ben) = (named(&app, "ann", Role::Author).await, named(&app, "ben", Role::Author).await);
    let order =
        json!({"name": "First look", "instructions": "Mind the tone.", "raters_each": 2, "run": played.run, "n": 2});
    let made = queue(&ann, &order).await;
    assert_eq!((made.progress.items, made.raters_each, made.blind, made.state), (2, 2, true, QueueState::Open));
    assert_eq!((made.created_by.as_str(), made.instructions.as_str()), ("ann", "Mind the tone."));

    let first = next(&ann, &made.id).await;
    let task = first.task.unwrap();
    assert_eq!((first.left, task.ordinal, task.instructions.as_str()), (2, 0, "Mind the tone."));
    assert_eq!((task.criteria.len(), task.criteria.last().map(String::as_str)), (9, Some("overall")));
    assert_eq!(next(&ann, &made.id).await.task.unwrap().conversation, task.conversation, "what one holds comes again");
    assert_eq!(rate(&ann, &task.conversation, &json!({"scores": {"overall": 7}})).await.0, 200);
    let second = next(&ann, &made.id).await;
    assert_eq!(second.left, 1);
    let second = second.task.unwrap().conversation;
    assert_ne!(second, task.conversation);
    let skip = format!("/api/v1/review-queues/{}/items/{second}/skip", made.id);
    let _: ReviewItem = ann.post(&skip, &json!({})).await;
    assert_eq!(ann.send(Method::POST, &skip, &json!({})).await.0, StatusCode::CONFLICT, "it is skipped already");
    assert_eq!(next(&ann, &made.id).await.task, None);
    assert_eq!(next(&ben, &made.id).await.task.unwrap().conversation, task.conversation);
    assert_eq!(rate(&ben, &task.conversation, &json!({"scores": {"overall": 5}})).await.0, 200);

    let path = format!("/api/v1/review-queues/{}", made.id);
    let progress = app.json::<ReviewQueue>(&path).await.progress;
    assert_eq!((progress.items, progress.complete, progress.done, progress.skipped), (2, 1, 2, 1));
    let of_ann = RaterProgress { rater: "ann".into(), done: 1, skipped: 1, assigned: 0 };
    assert_eq!(progress.raters[0], of_ann);
    let list: Page<ReviewQueue> = app.json(QUEUES).await;
    assert_eq!((list.items.len(), &list.items[0].progress), (1, &progress));

    let (_, closed) = ben.send(Method::PATCH, &path, &json!({"state": "closed"})).await;
    assert_eq!(closed["state"], "closed");
    let (status, answer) = ben.send(Method::POST, &format!("{path}/next"), &json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    ben.send(Method::PATCH, &path, &json!({"state": "open"})).await;
    assert_eq!(next(&ben, &made.id).await.task.unwrap().conversation, second);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_was_rated_before_is_done(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 2).await;
    let ann = named(&app, "ann", Role::Author).await;
    rate(&ann, &played.conversations[0].to_string(), &json!({"goal_achieved": true})).await;
    let made = queue(&app, &json!({"name": "q", "conversations": played.conversations})).await;
    assert_eq!((made.progress.complete, made.progress.done), (1, 1));
    assert_eq!(next(&ann, &made.id).await.task.unwrap().conversation, played.conversations[1].to_string());
}

#[sqlx::test(migrations = "../migrations")]
async fn a_corpus_is_reviewed(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 3).await;
    let corpus = store::clock::id();
    sqlx::query(
        "INSERT INTO corpora (id, project_id, name, spec, manifest_hash, created_by, created_at)
         VALUES ($1, $2, 'c', '{}', 'hash', 'ann', now())",
    )
    .bind(corpus)
    .bind(projects::DEFAULT)
    .execute(&pool)
    .await
    .unwrap();
    jobs::finished(&pool, JobKind::Corpus, corpus).await;
    for (ordinal, id) in (0_i32..).zip(&played.conversations) {
        let (split, dropped) = if ordinal == 1 { (None, Some("filter")) } else { (Some("train"), None) };
        let row = "INSERT INTO corpus_rows (corpus_id, ordinal, run_id, conversation_id, split, dropped_by)
                   VALUES ($1, $2, $3, $4, $5, $6)";
        let row = sqlx::query(row).bind(corpus).bind(ordinal).bind(played.run).bind(id).bind(split).bind(dropped);
        row.execute(&pool).await.unwrap();
    }
    let made = queue(&app, &json!({"name": "all", "corpus": corpus})).await;
    let items: Page<ReviewItem> = app.json(&format!("/api/v1/review-queues/{}/items", made.id)).await;
    let found: Vec<String> = items.items.into_iter().map(|item| item.conversation).collect();
    assert_eq!(found, [played.conversations[0].to_string(), played.conversations[2].to_string()]);
    assert_eq!(queue(&app, &json!({"name": "some", "corpus": corpus, "n": 1})).await.progress.items, 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn queues_that_cannot_be(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let unplayed = planned(&pool, &[HELP], 1, 1, &[]).await.control.run.id;
    let (known, none) = (played.conversations[0], Uuid::nil());
    let cases: Vec<Value> = vec![
        json!({"name": "q"}),
        json!({"name": "q", "run": played.run, "corpus": none}),
        json!({"name": " ", "run": played.run}),
        json!({"name": "a\u{7}", "run": played.run}),
        json!({"name": "q", "run": played.run, "raters_each": 0}),
        json!({"name": "q", "run": played.run, "raters_each": 11}),
        json!({"name": "q", "run": played.run, "n": 0}),
        json!({"name": "q", "run": none}),
        json!({"name": "q", "run": played.run, "judging": none}),
        json!({"name": "q", "run": unplayed}),
        json!({"name": "q", "corpus": none}),
        json!({"name": "q", "conversations": []}),
        json!({"name": "q", "conversations": [known, none, known]}),
        json!({"name": "q", "conversations": ["x"]}),
        json!({"name": "q", "run": played.run, "colour": "red"}),
    ];
    let mut all = String::new();
    for case in cases {
        for (pointer, detail) in app.refused(QUEUES, &case).await {
            let detail = detail.replace(&known.to_string(), "[known]").replace(&none.to_string(), "[none]");
            let detail = detail.replace(&played.run.to_string(), "[run]");
            all += &format!("{pointer}: {detail}\n");
        }
    }
    insta::assert_snapshot!(all, @"
    : name one of `conversations`, `run` and `corpus`
    : name one of `conversations`, `run` and `corpus`
    /name: say something
    /name: the control character U+0007 cannot be kept
    /raters_each: 0 is not from 1 to 10
    /raters_each: 11 is not from 1 to 10
    /n: expected 1 to 10000
    /run: there is no run [none] in this project
    /judging: the run [run] has no judging [none]
    /run: it holds no conversation that could be rated
    /corpus: there is no corpus [none] in this project
    /conversations: it holds no conversation that could be rated
    /conversations/1: there is no conversation [none] in this project that has ended
    /conversations/2: [known] is given twice
    /conversations/0: UUID parsing failed: invalid character: found `x` at 0
    /colour: unknown field `colour`, expected one of `name`, `instructions`, `raters_each`, `blind`, `conversations`, `run`, `judging`, `corpus`, `n`
    ");
    let building: CorpusSummary = app.post("/api/v1/projects/default/corpora", &json!({"name": "c"})).await;
    let refused = app.refused(QUEUES, &json!({"name": "q", "corpus": building.id})).await;
    assert_eq!(refused[0].1, "it is still being made; try again when it is ready");
    let list: Page<ReviewQueue> = app.json(QUEUES).await;
    assert_eq!(list.items, [], "nothing was made");
    queue(&app, &json!({"name": "q", "run": played.run})).await;
    let (status, _) = app.send(Method::POST, QUEUES, &json!({"name": "q", "run": played.run})).await;
    assert_eq!(status, StatusCode::CONFLICT, "names are given once");
}
