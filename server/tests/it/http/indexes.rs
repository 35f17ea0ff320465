//! /api/v1/projects/{project}/indexes, /api/v1/indexes

use domain::api::{BuildState, Hit, IndexSummary, Page, RunSummary};
use domain::job::JobKind;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::datasets::DeleteOutcome;

use super::datasets::of_text;
use super::{TestApp, archive};
use crate::support::documents::few;
use crate::support::{jobs, until};

const RUNS: &str = "/api/v1/projects/default/workflows/look_up/runs";
const ALL: &str = "/api/v1/projects/default/indexes";

/// An index whose job has ended.
pub async fn built(app: &TestApp, body: &Value) -> IndexSummary {
    let index: IndexSummary = app.post(ALL, body).await;
    jobs::done(&app.pool, app.files(), JobKind::Index, index.id.parse().unwrap()).await;
    app.json(&format!("/api/v1/indexes/{}", index.id)).await
}

/// The project of other tests, with the workflow `look_up`, which searches the index `wiki`.
pub async fn put_searching_workflow(app: &TestApp) {
    let mut files = few();
    let searching = "workflow: look_up\ninput: {title: text}\nsteps: {found: {search: {index: wiki, query: title}}}\n\
                     output: {found: found}\n";
    files.insert("workflows/look_up/workflow.yaml", searching.to_owned());
    let _: Value = archive::put(app, "", projects::archive::pack(&files).unwrap(), StatusCode::OK).await;
}

const ARTICLES: &str = r#"{"id": "b", "title": "Köln", "text": "A city on the Rhine with a cathedral.", "url": "https://example.org/b"}
{"id": "a", "title": "Bonn", "text": "A city on the Rhine.", "url": "https://example.org/a"}
{"id": "d", "title": "Twins", "text": "The same words."}
{"id": "c", "title": "Twins", "text": "The same words."}
{"id": "e", "title": "Cathedral", "text": null}
"#;

#[sqlx::test(migrations = "../migrations")]
async fn an_index_finds_what_fits_best(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let dataset = of_text(&app, "articles", "articles.jsonl", ARTICLES).await;
    let index = built(&app, &json!({"name": "wiki", "dataset": dataset.id})).await;
    assert_eq!((index.state, index.documents), (BuildState::Ready, Some(5)), "{:?}", index.reason);
    assert_eq!((index.dataset_name.as_str(), index.dataset_version), ("articles", 1));

    let path = format!("/api/v1/indexes/{}/search", index.id);
    let found = async |query: &str| -> Vec<Hit> { app.json(&format!("{path}?{query}")).await };
    let ids = async |query: &str| found(query).await.into_iter().map(|hit| hit.id).collect::<Vec<_>>();
    assert_eq!(ids("query=RHINE").await, ["a", "b"], "the shorter text fits better, and case is ignored");
    assert_eq!(ids("query=cathedral%20in%20K%C3%B6ln").await[0], "b");
    assert_eq!(ids("query=words").await, ["c", "d"], "those that fit as well are sorted by their ids");
    assert_eq!(ids("query=words&k=1").await, ["c"]);
    assert_eq!(ids("query=title:bonn%20AND%20%22(").await, ["a"], "there is no syntax");
    assert_eq!(ids("query=%20...%20").await, [""; 0]);
    let first = &found("query=k%C3%B6ln").await[0];
    assert_eq!(first.title, "Köln");
    assert_eq!(
        (first.text.as_str(), first.url.as_str()),
        ("A city on the Rhine with a cathedral.", "https://example.org/b")
    );
    assert!(first.score > 0.0);
    assert_eq!(app.status(&format!("{path}?query=a&k=0")).await, StatusCode::BAD_REQUEST);
    assert_eq!(app.status(&path).await, StatusCode::BAD_REQUEST);
    // The files were copied once; what is searched needs the storage no more.
    jobs::objects(app.files()).delete_below("indexes").await.unwrap();
    assert_eq!(ids("query=bonn").await, ["a"]);

    let list: Page<IndexSummary> = app.json(ALL).await;
    assert_eq!(list.items.len(), 1);
    let path = format!("/api/v1/datasets/{}", dataset.id);
    let (status, answer) = app.send(Method::DELETE, &path, &json!({})).await;
    assert_eq!(
        (status, answer["detail"].as_str()),
        (StatusCode::CONFLICT, Some("the dataset has indexes; delete them first"))
    );
    let (status, _) = app.send(Method::POST, ALL, &json!({"name": "wiki", "dataset": dataset.id})).await;
    assert_eq!(status, StatusCode::CONFLICT);
    let (status, _) = app.send(Method::DELETE, &format!("/api/v1/indexes/{}", index.id), &json!({})).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert_eq!(app.send(Method::DELETE, &path, &json!({})).await.0, StatusCode::NO_CONTENT);
}

#[sqlx::test(migrations = "../migrations")]
async fn columns_are_named_or_must_be_the_usual_ones(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let dataset = of_text(&app, "a", "a.csv", "key,body\nx,one\ny,two\n").await;
    let failed = built(&app, &json!({"name": "first", "dataset": dataset.id})).await;
    assert_eq!(failed.state, BuildState::Failed);
    assert!(failed.reason.unwrap().starts_with("the dataset has no column `text`"));
    let path = format!("/api/v1/indexes/{}/search?query=one", failed.id);
    assert_eq!(app.problem(&path, StatusCode::CONFLICT).await, "the index is failed, so it cannot be searched");
    let columns = json!({"id": "key", "text": "body"});
    let index = built(&app, &json!({"name": "second", "dataset": dataset.id, "columns": columns})).await;
    let hits: Vec<Hit> = app.json(&format!("/api/v1/indexes/{}/search?query=two", index.id)).await;
    assert_eq!(hits.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(), ["y"]);
    for (body, pointer) in [
        (json!({"name": "", "dataset": dataset.id}), "/name"),
        (json!({"name": "x", "dataset": index.id}), "/dataset"),
        (json!({"name": "x", "dataset": dataset.id, "columns": {"text": ""}}), "/columns/text"),
    ] {
        assert_eq!(app.refused(ALL, &body).await[0].0, pointer);
    }
}

/// Runs that have not ended read them: their rows could not be played on.
#[sqlx::test(migrations = "../migrations")]
async fn what_a_run_reads_is_not_deleted(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    put_searching_workflow(&app).await;
    let articles = of_text(&app, "articles", "articles.jsonl", ARTICLES).await;
    let asked = of_text(&app, "asked", "asked.jsonl", ARTICLES).await;
    let index = built(&app, &json!({"name": "articles", "dataset": articles.id})).await;
    let order = json!({"dataset": {"name": "asked"}, "indexes": {"wiki": "articles"}});
    let run: RunSummary = app.post(RUNS, &order).await;
    let (index, asked) = (format!("/api/v1/indexes/{}", index.id), format!("/api/v1/datasets/{}", asked.id));
    for (path, what) in [(&index, "index"), (&asked, "dataset")] {
        let (status, answer) = app.send(Method::DELETE, path, &json!({})).await;
        let expected = format!("the run {} still reads the {what}; cancel it, or wait for its end", run.id);
        assert_eq!((status, answer["detail"].as_str()), (StatusCode::CONFLICT, Some(expected.as_str())));
    }
    let _: RunSummary = app.post(&format!("/api/v1/runs/{}/cancel", run.id), &json!({})).await;
    for path in [&index, &asked] {
        assert_eq!(app.send(Method::DELETE, path, &json!({})).await.0, StatusCode::NO_CONTENT);
    }
}

/// Waits until so many statements wait for locks.
async fn until_waiting(pool: &PgPool, statements: i64) {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let waiting = async || sqlx::query_scalar::<_, i64>(count).fetch_one(pool).await.unwrap();
    until("statements wait for locks", async || waiting().await == statements).await;
}

/// The order holds what it reads when the deletion begins, and is stored before it ends.
#[sqlx::test(migrations = "../migrations")]
async fn what_is_being_ordered_is_not_deleted(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    put_searching_workflow(&app).await;
    let articles = of_text(&app, "articles", "articles.jsonl", ARTICLES).await;
    let asked = of_text(&app, "asked", "asked.jsonl", ARTICLES).await;
    let index = built(&app, &json!({"name": "articles", "dataset": articles.id})).await;
    let run = json!({"dataset": {"name": "asked"}, "indexes": {"wiki": "articles"}});
    let reads = |what: &str| format!("still reads the {what}; cancel it, or wait for its end");
    for (lock, path, body, subject, expected) in [
        ("LOCK TABLE runs IN SHARE MODE", RUNS, run.clone(), format!("datasets/{}", asked.id), reads("dataset")),
        ("LOCK TABLE runs IN SHARE MODE", RUNS, run, format!("indexes/{}", index.id), reads("index")),
        (
            "LOCK TABLE indexes IN SHARE MODE",
            ALL,
            json!({"name": "asked", "dataset": asked.id}),
            format!("datasets/{}", asked.id),
            "the dataset has indexes; delete them first".to_owned(),
        ),
    ] {
        // Nothing is inserted before this ends.
        let mut gate = pool.begin().await.unwrap();
        sqlx::query(lock).execute(&mut *gate).await.unwrap();
        let subject = format!("/api/v1/{subject}");
        let ordering = app.send(Method::POST, path, &body);
        let deleting = async {
            until_waiting(&pool, 1).await;
            app.send(Method::DELETE, &subject, &json!({})).await
        };
        let opening = async {
            until_waiting(&pool, 2).await;
            gate.commit().await.unwrap();
        };
        let ((ordered, answer), (deleted, problem), ()) = tokio::join!(ordering, deleting, opening);
        assert_eq!(ordered, StatusCode::CREATED, "{answer}");
        assert_eq!(deleted, StatusCode::CONFLICT, "{subject}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.ends_with(&expected), "{detail}");
        if path == RUNS {
            let cancel = format!("/api/v1/runs/{}/cancel", answer["id"].as_str().unwrap());
            let _: RunSummary = app.post(&cancel, &json!({})).await;
        }
    }
}

/// An order finds its dataset or index, which is deleted before the order is stored.
#[sqlx::test(migrations = "../migrations")]
async fn what_is_being_deleted_is_not_ordered(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    put_searching_workflow(&app).await;
    let articles = of_text(&app, "articles", "articles.jsonl", ARTICLES).await;
    let asked = of_text(&app, "asked", "asked.jsonl", ARTICLES).await;
    let spare = of_text(&app, "spare", "spare.jsonl", ARTICLES).await;
    let index = built(&app, &json!({"name": "articles", "dataset": articles.id})).await;
    let indexes = json!({"wiki": "articles"});
    let question = json!({"input": {"title": "Bonn"}, "indexes": indexes});
    for (what, id, path, body) in [
        ("dataset", &asked.id, RUNS.to_owned(), json!({"dataset": {"name": "asked"}, "indexes": indexes})),
        ("dataset", &spare.id, ALL.to_owned(), json!({"name": "spare", "dataset": spare.id})),
        ("index", &index.id, RUNS.replace("/runs", "/answers"), question),
    ] {
        let mut deletion = pool.begin().await.unwrap();
        let subject = id.parse().unwrap();
        if what == "index" {
            assert!(store::indexes::delete(&mut deletion, subject).await.unwrap());
        } else {
            let outcome = store::datasets::delete(&mut deletion, subject).await.unwrap();
            assert_eq!(outcome, DeleteOutcome::Done);
        }
        let ordering = app.send(Method::POST, &path, &body);
        let deleting = async {
            until_waiting(&pool, 1).await;
            deletion.commit().await.unwrap();
        };
        let ((status, problem), ()) = tokio::join!(ordering, deleting);
        assert_eq!(
            (status, problem["detail"].as_str()),
            (StatusCode::CONFLICT, Some(format!("the {what} {id} was deleted").as_str()))
        );
    }
    assert_eq!(app.json::<Page<RunSummary>>(RUNS).await.items, [], "none of them is stored");
}
