//! /api/v1/projects/{project}/exports, /api/v1/exports

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use domain::api::{BranchSummary, BuildState, ExportPreview, ExportSummary, Page};
use domain::event::EventKind;
use domain::job::JobKind;
use generation::ConversationRun;
use reqwest::{Method, StatusCode};
use runtime::ModelClients;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use store::{jobs, players};
use strum::VariantArray;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::TestApp;
use crate::support;
use crate::support::play::{HANDOVER, HELP, TRANSFER, agent_turns, exported, hasty, play_all, played, stories};

const ALL: &str = "/api/v1/projects/default/exports";
const LEASE: Duration = Duration::from_secs(15);

fn of_run(run: Uuid, profile: &str) -> Value {
    json!({"source": {"run": {"id": run}}, "profile": profile})
}

/// An export that was built.
async fn built(app: &TestApp, spec: &Value) -> ExportSummary {
    let export: ExportSummary = app.post(ALL, spec).await;
    let id = export.id.parse().unwrap();
    support::jobs::done(&app.pool, app.files(), JobKind::Export, id).await;
    app.json(&format!("/api/v1/exports/{id}")).await
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[sqlx::test(migrations = "../migrations")]
async fn an_export_is_asked_for_built_and_downloaded(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP, TRANSFER], 4, 1, &[]).await;
    let (_, rows) = exported(&player, false).await;

    let export = built(&app, &of_run(player.control.run.id, "canonical")).await;
    assert_eq!((export.state, export.rows, export.done, export.total), (BuildState::Ready, Some(4), 4, 4));
    assert_eq!(export.created_by, "root");
    let path = format!("/api/v1/exports/{}/file", export.id);
    let response = app.get(&path).await;
    assert_eq!(response.headers()["etag"], format!("\"{}\"", export.hash.as_ref().unwrap()).as_str());
    assert_eq!(
        response.headers()["content-disposition"],
        format!("attachment; filename=\"{}\"", export.file_name).as_str()
    );
    let bytes = response.bytes().await.unwrap();
    assert_eq!(bytes, rows.as_bytes(), "what the command writes");
    assert_eq!((Some(sha256(&bytes)), export.bytes), (export.hash.clone(), i64::try_from(bytes.len()).ok()));

    let file = datasets::export::job::file(app.files(), export.id.parse().unwrap());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700), "nobody else on the machine reads it");

    // Cut off after a thousand bytes, and gone on with.
    let part = app.request(Method::GET, &path).header("range", "bytes=1000-").send().await.unwrap();
    assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
    let rest = part.bytes().await.unwrap();
    assert_eq!(Some(sha256(&[&bytes[..1000], &rest].concat())), export.hash);
    let other = app.request(Method::GET, &path).header("range", "bytes=1000-").header("if-range", "\"other\"");
    assert_eq!(other.send().await.unwrap().status(), StatusCode::OK, "the rest of another file is of no use");
    let known = app.request(Method::GET, &path).header("if-none-match", format!("\"{}\"", export.hash.unwrap()));
    assert_eq!(known.send().await.unwrap().status(), StatusCode::NOT_MODIFIED);
    let beyond = app.request(Method::GET, &path).header("range", "bytes=99999999-").send().await.unwrap();
    assert_eq!(beyond.status(), StatusCode::RANGE_NOT_SATISFIABLE);

    let list: Page<ExportSummary> = app.json(ALL).await;
    assert_eq!(list.items.len(), 1);
    let (status, _) = app.send(Method::DELETE, &format!("/api/v1/exports/{}", export.id), &json!(null)).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert_eq!(app.status(&path).await, StatusCode::NOT_FOUND);
    assert!(!datasets::export::job::file(app.files(), export.id.parse().unwrap()).exists());
}

#[sqlx::test(migrations = "../migrations")]
async fn corrected_turns_are_exported_as_they_were_corrected(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 2, 1, &[]).await;
    let before = built(&app, &of_run(player.control.run.id, "canonical")).await;
    let stories = stories(&player).await;
    let (id, turns) = (stories[0].planned.id, agent_turns(&stories[0].events));
    let correction = json!({"seq": turns.last(), "content": "Gladly, and have a good trip!", "note": "Warmer."});
    app.post::<Value>(&format!("/api/v1/conversations/{id}/corrections"), &correction).await;

    let read = async |export: &ExportSummary| -> Vec<Value> {
        let text = app.text(&format!("/api/v1/exports/{}/file", export.id)).await;
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (old, new) = (read(&before).await, read(&built(&app, &of_run(player.control.run.id, "canonical")).await).await);
    let mut expected = old.clone();
    assert_eq!(old[0]["metadata"]["corrections"], json!([]));
    expected[0]["metadata"]["corrections"] = json!([1]);
    *expected[0]["messages"].as_array_mut().unwrap().last_mut().unwrap().get_mut("content").unwrap() =
        json!("Gladly, and have a good trip!");
    assert_eq!(new, expected, "and nothing else is another");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_finished_export_does_not_change(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 1, 1, &[]).await;
    let export = built(&app, &of_run(player.control.run.id, "trl")).await;
    let id: Uuid = export.id.parse().unwrap();
    let refused = sqlx::query("UPDATE exports SET rows = 7 WHERE id = $1").bind(id).execute(&pool).await;
    assert!(refused.unwrap_err().to_string().contains("does not change"));
    let (status, _) = app.send(Method::POST, &format!("/api/v1/exports/{id}/cancel"), &json!(null)).await;
    assert_eq!(status, StatusCode::CONFLICT);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_cancelled_leaves_no_file(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 2, 1, &[]).await;
    let export: ExportSummary = app.post(ALL, &of_run(player.control.run.id, "huggingface")).await;
    let path = format!("/api/v1/exports/{}", export.id);
    assert_eq!(app.status(&format!("{path}/file")).await, StatusCode::CONFLICT, "it is not built yet");
    let cancelled: ExportSummary = app.post(&format!("{path}/cancel"), &json!(null)).await;
    assert_eq!(cancelled.state, BuildState::Cancelled);
    let id = export.id.parse().unwrap();
    support::jobs::done(&pool, app.files(), JobKind::Export, id).await;
    assert!(!datasets::export::job::file(app.files(), id).exists());
    let after: ExportSummary = app.json(&path).await;
    assert_eq!(after.state, BuildState::Cancelled);
    let mut db = pool.acquire().await.unwrap();
    let player = players::register_for_jobs(&mut db, "here", 1, LEASE).await.unwrap();
    assert_eq!(jobs::claim(&mut db, player, JobKind::VARIANTS, None).await.unwrap(), None);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_a_crash_interrupted_is_built_by_the_next_server(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 2, 1, &[]).await;
    let export: ExportSummary = app.post(ALL, &of_run(player.control.run.id, "canonical")).await;
    let id: Uuid = export.id.parse().unwrap();
    let mut db = pool.acquire().await.unwrap();
    let died = players::register_for_jobs(&mut db, "here", 1, LEASE).await.unwrap();
    let other = players::register_for_jobs(&mut db, "there", 2, LEASE).await.unwrap();
    assert!(jobs::claim(&mut db, died, JobKind::VARIANTS, None).await.unwrap().is_some());
    // It died in the middle: half a file lies there, and nobody says that it lives.
    let left = app.files().join("exports").join(format!(".{id}-of-another-process")).join("files/data");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("train.jsonl"), "{\"messages\": [").unwrap();
    assert_eq!(jobs::claim(&mut db, other, JobKind::VARIANTS, None).await.unwrap(), None, "its builder may still live");
    sqlx::query("UPDATE players SET heartbeat_at = now() - interval '1 hour'").execute(&pool).await.unwrap();

    let (stop, handlers) = (CancellationToken::new(), support::jobs::handlers(app.files()));
    let options = runtime::jobs::Options { lease: Duration::from_secs(1), ..runtime::jobs::Options::default() };
    let serving = runtime::jobs::serve(&pool, &options, &handlers, &stop);
    let waiting = async {
        loop {
            let now: ExportSummary = app.json(&format!("/api/v1/exports/{id}")).await;
            if now.state != BuildState::Building {
                stop.cancel();
                return now;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (served, done) = tokio::join!(serving, waiting);
    served.unwrap();
    assert_eq!((done.state, done.rows), (BuildState::Ready, Some(2)));
    let bytes = app.get(&format!("/api/v1/exports/{id}/file")).await.bytes().await.unwrap();
    assert_eq!(Some(sha256(&bytes)), done.hash);
    let files = std::fs::read_dir(app.files().join("exports")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(files.collect::<Vec<_>>(), [id.to_string().as_str()], "nothing is left behind");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_cannot_be_exported_is_said_with_its_place(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let nobody = "0199fe00-0000-7000-8000-000000000000";
    let spec = json!({
        "source": {"run": {"id": nobody}}, "profile": "openai", "toggles": {"reasoning": "keep", "data": "parquet"},
        "pairs": {"margin": 11.0},
    });
    let wrong = app.refused(ALL, &spec).await;
    let pointers: Vec<&str> = wrong.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/toggles/reasoning", "/toggles/data", "/pairs/margin", "/source/run/id"]);
    for hostile in ["x'; DROP TABLE exports; --", "../../etc/passwd", "\r\nSet-Cookie: a=b", "%00"] {
        let wrong = app.refused(ALL, &json!({"source": {"corpus": {"id": hostile}}})).await;
        assert_eq!(wrong[0].0, "/source/corpus/id");
    }
    assert_eq!(app.status("/api/v1/exports/..%2f..%2fetc%2fpasswd/file").await, StatusCode::NOT_FOUND);
    let list: Page<ExportSummary> = app.json(ALL).await;
    assert!(list.items.is_empty());
}

#[sqlx::test(migrations = "../migrations")]
async fn names_of_files_cannot_inject_headers(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 1, 1, &[]).await;
    let corpus = corpus(&pool, player.control.run.id, "a\"; filename=\"x.exe\r\nSet-Cookie: a=b; ☃/../").await;
    let export = built(&app, &json!({"source": {"corpus": {"id": corpus}}, "profile": "canonical"})).await;
    assert_eq!(export.file_name, "a-filename-x-exe-set-cookie-a-b-canonical.jsonl");
    let response = app.get(&format!("/api/v1/exports/{}/file", export.id)).await;
    let name = "attachment; filename=\"a-filename-x-exe-set-cookie-a-b-canonical.jsonl\"";
    assert_eq!(response.headers()["content-disposition"], name);
    assert!(response.headers().get("set-cookie").is_none());
    let named = sqlx::query("UPDATE exports SET file_name = $1, id = gen_random_uuid()").bind("a\r\nb").execute(&pool);
    assert!(named.await.is_err(), "and the database keeps no other");
}

/// A corpus that keeps all conversations of a run.
async fn corpus(pool: &PgPool, run: Uuid, name: &str) -> Uuid {
    let id = store::clock::id();
    sqlx::query(
        "INSERT INTO corpora (id, project_id, name, spec, manifest_hash, created_by, created_at)
         SELECT $1, project_id, $3, '{}', 'hash', 'root', now() FROM runs WHERE id = $2",
    )
    .bind(id)
    .bind(run)
    .bind(name)
    .execute(pool)
    .await
    .unwrap();
    support::jobs::finished(pool, JobKind::Corpus, id).await;
    sqlx::query(
        "INSERT INTO corpus_rows (corpus_id, ordinal, run_id, conversation_id, split)
         SELECT $1, position, run_id, id, CASE WHEN position % 2 = 0 THEN 'train' ELSE 'golden' END
         FROM tasks WHERE run_id = $2 AND NOT superseded",
    )
    .bind(id)
    .bind(run)
    .execute(pool)
    .await
    .unwrap();
    id
}

#[sqlx::test(migrations = "../migrations")]
async fn a_corpus_gives_a_file_for_each_split(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP, HANDOVER], 4, 1, &[]).await;
    let corpus = corpus(&pool, player.control.run.id, "help & handover").await;
    let source = json!({"corpus": {"id": corpus}});
    let bundle = built(&app, &json!({"source": source})).await;
    assert_eq!((bundle.state, bundle.rows, bundle.reason.as_deref()), (BuildState::Ready, Some(4), None));
    assert_eq!(bundle.file_name, "help-handover-huggingface.zip");
    let report = bundle.report.unwrap();
    let parts: Vec<(&str, i64)> = report.parts.iter().map(|part| (part.path.as_str(), part.written.rows)).collect();
    assert_eq!(parts, [("data/train.jsonl", 2), ("data/golden.jsonl", 2)]);
    assert_eq!(report.parts[0].written.about.scripted_roles["agent"], 2);
    assert_eq!(report.rows, 4);
    let archive = app.get(&format!("/api/v1/exports/{}/file", bundle.id)).await.bytes().await.unwrap();
    let archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    assert_eq!(names, ["README.md", "croissant.json", "data/golden.jsonl", "data/train.jsonl"]);

    let single = built(&app, &json!({"source": source, "profile": "trl"})).await;
    assert_eq!(single.rows, Some(2), "what is kept for measuring is not among what is trained on");
    let golden = json!({"corpus": {"id": corpus, "split": "golden"}});
    assert_eq!(built(&app, &json!({"source": golden, "profile": "verl"})).await.rows, Some(2));
}

/// A branch is a run of its own; pairs of either run know the other.
#[sqlx::test(migrations = "../migrations")]
async fn pairs_of_a_run_are_also_those_of_its_branches_and_of_what_it_branches_from(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 1, 1, &[]).await;
    let [story] = stories(&player).await.try_into().unwrap_or_else(|_| panic!("one story"));
    let answer = story.events.iter().find_map(|event| match &event.kind {
        EventKind::AgentSpoke { tool_calls, content, .. } if tool_calls.is_empty() => Some((event.seq, content)),
        _ => None,
    });
    let ((seq, said), worse) = (answer.unwrap(), "I can not say.");
    let path = format!("/api/v1/conversations/{}/branches", story.planned.id);
    let branch: BranchSummary = app.post(&path, &json!({"seq": seq, "content": worse})).await;
    let of_origin = of_run(player.control.run.id, "trl_dpo");
    let early = built(&app, &of_origin).await;
    assert_eq!((early.rows, early.total), (Some(0), 1), "it has not come to its end");
    let playing = ConversationRun::load(&pool, branch.run.parse().unwrap(), &ModelClients::new(hasty())).await.unwrap();
    let branched = play_all(playing, 1).await;

    for spec in [&of_origin, &of_run(branched.control.run.id, "trl_dpo")] {
        let preview: ExportPreview = app.post(&format!("{ALL}/preview"), spec).await;
        assert_eq!((preview.total, preview.looked_at), (2, 2));
        let export = built(&app, spec).await;
        assert_eq!((export.rows, export.done, export.total), (Some(1), 2, 2));
        let text = app.text(&format!("/api/v1/exports/{}/file", export.id)).await;
        let pair: Value = serde_json::from_str(&text).unwrap();
        for record in [&pair, &preview.record.unwrap()] {
            assert_eq!(record["chosen"][0]["content"], json!(said));
            assert_eq!(record["rejected"][0]["content"], worse);
        }
        let metadata: Value = serde_json::from_str(pair["metadata"].as_str().unwrap()).unwrap();
        assert_eq!(metadata["chosen"]["id"], json!(story.planned.id));
        assert_eq!(metadata["rejected"]["id"], json!(branch.conversation));
    }
    // Whoever wants rows asked for those of one run, and whoever names another judging for what it says of this run.
    assert_eq!(built(&app, &of_run(player.control.run.id, "canonical")).await.total, 1);
    let again = judged_again(&pool, player.control.run.id).await;
    let spec = json!({"source": {"run": {"id": player.control.run.id, "judging": again}}, "profile": "trl_dpo"});
    assert_eq!(built(&app, &spec).await.total, 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_preview_finds_a_pair_whose_sides_are_far_apart(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 80, 1, &[]).await;
    let story = stories(&player).await.swap_remove(0);
    let answer = story.events.iter().find_map(|event| match &event.kind {
        EventKind::AgentSpoke { tool_calls, .. } if tool_calls.is_empty() => Some(event.seq),
        _ => None,
    });
    let path = format!("/api/v1/conversations/{}/branches", story.planned.id);
    let branch: BranchSummary = app.post(&path, &json!({"seq": answer.unwrap(), "content": "I can not say."})).await;
    let playing = ConversationRun::load(&pool, branch.run.parse().unwrap(), &ModelClients::new(hasty())).await.unwrap();
    play_all(playing, 1).await;
    let spec = of_run(player.control.run.id, "trl_dpo");
    let preview: ExportPreview = app.post(&format!("{ALL}/preview"), &spec).await;
    assert_eq!((preview.total, preview.looked_at), (81, 81));
    assert_eq!(preview.record.unwrap()["rejected"][0]["content"], "I can not say.");
}

/// A judging that has said nothing yet.
async fn judged_again(pool: &PgPool, run: Uuid) -> Uuid {
    let id = store::clock::id();
    sqlx::query(
        "INSERT INTO judgings (id, run_id, library, models, original, created_at)
         SELECT $1, run_id, library, models, false, now() FROM judgings WHERE run_id = $2 AND original",
    )
    .bind(id)
    .bind(run)
    .execute(pool)
    .await
    .unwrap();
    id
}

#[sqlx::test(migrations = "../migrations")]
async fn a_preview_is_the_first_record(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 2, 1, &[]).await;
    let path = format!("{ALL}/preview");
    let seen: ExportPreview = app.post(&path, &of_run(player.control.run.id, "openai")).await;
    assert_eq!((seen.total, seen.looked_at, seen.card), (2, 2, None));
    let record = seen.record.unwrap();
    assert_eq!(record["messages"][0]["role"], "system");
    assert!(record.get("metadata").is_none(), "OpenAI refuses keys that it does not know");
    let pairs: ExportPreview = app.post(&path, &of_run(player.control.run.id, "trl_dpo")).await;
    assert_eq!(pairs.record, None, "there is nothing to prefer");
    let bundle: ExportPreview = app.post(&path, &of_run(player.control.run.id, "huggingface")).await;
    let card = bundle.card.unwrap();
    for says in ["pretty_name: ", "split: train", "## `train`: 2 rows", "Of 2 conversations:"] {
        assert!(card.contains(says), "{says}: {card}");
    }
    let list: Page<ExportSummary> = app.json(ALL).await;
    assert!(list.items.is_empty(), "nothing was made");
}
