//! /api/v1/projects/{project}/datasets, /api/v1/datasets

use std::sync::Arc;

use chrono::TimeDelta;
use domain::api::workflows::{OutputRow, RowTrace};
use domain::api::{BuildState, DatasetRows, DatasetSummary, DatasetUpload, ExportSummary, Page, RunSummary};
use domain::dataset::{Column, ColumnType, DatasetSource};
use domain::job::{JobKind, JobState};
use domain::storage::ProjectStorage;
use reqwest::{Method, StatusCode};
use rows::{RowResources, RowRun};
use runtime::{ModelClients, Options, Player};
use serde_json::{Map, Value, json};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;
use tools::Tools;

use super::TestApp;
use crate::support::documents::few;
use crate::support::play::{HELP, TRANSFER, exported, hasty, played};
use crate::support::{jobs, ledger, until};

const ALL: &str = "/api/v1/projects/default/datasets";
const UPLOADS: &str = "/api/v1/projects/default/datasets/uploads";

/// A piece of a file, from an offset.
async fn piece(app: &TestApp, upload: &str, offset: usize, bytes: impl Into<reqwest::Body>) -> (StatusCode, Value) {
    let path = format!("{UPLOADS}/{upload}?offset={offset}");
    let request = app.request(Method::PATCH, &path).header("content-type", "application/octet-stream");
    let answer = request.body(bytes).send().await.unwrap();
    (answer.status(), answer.json().await.unwrap())
}

/// An upload of which the first piece is there.
pub async fn begun(app: &TestApp, name: &str, text: &str, bytes: usize) -> DatasetUpload {
    let upload: DatasetUpload = app.post(UPLOADS, &json!({"file_name": name, "bytes": bytes})).await;
    let (status, answer) = piece(app, &upload.id, 0, text.to_owned()).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    upload
}

/// A file that was uploaded.
async fn uploaded(app: &TestApp, name: &str, text: &str) -> DatasetUpload {
    begun(app, name, text, text.len()).await
}

/// A dataset whose job has ended.
pub async fn made(app: &TestApp, name: &str, source: Value) -> DatasetSummary {
    let dataset: DatasetSummary = app.post(ALL, &json!({"name": name, "source": source})).await;
    assert_eq!(dataset.state, BuildState::Building);
    jobs::done(&app.pool, app.files(), JobKind::Dataset, dataset.id.parse().unwrap()).await;
    app.json(&format!("/api/v1/datasets/{}", dataset.id)).await
}

/// A dataset made of the text of a file.
pub async fn of_text(app: &TestApp, dataset: &str, file: &str, text: &str) -> DatasetSummary {
    let upload = uploaded(app, file, text).await;
    made(app, dataset, json!({"upload": {"id": upload.id}})).await
}

async fn stored(app: &TestApp) -> usize {
    jobs::objects(app.files()).list("").await.unwrap().len()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_file_is_uploaded_in_pieces_and_becomes_a_dataset(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let text: String =
        (0..300).map(|i| format!("{{\"id\": {i}, \"text\": \"row {i}\", \"even\": {}}}\n", i % 2 == 0)).collect();
    let upload: DatasetUpload = app.post(UPLOADS, &json!({"file_name": "rows.jsonl", "bytes": text.len()})).await;
    assert_eq!((upload.received, upload.created_by.as_str()), (0, "root"));
    let (first, rest) = text.split_at(1_000);
    assert_eq!(piece(&app, &upload.id, 0, first.to_owned()).await.0, StatusCode::OK);
    // Its answer was lost, and it is sent again: whoever sends asks how much is there, and goes on.
    let (status, answer) = piece(&app, &upload.id, 0, first.to_owned()).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(answer["detail"].as_str().unwrap().ends_with("the next piece begins at offset 1000"), "{answer}");
    let early = app.refused(ALL, &json!({"name": "rows", "source": {"upload": {"id": upload.id}}})).await;
    assert_eq!(early[0].0, "/source/upload/id");
    assert!(early[0].1.starts_with("1000 of its "), "{early:?}");
    let there: DatasetUpload = app.json(&format!("{UPLOADS}/{}", upload.id)).await;
    assert_eq!(there.received, 1_000);
    let (status, answer) = piece(&app, &upload.id, 1_000, format!("{rest} ")).await;
    assert_eq!(status, StatusCode::CONFLICT, "more than the file has: {answer}");
    assert_eq!(piece(&app, &upload.id, 1_000, rest.to_owned()).await.0, StatusCode::OK);
    let storage: ProjectStorage = app.json("/api/v1/projects/default/storage").await;
    assert_eq!(storage.used.datasets, i64::try_from(text.len()).unwrap());

    let dataset = made(&app, "rows", json!({"upload": {"id": upload.id}})).await;
    assert_eq!((dataset.state, dataset.rows, dataset.version), (BuildState::Ready, Some(300), 1));
    assert!(matches!(&dataset.source, DatasetSource::Upload(rows) if rows.id == upload.id));
    let storage: ProjectStorage = app.json("/api/v1/projects/default/storage").await;
    assert_eq!(Some(storage.used.datasets), dataset.bytes, "the upload is gone");
    assert_eq!(app.status(&format!("{UPLOADS}/{}", upload.id)).await, StatusCode::NOT_FOUND);

    let path = format!("/api/v1/datasets/{}", dataset.id);
    let columns: Vec<Column> = app.json(&format!("{path}/columns")).await;
    let kinds: Vec<_> = columns.iter().map(|column| (column.name.as_str(), column.kind)).collect();
    assert_eq!(kinds, [("id", ColumnType::Integer), ("text", ColumnType::Text), ("even", ColumnType::Boolean)]);
    let even: Vec<_> = columns[2].statistics.values.iter().map(|value| (value.value.as_str(), value.count)).collect();
    assert_eq!(even, [("false", 150), ("true", 150)]);

    let rows: DatasetRows = app.json(&format!("{path}/rows?from=298&limit=200")).await;
    assert_eq!((rows.total, rows.rows.len(), rows.rows[1].position), (300, 2, 299));
    assert_eq!(Value::Object(rows.rows[1].values.clone()), json!({"id": 299, "text": "row 299", "even": false}));
    let drawn: DatasetRows = app.json(&format!("{path}/rows?seed=7&limit=5")).await;
    assert_eq!(drawn, app.json(&format!("{path}/rows?seed=7&limit=5")).await);
    assert!(drawn.rows.iter().all(|row| row.values["id"] == row.position));
    assert_eq!(app.status(&format!("{path}/rows?seed=7&from=5")).await, StatusCode::BAD_REQUEST);

    let again = of_text(&app, "rows", "other.jsonl", &text).await;
    assert_eq!((again.version, &again.hash), (2, &dataset.hash), "the same rows have the same hash");
    let list: Page<DatasetSummary> = app.json(ALL).await;
    assert_eq!(list.items.iter().map(|dataset| dataset.version).collect::<Vec<_>>(), [2, 1]);
    for dataset in [&dataset, &again] {
        let (status, answer) = app.send(Method::DELETE, &format!("/api/v1/datasets/{}", dataset.id), &json!({})).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    }
    while stored(&app).await > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(app.status(&path).await, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_broken_file_fails_with_its_line_and_stays_uploaded(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let upload = uploaded(&app, "rows.csv", "a,b\n1,2\n1,2,3\n").await;
    let failed = made(&app, "rows", json!({"upload": {"id": upload.id}})).await;
    assert_eq!(failed.state, BuildState::Failed);
    assert_eq!(
        failed.reason.as_deref(),
        Some("rows.csv, line 3: the row has 3 values, and the first line names 2 columns")
    );
    let path = format!("/api/v1/datasets/{}", failed.id);
    assert_eq!(
        app.problem(&format!("{path}/rows"), StatusCode::CONFLICT).await,
        "the dataset is failed, so it has no rows"
    );
    assert_eq!(app.status(&format!("{UPLOADS}/{}", upload.id)).await, StatusCode::OK);
    let list: Vec<DatasetUpload> = app.json(UPLOADS).await;
    assert_eq!(list.len(), 1);
    let (status, _) = app.send(Method::DELETE, &format!("{UPLOADS}/{}", upload.id), &json!({})).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_cannot_become_a_dataset_is_refused_before_work(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let upload = uploaded(&app, "a.txt", "one\n").await;
    let source = json!({"upload": {"id": upload.id}});
    for (body, pointer) in [
        (json!({"name": "A b", "source": source}), "/name"),
        (json!({"name": "a", "source": {"files": {"path": "/etc/passwd.txt"}}}), "/source/files"),
        (json!({"name": "a", "source": {"upload": {"id": "7"}}}), "/source/upload/id"),
        (json!({"name": "a", "source": {"run": {"id": upload.id}}}), "/source/run/id"),
        (json!({"name": "a", "source": {"export": {"id": upload.id}}}), "/source/export/id"),
    ] {
        let refused = app.refused(ALL, &body).await;
        assert_eq!(refused[0].0, pointer, "{refused:?}");
    }
    for (body, pointer) in [
        (json!({"file_name": "a.exe", "bytes": 1}), "/file_name"),
        (json!({"file_name": "", "bytes": 1}), "/file_name"),
        (json!({"file_name": "a.csv", "bytes": 0}), "/bytes"),
    ] {
        let refused = app.refused(UPLOADS, &body).await;
        assert_eq!(refused[0].0, pointer, "{refused:?}");
    }
    let (status, answer) = app.send(Method::POST, UPLOADS, &json!({"file_name": "a.csv", "bytes": 1_i64 << 50})).await;
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    assert!(answer["detail"].as_str().unwrap().contains("and this needs 1024.0 TiB more"), "{answer}");
    let (status, _) = piece(&app, &upload.id, 4, "").await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let (status, _) = piece(&app, &upload.id, 4, vec![0; (16 << 20) + 1]).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_dataset_stops_at_the_room_of_its_project(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    // Random letters do not compress.
    let text: String = (0..20_000_u64).map(|i| format!("{:016x}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let upload = uploaded(&app, "a.txt", &text).await;
    let storage: ProjectStorage = app.json("/api/v1/projects/default/storage").await;
    let limits = json!({"bytes": storage.used.total() + 1_000});
    let (status, _) = app.send(Method::PUT, "/api/v1/projects/default/storage", &limits).await;
    assert_eq!(status, StatusCode::OK);
    let failed = made(&app, "rows", json!({"upload": {"id": upload.id}})).await;
    assert_eq!(failed.state, BuildState::Failed);
    let reason = failed.reason.unwrap();
    assert!(reason.contains("there is no room for all of it: the project uses"), "{reason}");
    let left = jobs::objects(app.files()).list("datasets").await.unwrap();
    assert_eq!(left, [], "nothing is left of it");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_dataset_that_is_cancelled_is_made_no_more(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let upload = uploaded(&app, "a.txt", "one\n").await;
    let new = json!({"name": "a", "source": {"upload": {"id": upload.id}}});
    let dataset: DatasetSummary = app.post(ALL, &new).await;
    let cancelled: DatasetSummary = app.post(&format!("/api/v1/datasets/{}/cancel", dataset.id), &json!({})).await;
    assert_eq!(cancelled.state, BuildState::Cancelled);
    let job = jobs::done(&pool, app.files(), JobKind::Dataset, dataset.id.parse().unwrap()).await;
    assert_eq!(job.state, JobState::Cancelled);
    let (status, _) = app.send(Method::POST, &format!("/api/v1/datasets/{}/cancel", dataset.id), &json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT);
}

#[sqlx::test(migrations = "../migrations")]
async fn runs_corpora_and_exports_become_datasets(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP, TRANSFER], 4, 1, &[]).await;
    let (_, rows) = exported(&player, false).await;
    let expected: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let run = player.control.run.id;

    let corpus: domain::api::CorpusSummary = app
        .post("/api/v1/projects/default/corpora", &json!({"name": "c", "spec": {"duplicates": {"exact": false}}}))
        .await;
    jobs::done(&pool, app.files(), JobKind::Corpus, corpus.id.parse().unwrap()).await;
    let export = async |profile: &str| {
        let spec = json!({"source": {"run": {"id": run}}, "profile": profile});
        let export: ExportSummary = app.post("/api/v1/projects/default/exports", &spec).await;
        jobs::done(&pool, app.files(), JobKind::Export, export.id.parse().unwrap()).await;
        export.id
    };
    let (plain, bundle) = (export("canonical").await, export("huggingface").await);
    for (name, source) in [
        ("run", json!({"run": {"id": run}})),
        ("corpus", json!({"corpus": {"id": corpus.id}})),
        ("export", json!({"export": {"id": plain}})),
        ("bundle", json!({"export": {"id": bundle}})),
    ] {
        let dataset = made(&app, name, source).await;
        assert_eq!(dataset.state, BuildState::Ready, "{name}: {:?}", dataset.reason);
        let found: DatasetRows = app.json(&format!("/api/v1/datasets/{}/rows", dataset.id)).await;
        assert!(found.total > 0, "{name}");
        if matches!(name, "run" | "export") {
            let found: Vec<Value> = found.rows.into_iter().map(|row| Value::Object(row.values)).collect();
            assert_eq!(found, expected, "{name}");
        }
    }
    assert_eq!(stored(&app).await, 4);
}

/// Asks no model. Rows have one of two outputs, or none.
const SIFT: &str = "
workflow: sift
input: {n: integer, note: 'text?'}
steps:
  small: {end: {when: 'n < 2', as: small}}
  large: {end: {when: 'n > 7', as: large, success: true, output: {large: n}}}
output: {n: n, note: note}
samples: [{input: {n: 1}, ends: small}]
";
const RUNS: &str = "/api/v1/projects/default/workflows/sift/runs";

/// An app whose project has the workflow.
async fn with_workflow(pool: &PgPool) -> TestApp {
    let app = TestApp::start(pool).await;
    let mut files = few();
    files.insert("workflows/sift/workflow.yaml", SIFT.to_owned());
    let packed = projects::archive::pack(&files).unwrap();
    let _: Value = super::archive::put(&app, "", packed, StatusCode::OK).await;
    app
}

async fn play(app: &TestApp, run: &str) {
    let objects = jobs::objects(app.files());
    let resources = RowResources::new(ModelClients::new(hasty()), Some(objects), app.files(), Tools::default());
    let options = Options { only: Some(run.parse().unwrap()), ..Options::default() };
    let player: Player<Arc<RowRun>> = Player::new(app.pool.clone(), resources, options);
    player.play(&CancellationToken::new()).await.unwrap();
}

#[sqlx::test(migrations = "../migrations")]
async fn the_outputs_of_a_run_of_a_workflow_become_a_dataset(pool: PgPool) {
    let app = with_workflow(&pool).await;
    let rows: Vec<Value> = (0..10).map(|n| json!({"n": n, "note": (n == 5).then_some("five")})).collect();
    let run: RunSummary = app.post(RUNS, &json!({"rows": rows})).await;
    let source = json!({"run": {"id": run.id}});
    let empty = made(&app, "outputs", source.clone()).await;
    assert_eq!(empty.reason.as_deref(), Some("no row of the run has an output so far"));

    play(&app, &run.id).await;
    let dataset = made(&app, "outputs", source).await;
    assert_eq!((dataset.state, dataset.rows), (BuildState::Ready, Some(8)), "{:?}", dataset.reason);
    let path = format!("/api/v1/datasets/{}", dataset.id);
    let columns: Vec<Column> = app.json(&format!("{path}/columns")).await;
    assert_eq!(columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["n", "note", "large"]);
    let found: DatasetRows = app.json(&format!("{path}/rows")).await;
    let of = |column: &str| found.rows.iter().map(|row| row.values[column].clone()).collect::<Vec<_>>();
    assert_eq!(json!(of("n")), json!([2, 3, 4, 5, 6, 7, null, null]));
    assert_eq!(json!(of("large")), json!([null, null, null, null, null, null, 8, 9]));
    assert_eq!(found.rows[3].values["note"], "five");

    let options = json!({"name": "a", "source": {"run": {"id": run.id, "all": true, "judging": run.id}}});
    let refused = app.refused(ALL, &options).await;
    let pointers: Vec<&str> = refused.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/source/run/judging", "/source/run/all"]);
    let export = json!({"source": {"run": {"id": run.id}}});
    let refused = app.refused("/api/v1/projects/default/exports", &export).await;
    assert!(refused[0].1.contains(" is a run of a workflow, and an export is made of conversations"), "{refused:?}");
}

/// The inputs of a run over a dataset, in order.
async fn inputs(app: &TestApp, order: Value) -> Vec<Value> {
    let run: RunSummary = app.post(RUNS, &order).await;
    play(app, &run.id).await;
    let rows: Vec<OutputRow> = app.json(&format!("/api/v1/runs/{}/rows?limit=200", run.id)).await;
    assert_eq!(rows.len(), usize::try_from(run.planned).unwrap());
    rows.into_iter().map(|row| row.input["n"].clone()).collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_reads_a_sample_of_a_dataset(pool: PgPool) {
    let app = with_workflow(&pool).await;
    let text: String = (0..1_000).map(|n| format!("{{\"n\": {n}}}\n")).collect();
    of_text(&app, "numbers", "numbers.jsonl", &text).await;
    let part = json!({"name": "numbers", "first": 100, "count": 800, "sample": 20});
    let drawn = inputs(&app, json!({"dataset": part, "seed": 5})).await;
    let expected = [107, 159, 263, 285, 331, 397, 403, 416, 428, 453, 535, 551, 578, 585, 667, 696, 741, 778, 822, 897];
    assert_eq!(json!(drawn), json!(expected));
    let own = json!({"name": "numbers", "first": 100, "count": 800, "sample": 20, "seed": 5});
    assert_eq!(inputs(&app, json!({"dataset": own, "seed": 6})).await, drawn, "its own seed counts");
    assert_ne!(inputs(&app, json!({"dataset": part, "seed": 6})).await, drawn);
    let all = inputs(&app, json!({"dataset": {"name": "numbers", "first": 990, "sample": 10}})).await;
    assert_eq!(json!(all), json!((990..1_000).collect::<Vec<_>>()));
    for (dataset, message) in [
        (json!({"name": "numbers", "sample": 0}), "a sample has at least 1 row"),
        (json!({"name": "numbers", "first": 900, "sample": 101}), "a sample of 101 rows cannot be drawn from 100 rows"),
        (json!({"name": "numbers", "seed": 1}), "`seed` draws a sample; say with `sample` how many rows it has"),
    ] {
        let refused = app.refused(RUNS, &json!({"dataset": dataset})).await;
        assert_eq!(refused, [("/dataset".to_owned(), message.to_owned())]);
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_keeps_its_rows_when_its_dataset_is_deleted(pool: PgPool) {
    let app = with_workflow(&pool).await;
    let dataset = of_text(&app, "numbers", "numbers.jsonl", "{\"n\": 1}\n{\"n\": 5}\n").await;
    let run: RunSummary = app.post(RUNS, &json!({"dataset": {"name": "numbers"}})).await;
    play(&app, &run.id).await;
    let path = format!("/api/v1/runs/{}", run.id);
    let played: RunSummary = app.json(&path).await;
    let rows: Vec<OutputRow> = app.json(&format!("{path}/rows")).await;
    assert_eq!((played.accepted, played.failures["small"], rows.len()), (1, 1, 2));
    let (status, _) = app.send(Method::DELETE, &format!("/api/v1/datasets/{}", dataset.id), &json!({})).await;
    assert_eq!(status, StatusCode::NO_CONTENT);

    let (status, problem) = app.send(Method::POST, &format!("{path}/retry"), &json!({})).await;
    let expected = format!("the dataset {} was deleted", dataset.id);
    assert_eq!((status, problem["detail"].as_str()), (StatusCode::CONFLICT, Some(expected.as_str())));
    assert_eq!(app.json::<RunSummary>(&path).await, played, "it has ended as before");
    ledger::check(&pool, run.id.parse().unwrap()).await;
    let left: Vec<OutputRow> = app.json(&format!("{path}/rows")).await;
    let without_input = |row: OutputRow| OutputRow { input: Map::new(), ..row };
    assert_eq!(left, rows.into_iter().map(without_input).collect::<Vec<_>>());
    let second: RowTrace = app.json(&format!("{path}/rows/1")).await;
    assert_eq!(second.row.as_ref(), Some(&left[1]));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_finished_dataset_does_not_change(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let dataset = of_text(&app, "a", "a.txt", "one\ntwo\n").await;
    let id: uuid::Uuid = dataset.id.parse().unwrap();
    let refused = sqlx::query("UPDATE datasets SET rows = 7 WHERE id = $1").bind(id).execute(&pool).await;
    assert!(refused.unwrap_err().to_string().contains("does not change"));
}

/// As if the last of an upload had come some days earlier.
async fn days_ago(app: &TestApp, upload: &DatasetUpload, days: i32) {
    let earlier = "UPDATE dataset_uploads SET last_received_at = last_received_at - make_interval(days => $2)
                   WHERE id = $1::uuid";
    sqlx::query(earlier).bind(&upload.id).bind(days).execute(&app.pool).await.unwrap();
}

#[sqlx::test(migrations = "../migrations")]
async fn an_upload_of_which_nothing_comes_for_a_week_is_deleted(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let abandoned = uploaded(&app, "a.txt", "one\n").await;
    assert_eq!(abandoned.expires_at, abandoned.created_at + TimeDelta::days(7));
    let ordered = uploaded(&app, "b.txt", "two\n").await;
    let new = json!({"name": "b", "source": {"upload": {"id": ordered.id}}});
    let dataset: DatasetSummary = app.post(ALL, &new).await;
    let slow: DatasetUpload = app.post(UPLOADS, &json!({"file_name": "c.txt", "bytes": 8})).await;
    for upload in [&abandoned, &ordered, &slow] {
        days_ago(&app, upload, 6).await;
    }
    assert_eq!(piece(&app, &slow.id, 0, "more\n").await.0, StatusCode::OK);
    for upload in [&abandoned, &ordered, &slow] {
        days_ago(&app, upload, 2).await;
    }
    // Whoever begins another one sweeps.
    let fresh: DatasetUpload = app.post(UPLOADS, &json!({"file_name": "d.txt", "bytes": 1})).await;
    let left: Vec<DatasetUpload> = app.json(UPLOADS).await;
    let ids: Vec<_> = left.iter().map(|upload| upload.id.as_str()).collect();
    assert_eq!(ids, [&fresh.id, &slow.id, &ordered.id], "one that gets more stays, and one that becomes a dataset");
    assert!(left[1].expires_at > slow.expires_at - TimeDelta::days(2), "each piece puts the end off");
    let objects = jobs::objects(app.files());
    until("its object is gone", async || objects.list(&format!("uploads/{}", abandoned.id)).await.unwrap().is_empty())
        .await;
    assert_eq!(stored(&app).await, 2, "the pieces of those that stay");

    jobs::done(&pool, app.files(), JobKind::Dataset, dataset.id.parse().unwrap()).await;
    let made: DatasetSummary = app.json(&format!("/api/v1/datasets/{}", dataset.id)).await;
    assert_eq!((made.state, made.rows), (BuildState::Ready, Some(1)), "{:?}", made.reason);
}
