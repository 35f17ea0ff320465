//! /api/v1/corpora/{corpus}/conversations, its neighbours, and /api/v1/corpora/{corpus}/dropped

use domain::api::{CorpusConversation, CorpusDetail, ManifestRow, Neighbours, Page};
use domain::corpus::{Side, Step};
use reqwest::StatusCode;
use serde::de::DeserializeOwned;
use serde_json::json;
use sqlx::PgPool;
use strum::VariantArray;
use uuid::Uuid;

use super::super::TestApp;
use super::{built, manifest};
use crate::support::play::{HANDOVER, HELP, TRANSFER, played};

/// A corpus of both sides that two steps dropped conversations from.
async fn selected(app: &TestApp, pool: &PgPool) -> (CorpusDetail, Vec<ManifestRow>) {
    played(pool, &[HELP, HANDOVER, TRANSFER], 24, 7, &[]).await;
    let spec = json!({
        "duplicates": {"exact": false}, "balance": {"by": "complexity", "at_most": 4}, "limit": 8,
        "split": {"golden": 0.3, "seed": 1}
    });
    let corpus = built(app, "rows", spec).await;
    let (_, rows) = manifest(app, &corpus).await;
    (corpus, rows)
}

/// All pages of a list, two rows at a time.
async fn all<T: DeserializeOwned>(app: &TestApp, list: &str) -> Vec<T> {
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let page: Page<T> = app.json(&format!("{list}&limit=2{after}")).await;
        found.extend(page.items);
        let Some(next) = page.next else { return found };
        after = format!("&after={next}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn what_was_dropped_is_listed_by_step(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let (corpus, rows) = selected(&app, &pool).await;
    let list = format!("/api/v1/corpora/{}/dropped", corpus.summary.id);
    for step in Step::VARIANTS.iter().copied().map(Some).chain([None]) {
        let expected: Vec<&ManifestRow> =
            rows.iter().filter(|row| row.split.is_none() && (step.is_none() || row.dropped_by == step)).collect();
        let query = step.map(|step| format!("dropped_by={step}")).unwrap_or_default();
        let listed: Vec<ManifestRow> = all(&app, &format!("{list}?{query}")).await;
        assert_eq!(listed.iter().collect::<Vec<_>>(), expected, "{step:?}");
        let dropped = corpus.report.iter().flat_map(|report| &report.funnel);
        let told: u64 = dropped.filter(|stage| step.is_none_or(|step| stage.step == step)).map(|one| one.dropped).sum();
        assert_eq!(told, listed.len() as u64, "{step:?}");
    }
    let steps: Vec<_> = rows.iter().filter_map(|row| row.dropped_by).collect();
    assert!(steps.contains(&Step::Balance) && steps.contains(&Step::Limit), "{steps:?}");
    let second: Page<ManifestRow> = app.json(&format!("{list}?limit=1&skip=1")).await;
    assert_eq!(second.items, [rows.iter().filter(|row| row.split.is_none()).nth(1).unwrap().clone()]);

    for query in ["dropped_by=taste", "limit=0", "after=first", "skip=-1"] {
        let answer = app.get(&format!("{list}?{query}")).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{query}");
    }
}

/// Who comes before and after each in a list.
async fn are_neighbours(app: &TestApp, corpus: &CorpusDetail, query: &str, list: &[String]) {
    assert!(list.len() > 1, "{query}: {list:?}");
    for (at, conversation) in list.iter().enumerate() {
        let of = format!("/api/v1/corpora/{}/conversations/{conversation}/neighbours", corpus.summary.id);
        let found: Neighbours = app.json(&format!("{of}?{query}")).await;
        let previous = at.checked_sub(1).map(|at| list[at].clone());
        assert_eq!(found, Neighbours { previous, next: list.get(at + 1).cloned() }, "{query} {at}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_conversation_has_the_neighbours_of_its_list(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let (corpus, rows) = selected(&app, &pool).await;
    let those = |is: &dyn Fn(&ManifestRow) -> bool| -> Vec<String> {
        rows.iter().filter(|row| is(row)).map(|row| row.conversation.clone()).collect()
    };
    are_neighbours(&app, &corpus, "", &those(&|row| row.split.is_some())).await;
    are_neighbours(&app, &corpus, "split=train", &those(&|row| row.split == Some(Side::Train))).await;
    are_neighbours(&app, &corpus, "", &those(&|row| row.split.is_none())).await;
    are_neighbours(&app, &corpus, "dropped_by=balance", &those(&|row| row.dropped_by == Some(Step::Balance))).await;
    let kept: Vec<CorpusConversation> =
        all(&app, &format!("/api/v1/corpora/{}/conversations?", corpus.summary.id)).await;
    let listed: Vec<String> = kept.into_iter().map(|row| row.conversation).collect();
    assert_eq!(listed, those(&|row| row.split.is_some()), "it is the order of the list");

    let of =
        |conversation: Uuid| format!("/api/v1/corpora/{}/conversations/{conversation}/neighbours", corpus.summary.id);
    assert_eq!(app.get(&of(Uuid::from_u128(7))).await.status(), StatusCode::NOT_FOUND);
}
