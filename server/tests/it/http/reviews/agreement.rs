//! How far people agree, beside what others computed.

use std::collections::BTreeMap;

use domain::api::{Page, RatingsKept, ReviewAgreement};
use domain::calibration::Disagreement;
use serde::Deserialize;
use serde_json::json;
use sqlx::PgPool;

use super::*;

#[derive(Deserialize)]
struct Reference {
    alpha: Vec<Recorded>,
}

#[derive(Deserialize)]
struct Recorded {
    units: Vec<Vec<Option<f64>>>,
    alpha: Option<f64>,
}

/// The first is Krippendorff's published example: four people, twelve conversations.
fn published() -> Recorded {
    let text = include_str!("../../../../../crates/domain/tests/calibration/reference.json");
    serde_json::from_str::<Reference>(text).unwrap().alpha.swap_remove(0)
}

#[sqlx::test(migrations = "../migrations")]
async fn alpha_of_a_queue_and_of_a_project_is_as_published(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let recorded = published();
    let played = ReviewedRun::new(&pool, recorded.units.len()).await;
    let made = queue(&app, &json!({"name": "q", "raters_each": 4, "conversations": played.conversations})).await;
    let mut rows = Vec::new();
    for (id, unit) in played.conversations.iter().zip(&recorded.units) {
        for (rater, score) in ["ann", "ben", "cem", "dee"].iter().zip(unit) {
            rows.extend(score.map(|score| json!({"conversation": id, "rater": rater, "consistency": score})));
        }
    }
    let upload = format!("/api/v1/projects/default/calibrations/ratings?run={}", played.run);
    let kept: RatingsKept = app.post(&upload, &json!(rows)).await;
    assert_eq!((kept.kept, kept.unknown.len()), (rows.len(), 0));

    let path = format!("/api/v1/review-queues/{}", made.id);
    let found: ReviewAgreement = app.json(&format!("{path}/agreement")).await;
    assert_eq!((found.conversations, found.raters, found.criteria.len()), (12, 4, 1));
    let consistency = &found.criteria[0];
    assert!((consistency.alpha.unwrap() - recorded.alpha.unwrap()).abs() < 1e-9, "{consistency:?}");
    assert_eq!((consistency.conversations, consistency.pairs), (11, 55));
    assert!((consistency.exact - 43.0 / 55.0).abs() < 1e-12 && (consistency.within_one - 52.0 / 55.0).abs() < 1e-12);
    assert_eq!(app.json::<ReviewAgreement>("/api/v1/projects/default/ratings/agreement").await, found);

    let Page { items: apart, next } = app.json::<Page<Disagreement>>(&format!("{path}/disagreements")).await;
    assert_eq!(next, None);
    assert_eq!(apart.iter().map(|one| one.spread).collect::<Vec<_>>(), [3, 1, 1], "the largest spread first");
    let scores: BTreeMap<String, u8> =
        [("ann", 1), ("ben", 2), ("cem", 3), ("dee", 4)].map(|(name, score)| (name.to_owned(), score)).into();
    assert_eq!(apart[0].scores, scores);
    let wide: Page<Disagreement> = app.json("/api/v1/projects/default/ratings/disagreements?spread=2").await;
    assert_eq!(wide.items, apart[..1]);
    let other: Page<Disagreement> = app.json(&format!("{path}/disagreements?criterion=overall&limit=1")).await;
    assert_eq!(other.items, []);
    for wrong in ["limit=0", "limit=201", "after=x", "after=3.a"] {
        assert_eq!(app.status(&format!("{path}/disagreements?{wrong}")).await, StatusCode::BAD_REQUEST, "{wrong}");
    }

    // One by one they are the same, to the last.
    let (mut walked, mut at) = (Vec::new(), String::new());
    loop {
        let page: Page<Disagreement> = app.json(&format!("{path}/disagreements?limit=1{at}")).await;
        walked.extend(page.items);
        let Some(next) = page.next else { break };
        at = format!("&after={next}");
    }
    assert_eq!(walked, apart);
}

#[sqlx::test(migrations = "../migrations")]
async fn before_anybody_rated(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let found: ReviewAgreement = app.json("/api/v1/projects/default/ratings/agreement").await;
    assert_eq!((found.conversations, found.raters, found.criteria.len()), (0, 0, 0));
    for path in ["agreement", "disagreements", "items"] {
        let path = format!("/api/v1/review-queues/{}/{path}", Uuid::nil());
        assert_eq!(app.status(&path).await, StatusCode::NOT_FOUND);
    }
}
