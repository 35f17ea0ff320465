//! What somebody does not learn of a conversation that they are still to rate: its score, by any way.

use domain::api::episodes::{Episode, EpisodeState};
use domain::api::{
    CalibrationDetail, ConversationFacets, ConversationSummary, CorpusDetail, CorpusSummary, ExportSummary, Page,
    RunAnalytics,
};
use domain::job::JobKind;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::*;
use crate::http::answers::player;
use crate::http::episodes::{SEED, filled};
use crate::support::endpoint::{Endpoint, endless};
use crate::support::jobs;

const DEFAULT: &str = "/api/v1/projects/default";

/// Three conversations of a run, the first in an open, blind queue; an author who is to rate it, and one who has.
struct Blind {
    app: TestApp,
    played: ReviewedRun,
    ann: TestApp,
    ben: TestApp,
}

impl Blind {
    async fn new(pool: &PgPool) -> Self {
        let app = TestApp::start(pool).await;
        let played = ReviewedRun::new(pool, 3).await;
        let (ann, ben) = (named(&app, "ann", Role::Runner).await, named(&app, "ben", Role::Runner).await);
        let first = played.conversations[0];
        // So that a score tells it from the others.
        sqlx::query("UPDATE verdicts SET overall = 3 WHERE conversation_id = $1")
            .bind(first)
            .execute(pool)
            .await
            .unwrap();
        queue(&app, &json!({"name": "q", "raters_each": 2, "conversations": [first]})).await;
        assert_eq!(rate(&ann, &first.to_string(), &json!({"scores": {"overall": 5}})).await.0, 200);
        Self { app, played, ann, ben }
    }

    /// Positions that a list finds, in its order.
    async fn found(&self, who: &TestApp, query: &str) -> Vec<i32> {
        let of_run = format!("/api/v1/runs/{}/conversations?{query}", self.played.run);
        let of_run: Page<ConversationSummary> = who.json(&of_run).await;
        let of_project: Page<ConversationSummary> = who.json(&format!("{DEFAULT}/conversations?{query}")).await;
        assert_eq!(of_run.items, of_project.items, "{query}");
        of_run.items.iter().map(|item| item.position).collect()
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn lists_do_not_tell_scores_by_what_they_find_or_by_their_order(pool: PgPool) {
    let blind = Blind::new(&pool).await;
    let (ann, ben) = (&blind.ann, &blind.ben);
    for (query, all, left) in [
        ("min_overall=0", vec![0, 1, 2], vec![1, 2]),
        ("max_overall=3", vec![0], vec![]),
        ("min_overall=4", vec![1, 2], vec![1, 2]),
        ("sort=overall&order=asc", vec![0, 1, 2], vec![1, 2, 0]),
        ("sort=overall", vec![1, 2, 0], vec![1, 2, 0]),
        ("top=1", vec![0, 1, 2], vec![1, 2]),
        ("outcome=accepted", vec![0, 1, 2], vec![1, 2]),
        ("goal_achieved=true", vec![0, 1, 2], vec![1, 2]),
        ("min_score=tool_usage:0", vec![0, 1, 2], vec![1, 2]),
        ("", vec![0, 1, 2], vec![0, 1, 2]),
    ] {
        assert_eq!(blind.found(ann, query).await, all, "{query}");
        assert_eq!(blind.found(ben, query).await, left, "{query}");
        assert_eq!(blind.found(&blind.app, query).await, all, "{query}: an admin who was not given it");
    }
    let run = format!("/api/v1/runs/{}", blind.played.run);
    for path in [format!("{run}/conversations/facets"), format!("{DEFAULT}/conversations/facets")] {
        let scored = async |who: &TestApp| {
            let facets: ConversationFacets = who.json(&path).await;
            (facets.total, facets.scores["overall"].iter().map(|bin| bin.count).sum::<u64>())
        };
        assert_eq!((scored(ann).await, scored(ben).await), ((3, 3), (3, 2)), "{path}");
    }
    let judged = async |who: &TestApp, query: &str| {
        let analytics: RunAnalytics = who.json(&format!("{run}/analytics?{query}")).await;
        let text = serde_json::to_value(analytics.analytics).unwrap();
        text["scores"].to_string()
    };
    assert_ne!(judged(ann, "").await, judged(ben, "").await);
    assert_eq!(judged(ben, "").await, judged(ann, "min_overall=4").await, "as if it were not there");
    let neighbours =
        format!("/api/v1/conversations/{}/neighbours?sort=overall&order=asc", blind.played.conversations[0]);
    let (of_ann, of_ben): (Value, Value) = (ann.json(&neighbours).await, ben.json(&neighbours).await);
    assert_eq!((of_ann.get("previous"), of_ben.get("next")), (None, None), "it is the worst, or not judged");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_made_of_verdicts_is_closed_until_one_has_rated(pool: PgPool) {
    let blind = Blind::new(&pool).await;
    let Blind { app, played, ann, ben } = &blind;
    let spec = json!({"source": {"run": {"id": played.run}}, "profile": "canonical"});
    let export: ExportSummary = app.post(&format!("{DEFAULT}/exports"), &spec).await;
    jobs::done(&pool, app.files(), JobKind::Export, export.id.parse().unwrap()).await;
    let selected = json!({"filter": {"max_overall": 3}, "split": {"golden": 0}});
    let corpus: CorpusSummary = app.post(&format!("{DEFAULT}/corpora"), &json!({"name": "c", "spec": selected})).await;
    jobs::done(&pool, app.files(), JobKind::Corpus, corpus.id.parse().unwrap()).await;
    let calibrations: Vec<CalibrationDetail> =
        app.post(&format!("{DEFAULT}/calibrations"), &json!({"run": played.run})).await;
    let of_corpus = format!("/api/v1/corpora/{}", corpus.id);
    let by_corpus = json!({"source": {"corpus": {"id": corpus.id}}, "profile": "canonical"});
    let looks = [
        format!("/api/v1/exports/{}/file", export.id),
        format!("{of_corpus}/conversations"),
        format!("{of_corpus}/dropped"),
        format!("{of_corpus}/manifest"),
        format!("{of_corpus}/analytics"),
        format!("{of_corpus}/conversations/{}/neighbours", played.conversations[0]),
        format!("/api/v1/calibrations/{}", calibrations[0].id),
        format!("{DEFAULT}/calibrations/sheet?run={}&n=1", played.run),
    ];
    let asks = [
        (format!("{DEFAULT}/exports/preview"), spec.clone()),
        (format!("{DEFAULT}/exports/preview"), by_corpus.clone()),
        (format!("{DEFAULT}/exports"), spec),
        (format!("{DEFAULT}/exports"), by_corpus),
        (format!("{DEFAULT}/corpora/preview"), selected.clone()),
        (format!("{DEFAULT}/corpora"), json!({"name": "mine", "spec": selected})),
        (format!("{DEFAULT}/calibrations"), json!({"run": played.run})),
        (format!("{DEFAULT}/review-queues"), json!({"name": "r", "run": played.run, "n": 1})),
    ];
    let reports = async |who: &TestApp| {
        let one: ExportSummary = who.json(&format!("/api/v1/exports/{}", export.id)).await;
        let all: Page<ExportSummary> = who.json(&format!("{DEFAULT}/exports")).await;
        let corpus: CorpusDetail = who.json(&of_corpus).await;
        let calibrated: Page<CalibrationDetail> = who.json(&format!("{DEFAULT}/calibrations")).await;
        let all = all.items.iter().filter(|own| own.id == export.id).all(|export| export.report.is_some());
        [one.report.is_some(), all, corpus.report.is_some(), !calibrated.items.is_empty()]
    };
    assert_eq!(reports(ben).await, [false; 4]);
    for path in &looks {
        let detail = ben.problem(path, StatusCode::FORBIDDEN).await;
        assert!(detail.contains("blind review queue"), "{path}: {detail}");
        assert_eq!(ann.status(path).await, StatusCode::OK, "{path}");
    }
    for (path, body) in &asks {
        let (status, answer) = ben.send(Method::POST, path, body).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}: {answer}");
    }
    assert_eq!(rate(ben, &played.conversations[0].to_string(), &json!({"scores": {"overall": 5}})).await.0, 200);
    assert_eq!(reports(ben).await, [true; 4], "now they have rated it");
    for path in &looks {
        assert_eq!(ben.status(path).await, StatusCode::OK, "{path}");
    }
    for (path, body) in &asks {
        let (status, answer) = ben.send(Method::POST, path, body).await;
        assert!(status.is_success(), "{path}: {answer}");
    }
}

/// Whoever sends the id of an episode again is shown where it stands.
#[sqlx::test(migrations = "../migrations")]
async fn an_episode_that_is_opened_again_does_not_tell_its_result(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let ben = named(&app, "ben", Role::Runner).await;
    let endpoint = Endpoint::start(|_| endless()).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let (id, environment) = (Uuid::new_v4(), json!({"playbooks": ["retail_bank"], "seed": SEED}));
    let posted = json!({"environment": environment, "scenario": HELP, "group": 0, "id": id});
    let mut by_endpoint = posted.clone();
    by_endpoint["agent"] = json!({"url": url, "model": "test-model"});
    let tells = async |who: &TestApp, order: &Value| {
        let episodes: Vec<Episode> = who.post(&format!("{DEFAULT}/episodes"), order).await;
        assert_eq!(episodes[0].state, EpisodeState::Ended, "{episodes:?}");
        episodes[0].result.is_some()
    };
    assert!(tells(&app, &by_endpoint).await);
    queue(&app, &json!({"name": "q", "conversations": [id]})).await;
    for order in [&by_endpoint, &posted] {
        assert!(!tells(&ben, order).await, "{order}");
        assert!(tells(&app, order).await, "{order}: an admin who was not given it");
    }
}

/// Conversations of a queue are spread over the scores, and their order must not tell them.
#[sqlx::test(migrations = "../migrations")]
async fn a_queue_is_not_in_the_order_of_scores(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 4).await;
    for (score, id) in [9_i16, 2, 8, 1].into_iter().zip(&played.conversations) {
        let judged = "UPDATE verdicts SET overall = $1 WHERE conversation_id = $2";
        sqlx::query(judged).bind(score).bind(id).execute(&pool).await.unwrap();
    }
    let made = queue(&app, &json!({"name": "q", "run": played.run, "n": 4})).await;
    let items: Page<domain::api::ReviewItem> = app.json(&format!("/api/v1/review-queues/{}/items", made.id)).await;
    let mut expected: Vec<String> = played.conversations.iter().map(ToString::to_string).collect();
    expected.sort_unstable();
    let found: Vec<String> = items.items.into_iter().map(|item| item.conversation).collect();
    assert_eq!(found, expected);
}
