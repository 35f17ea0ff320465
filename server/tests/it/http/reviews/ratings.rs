//! /api/v1/conversations/{id}/ratings, and who sees what

use domain::Event;
use domain::api::{ConversationDetail, ConversationRatings, ConversationSummary, JudgingSummary, Page};
use domain::calibration::Disagreement;
use serde_json::json;
use sqlx::PgPool;

use super::*;

#[sqlx::test(migrations = "../migrations")]
async fn a_later_word_counts_and_the_earlier_is_kept(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let ann = named(&app, "ann", Role::Author).await;
    let id = played.conversations[0].to_string();
    let first = json!({"scores": {"consistency": 4, "overall": 5}, "comment": "<script>alert(1)</script>"});
    assert_eq!(rate(&ann, &id, &first).await.0, 200);
    assert_eq!(rate(&ann, &id, &first).await.1["earlier"], json!([]), "the same again is no other word");
    let (_, seen) = rate(&ann, &id, &json!({"scores": {"consistency": 8}, "goal_achieved": false})).await;
    let seen: ConversationRatings = serde_json::from_value(seen).unwrap();
    let mine = seen.mine.unwrap();
    assert_eq!((mine.scores["consistency"], mine.scores.len(), mine.goal_achieved), (8, 1, Some(false)));
    assert_eq!((seen.earlier.len(), seen.earlier[0].scores["overall"]), (1, 5));
    assert_eq!(seen.earlier[0].comment.as_deref(), Some("<script>alert(1)</script>"), "letter for letter");
    assert_eq!(seen.criteria.len(), 9);
    let others: ConversationRatings = app.json(&played.path("ratings")).await;
    assert_eq!((others.mine, others.others), (None, vec![mine]));
}

#[sqlx::test(migrations = "../migrations")]
async fn ratings_that_cannot_be(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let id = played.conversations[0].to_string();
    let mut all = String::new();
    for bad in [
        json!({"scores": {"consistancy": 4, "overall": 11}}),
        json!({"scores": {"overall": -1}}),
        json!({"scores": {"overall": 7.5}}),
        json!({"scores": {"overall": "7"}}),
        json!({"scores": {"a/b~": 7}}),
        json!({"comment": "bell \u{7}"}),
        json!({"comment": "escape \u{1b}[31m"}),
        json!({"comment": ""}),
        json!({"comment": "x".repeat(4001)}),
        json!({}),
        json!({"rater": "somebody else"}),
    ] {
        for (pointer, detail) in errors(rate(&app, &id, &bad).await) {
            all += &format!("{pointer}: {detail}\n");
        }
    }
    insta::assert_snapshot!(all, @r#"
    /scores/consistancy: is not a criterion of this conversation's judge (did you mean `consistency`?); there are goal_achievement, tool_usage, tool_call_hallucination, reasoning_quality, reasoning_hallucination, communication_quality, consistency, error_handling, overall
    /scores/overall: 11 is not from 0 to 10
    /scores/overall: -1 is not from 0 to 10
    /scores/overall: invalid number
    /scores/overall: invalid type: string "7", expected a whole number
    /scores/a~1b~0: is not a criterion of this conversation's judge; there are goal_achievement, tool_usage, tool_call_hallucination, reasoning_quality, reasoning_hallucination, communication_quality, consistency, error_handling, overall
    /comment: the control character U+0007 cannot be kept
    /comment: the control character U+001B cannot be kept
    /comment: say something
    /comment: 4001 letters are too many; use at most 4000
    : rate at least one thing: `scores`, `goal_achieved` or `comment`
    /rater: unknown field `rater`, expected one of `scores`, `goal_achieved`, `comment`
    "#);
    let (status, _) = rate(&app, &id, &json!({"comment": "a\u{0}b"})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let vic = named(&app, "vic", Role::Viewer).await;
    assert_eq!(rate(&vic, &id, &json!({"goal_achieved": true})).await.0, StatusCode::FORBIDDEN);
    let kept: i64 = sqlx::query_scalar("SELECT count(*) FROM human_ratings").fetch_one(&pool).await.unwrap();
    assert_eq!(kept, 0, "nothing was changed");
}

#[sqlx::test(migrations = "../migrations")]
async fn raters_judge_blindly(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let (ann, ben) = (named(&app, "ann", Role::Author).await, named(&app, "ben", Role::Author).await);
    let id = played.conversations[0].to_string();
    let made = queue(&app, &json!({"name": "q", "raters_each": 2, "conversations": played.conversations})).await;
    let low = json!({"scores": {"overall": 2}});
    rate(&ann, &id, &low).await;
    next(&ben, &made.id).await;

    let hidden = async |app: &TestApp| {
        let seen: ConversationRatings = app.json(&played.path("ratings")).await;
        let whole: ConversationDetail = app.json(&format!("/api/v1/conversations/{id}")).await;
        let judged = whole.events.iter().any(|event| matches!(event.kind, EventKind::Judged { .. }));
        let summary = whole.summary.overall.is_some() || whole.summary.outcome.is_some();
        let list: Vec<Value> = app.json(&format!("/api/v1/conversations/{id}/verdicts")).await;
        let run = format!("/api/v1/runs/{}", whole.run_id);
        let row = async |path: String| app.json::<Page<ConversationSummary>>(&path).await.items.swap_remove(0);
        let of_run = row(format!("{run}/conversations")).await;
        let of_project = row("/api/v1/projects/default/conversations".to_owned()).await;
        let scored =
            |row: ConversationSummary| row.overall.is_some() && row.outcome.is_some() && !row.scores.is_empty();
        let [judging]: [JudgingSummary; 1] = app.json(&format!("{run}/judgings")).await;
        let said: Page<Value> = app.json(&format!("/api/v1/judgings/{}/verdicts", judging.id)).await;
        let events: Page<Event> = app.json(&format!("/api/v1/conversations/{id}/events?limit=200")).await;
        assert_eq!(events.items, whole.events);
        let judge = [
            seen.verdict.is_some(),
            whole.verdict.is_some(),
            judged,
            summary,
            !list.is_empty(),
            scored(of_run),
            scored(of_project),
            !said.items.is_empty(),
        ];
        assert!(judge.iter().all(|shown| *shown == judge[0]), "{judge:?}");
        assert_eq!(seen.blind, !judge[0]);
        (seen.blind, seen.others.len())
    };
    assert_eq!(hidden(&ben).await, (true, 0));
    assert_eq!(hidden(&ann).await, (false, 0), "she has rated it");
    assert_eq!(hidden(&app).await, (false, 1), "an admin who was not given it");
    // Nor do other lists tell.
    let apart = format!("/api/v1/review-queues/{}/disagreements", made.id);
    rate(&app, &id, &json!({"scores": {"overall": 9}})).await;
    assert_eq!(ben.json::<Page<Disagreement>>(&apart).await.items, []);
    assert_eq!(ann.json::<Page<Disagreement>>(&apart).await.items.len(), 1);
    let skip = format!("/api/v1/review-queues/{}/items/{id}/skip", made.id);
    let _: Value = ben.post(&skip, &json!({})).await;
    assert_eq!(hidden(&ben).await, (true, 0), "who skips may still come back to it");
    rate(&ben, &id, &low).await;
    assert_eq!(hidden(&ben).await, (false, 2));

    let cem = named(&app, "cem", Role::Author).await;
    assert_eq!(hidden(&cem).await, (true, 0));
    app.send(Method::PATCH, &format!("/api/v1/review-queues/{}", made.id), &json!({"state": "closed"})).await;
    assert_eq!(hidden(&cem).await, (false, 3));
    queue(&app, &json!({"name": "open eyes", "blind": false, "conversations": played.conversations})).await;
    assert_eq!(hidden(&cem).await, (false, 3), "the queue says otherwise");
}
