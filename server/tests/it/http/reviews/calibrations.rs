//! /api/v1/projects/{project}/calibrations

use domain::api::{CalibrationDetail, Page, RatingsKept};
use domain::calibration::ratings::{Rating, Ratings};
use domain::calibration::{OVERALL, calibrate};
use serde_json::json;
use sqlx::PgPool;
use store::{runs, verdicts};

use super::*;
use crate::support::logged::Logged;
use crate::support::play::planned;

const LIST: &str = "/api/v1/projects/default/calibrations";

async fn upload(app: &TestApp, played: &ReviewedRun, kind: &str, text: String) -> (StatusCode, Value) {
    let path = format!("{LIST}/ratings?run={}", played.run);
    let response = app.request(Method::POST, &path).header("content-type", kind).body(text).send().await.unwrap();
    (response.status(), response.json().await.unwrap())
}

#[sqlx::test(migrations = "../migrations")]
async fn a_judge_is_compared_with_what_people_rated(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 3).await;
    let ann = named(&app, "ann", Role::Author).await;
    let (status, answer) = ann.send(Method::POST, LIST, &json!({"run": played.run})).await;
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    for (id, score) in played.conversations.iter().zip([4_u8, 6]) {
        rate(&ann, &id.to_string(), &json!({"scores": {"overall": score, "consistency": 7}, "goal_achieved": true}))
            .await;
    }
    let made: Vec<CalibrationDetail> = ann.post(LIST, &json!({"run": played.run})).await;
    let [one] = &made[..] else { panic!("one judge") };

    // What the domain says of the same.
    let mut db = pool.acquire().await.unwrap();
    let judging = runs::get(&mut db, played.run).await.unwrap().unwrap().own_judging();
    let said = verdicts::of(&mut db, judging).await.unwrap();
    let verdicts = said.into_iter().map(|(id, judged)| (id.to_string(), judged.verdict.unwrap())).collect();
    let row = |(id, score): (&Uuid, u8)| Rating {
        conversation: id.to_string(),
        rater: "ann".into(),
        scores: [(OVERALL.to_owned(), score), ("consistency".to_owned(), 7)].into(),
        goal_achieved: Some(true),
    };
    let rows = played.conversations.iter().zip([4, 6]).map(row).collect();
    let ratings = Ratings { criteria: vec!["consistency".into(), OVERALL.into()], rows };
    assert_eq!(one.report, calibrate(&ratings, &verdicts));
    assert_eq!((one.report.conversations, one.report.criteria[1].human_mean), (2, 5.0));
    assert_eq!((one.judge.as_str(), one.created_by.as_str()), ("default", "ann"));
    assert_eq!((one.judging.clone(), &one.models), (Some(judging.to_string()), &json!(["scripted"])));

    let again: Vec<CalibrationDetail> = ann.post(LIST, &json!({"judging": judging})).await;
    let list: Page<CalibrationDetail> = app.json(LIST).await;
    let ids: Vec<&str> = list.items.iter().map(|calibration| calibration.id.as_str()).collect();
    assert_eq!(ids, [again[0].id.as_str(), one.id.as_str()], "newest first");
    assert_eq!(app.json::<CalibrationDetail>(&format!("/api/v1/calibrations/{}", one.id)).await, *one);
    let page: Page<CalibrationDetail> = app.json(&format!("{LIST}?limit=1&after={}", again[0].id)).await;
    assert_eq!((page.items[0].id.as_str(), page.next), (one.id.as_str(), None));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_sheet_goes_out_and_comes_back(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 3).await;
    let ann = named(&app, "ann", Role::Author).await;
    let response = ann.get(&format!("{LIST}/sheet?run={}&n=2", played.run)).await;
    assert_eq!(response.headers()["content-type"], "text/csv; charset=utf-8");
    assert_eq!(response.headers()["content-disposition"], "attachment; filename=\"ratings.csv\"");
    let sheet = response.text().await.unwrap();
    assert_eq!(sheet.lines().count(), 3);
    let columns = sheet.lines().next().unwrap();
    assert!(columns.starts_with("conversation,rater,goal_achievement,"), "{columns}");
    let rows = sheet.lines().skip(1).map(|line| format!("{line}yes\n"));
    let filled = format!("{columns}\n{}", rows.collect::<String>());
    let (status, answer) = upload(&ann, &played, "text/csv; charset=utf-8", filled).await;
    assert_eq!((status, answer), (StatusCode::OK, json!({"kept": 2, "unknown": []})));
    let raters: Vec<String> = sqlx::query_scalar("SELECT rater FROM human_ratings").fetch_all(&pool).await.unwrap();
    assert_eq!(raters, ["ann", "ann"], "who names nobody speaks for themselves");
    let unknown = json!([{"conversation": Uuid::nil(), "overall": 3}]);
    let (_, answer) = upload(&ann, &played, "application/json", unknown.to_string()).await;
    assert_eq!(answer, json!({"kept": 0, "unknown": [Uuid::nil()]}));
}

/// A run may have a million verdicts, and a sheet needs little of them.
#[sqlx::test(migrations = "../migrations")]
async fn a_sheet_is_made_of_scores_alone(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 5).await;
    let logged = Logged::watch();
    let sheet = app.text(&format!("{LIST}/sheet?run={}&n=2", played.run)).await;
    assert_eq!(sheet.lines().count(), 3, "{sheet}");
    let scores = "SELECT position, c.id, judge, judge_version, overall";
    assert_eq!(logged.count(scores), 2, "a page, and one that says that there are no more");
    assert_eq!((logged.count("models, verdict,"), logged.count("verdict, verification")), (0, 0));
}

#[sqlx::test(migrations = "../migrations")]
async fn uploads_that_are_refused_change_nothing(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let (ann, id) = (named(&app, "ann", Role::Author).await, played.conversations[0]);
    let of_ben = format!("conversation,rater,overall\n{id},ben,4\n");
    assert_eq!(upload(&ann, &played, "text/csv", of_ben.clone()).await.0, StatusCode::FORBIDDEN);
    let typo = format!("conversation,consistancy\n{id},4\n{id},11\n");
    let (status, answer) = upload(&ann, &played, "text/csv", typo).await;
    assert_eq!((status, &answer["errors"][0]["line"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!(1)));
    let detail = answer["errors"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("did you mean `consistency`?"), "{detail}");
    // Longer than any index takes, and not to be compressed.
    let long: String = (0..10_000_u32).map(|n| char::from(b'a' + u8::try_from(n * n / 7 % 26).unwrap())).collect();
    let of_nobody = format!("conversation,rater,overall\n{id},{long},4\n");
    assert_eq!(upload(&app, &played, "text/csv", of_nobody).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let half = format!("conversation,overall\n{id},4\nnobody,5\n");
    assert_eq!(upload(&ann, &played, "text/csv", half).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(upload(&ann, &played, "text/html", "<p>".into()).await.0, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let kept: i64 = sqlx::query_scalar("SELECT count(*) FROM human_ratings").fetch_one(&pool).await.unwrap();
    assert_eq!(kept, 0);
    let kept: RatingsKept = serde_json::from_value(upload(&app, &played, "text/csv", of_ben).await.1).unwrap();
    assert_eq!(kept.kept, 1, "admins may");
}

#[sqlx::test(migrations = "../migrations")]
async fn calibrations_that_cannot_be(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let unplayed = planned(&pool, &[HELP], 1, 1, &[]).await.control.run.id;
    let none = Uuid::nil();
    let mut all = String::new();
    for bad in [json!({}), json!({"run": none}), json!({"judging": none}), json!({"run": none, "judging": none})] {
        for (pointer, detail) in app.refused(LIST, &bad).await {
            all += &format!("{pointer}: {detail}\n");
        }
    }
    insta::assert_snapshot!(all, @"
    /run: name either `run` or `judging`
    /run: there is no run 00000000-0000-0000-0000-000000000000 in this project
    /judging: there is no judging 00000000-0000-0000-0000-000000000000 in this project
    /run: name either `run` or `judging`
    ");
    let detail = &app.refused(LIST, &json!({"run": unplayed})).await[0].1;
    assert_eq!(detail, "none of its conversations has a verdict yet");
    assert_eq!(app.status(&format!("{LIST}/sheet?run={none}")).await, StatusCode::BAD_REQUEST);
    assert_eq!(app.status(&format!("/api/v1/calibrations/{none}")).await, StatusCode::NOT_FOUND);
}
