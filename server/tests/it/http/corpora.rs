//! /api/v1/projects/{project}/corpora and /api/v1/corpora

mod corrected;
mod filters;
mod funnel;
mod preview;
mod rows;

use std::collections::BTreeSet;

use domain::access::Role;
use domain::api::{BuildState, CorpusConversation, CorpusDetail, CorpusSummary, ExportSummary, ManifestRow, Page};
use domain::corpus::{Report, Side, Step};
use domain::job::JobKind;
use domain::progress::JobProgress;
use domain::role;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use store::jobs::Ending;
use store::{jobs, players};
use strum::VariantArray;
use uuid::Uuid;

use super::TestApp;
use crate::support;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HANDOVER, HELP, TRANSFER, planned, played};

const LIST: &str = "/api/v1/projects/default/corpora";

/// A corpus that was asked for and built.
async fn built(app: &TestApp, name: &str, spec: Value) -> CorpusDetail {
    let asked: CorpusSummary = app.post(LIST, &json!({"name": name, "spec": spec})).await;
    assert_eq!((asked.state, asked.created_by.as_str()), (BuildState::Building, "root"));
    select(app, &asked.id).await;
    app.json(&format!("/api/v1/corpora/{}", asked.id)).await
}

/// Does what is asked for.
async fn select(app: &TestApp, id: &str) {
    support::jobs::done(&app.pool, app.files(), JobKind::Corpus, id.parse().unwrap()).await;
}

/// A process that takes up whatever waits.
async fn claimed(pool: &PgPool) -> (i64, Option<Uuid>) {
    let mut db = pool.acquire().await.unwrap();
    let player = players::register_for_jobs(&mut db, "here", 1, support::play::LEASE).await.unwrap();
    (player, jobs::claim(&mut db, player, JobKind::VARIANTS, None).await.unwrap().map(|job| job.id))
}

async fn manifest(app: &TestApp, corpus: &CorpusDetail) -> (String, Vec<ManifestRow>) {
    let text = app.text(&format!("/api/v1/corpora/{}/manifest", corpus.summary.id)).await;
    let rows = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (text, rows)
}

#[sqlx::test(migrations = "../migrations")]
async fn a_corpus_from_its_filter_to_its_manifest(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP, HANDOVER, TRANSFER], 24, 7, &[]).await;
    let corpus = built(&app, "first", json!({"split": {"golden": 0.3, "seed": 1}})).await;
    assert_eq!((corpus.summary.state, corpus.summary.reason.clone()), (BuildState::Ready, None));
    let report = corpus.report.clone().unwrap();
    assert_eq!((report.looked_at, report.found), (24, 24));
    // Scripted conversations of one scenario and complexity say the same.
    let dropped: Vec<(Step, bool)> = report.funnel.iter().map(|stage| (stage.step, stage.dropped > 0)).collect();
    assert_eq!(dropped, [(Step::Pii, false), (Step::Secrets, false), (Step::ExactDuplicates, true)]);
    assert_eq!((report.scan.found.len(), report.scan.own_data.len()), (0, 0), "{:?}", report.scan);

    // Every conversation that was found is there once, and the hash is that of the file.
    let (text, rows) = manifest(&app, &corpus).await;
    let hash = hex::encode(Sha256::digest(&text));
    assert_eq!(corpus.summary.manifest_hash.as_deref(), Some(hash.as_str()));
    assert_eq!(rows.iter().map(|row| row.position).collect::<Vec<_>>(), (0..24).collect::<Vec<_>>());
    assert!(
        rows.iter().all(|row| row.run == run.control.run.id.to_string() && row.split.is_some() == row.reason.is_none())
    );
    let scenarios = |side: Side| -> BTreeSet<&str> {
        rows.iter().filter(|row| row.split == Some(side)).map(|row| row.scenario.as_str()).collect()
    };
    assert!(scenarios(Side::Train).is_disjoint(&scenarios(Side::Golden)));
    assert!(!scenarios(Side::Train).is_empty() && !scenarios(Side::Golden).is_empty());
    assert_eq!((report.leakage.scenarios, report.leakage.families, report.leakage.near_duplicates), (0, 0, 0));
    assert_eq!(report.leakage.pairs, corpus.summary.train * corpus.summary.golden);

    let csv = app.text(&format!("/api/v1/corpora/{}/manifest?format=csv", corpus.summary.id)).await;
    assert_eq!(csv.lines().count(), 25);
    assert_eq!(csv.lines().next(), Some("ordinal,conversation,run,position,scenario,split,dropped_by,reason"));

    let of = format!("/api/v1/corpora/{}/conversations", corpus.summary.id);
    let first: Page<CorpusConversation> = app.json(&format!("{of}?split=train&limit=1")).await;
    let rest: Page<CorpusConversation> = app.json(&format!("{of}?split=train&after={}", first.next.unwrap())).await;
    assert_eq!((first.items.len() + rest.items.len()) as u64, corpus.summary.train);
    let far: Page<CorpusConversation> = app.json(&format!("{of}?split=train&limit=1&skip=1")).await;
    assert_eq!((&far.items[..], far.next.is_some()), (&rest.items[..1], rest.items.len() > 1));
    assert_eq!(
        app.json::<Page<CorpusConversation>>(&format!("{of}?split=golden")).await.items.len() as u64,
        corpus.summary.golden
    );

    // The same selection is the same corpus, but for nothing.
    let again = built(&app, "again", json!({"split": {"golden": 0.3, "seed": 1}})).await;
    assert_eq!(again.summary.manifest_hash, corpus.summary.manifest_hash);
    let preview: Report = app.post(&format!("{LIST}/preview"), &json!({"split": {"golden": 0.3, "seed": 1}})).await;
    assert_eq!(Some(preview), corpus.report);
    let all: Page<CorpusSummary> = app.json(LIST).await;
    assert_eq!(all.items.iter().map(|corpus| corpus.name.as_str()).collect::<Vec<_>>(), ["again", "first"]);
}

#[sqlx::test(migrations = "../migrations")]
async fn each_part_of_a_selection_selects(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP, HANDOVER, TRANSFER], 24, 7, &[]).await;
    let found = async |filter: Value| -> u64 {
        app.post::<Report>(&format!("{LIST}/preview"), &json!({"filter": filter})).await.found
    };
    let all = found(json!({})).await;
    assert_eq!((all, found(json!({"runs": [run.control.run.id.to_string()]})).await), (24, 24));
    let help = found(json!({"scenarios": [HELP]})).await;
    assert!(help > 0 && help < 24, "{help}");
    // What only the events tell.
    assert_eq!(found(json!({"tools_all": ["search_help", "get_opening_hours"]})).await, help);
    assert_eq!(found(json!({"verified": true, "tool_calls": {"min": 1}})).await, 24);
    assert_eq!(found(json!({"verified": false})).await, 0);
    // What only the verdict tells.
    assert_eq!(found(json!({"min_scores": {"tool_usage": 9}})).await, 24);
    assert_eq!(found(json!({"min_scores": {"tool_usage": 10}})).await, 0);
    assert_eq!(found(json!({"min_agreement": 0.5})).await, 0);
    assert_eq!(found(json!({"top": [{"share": 0.1}]})).await, 24, "they are all equally good");
    assert_eq!(found(json!({"judging": run.control.run.own_judging().to_string()})).await, 24);

    let spec = json!({
        "duplicates": {"exact": false}, "balance": {"by": "complexity", "at_most": 3}, "limit": 10,
        "split": {"golden": 0}
    });
    let report: Report = app.post(&format!("{LIST}/preview"), &spec).await;
    let limit = report.funnel.last().unwrap();
    assert_eq!((limit.step, limit.left, report.split.train.conversations), (Step::Limit, 10, 10));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_belongs_to_somebody_is_dropped(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let agent = Endpoint::start(|_| says("Write to jane.roe@corp-mail.de, the key is AKIAIOSFODNN7EXAMPLE.")).await;
    played(&pool, &[HELP], 3, 1, &[(role::Role::Agent, agent.model())]).await;
    let failed = json!({"outcomes": ["failed"]});
    let corpus = built(&app, "none", json!({"filter": failed})).await;
    assert_eq!(corpus.summary.state, BuildState::Failed);
    let reason = corpus.summary.reason.unwrap();
    assert_eq!(reason, "every conversation that the filter finds is dropped; the report says by which step");
    let report = corpus.report.unwrap();
    assert_eq!((report.funnel[0].step, report.funnel[0].dropped), (Step::Pii, 3));
    assert_eq!(report.funnel[0].reasons[0].reason, "email");
    assert_eq!(report.scan.found.keys().map(String::as_str).collect::<Vec<_>>(), ["aws_key", "email"]);

    let kept = built(&app, "all", json!({"filter": failed, "scan": {"pii": "keep", "secrets": "drop"}})).await;
    assert_eq!((kept.summary.state, kept.report.unwrap().funnel[0].dropped), (BuildState::Failed, 3));
    let kept = built(&app, "both", json!({"filter": failed, "scan": {"pii": "keep", "secrets": "keep"}})).await;
    assert_eq!(kept.summary.state, BuildState::Ready);
    let (text, _) = manifest(&app, &kept).await;
    assert!(!text.contains("jane"), "values are not repeated");
}

#[sqlx::test(migrations = "../migrations")]
async fn bad_orders_change_nothing(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let other = Uuid::nil().to_string();
    let spec = json!({
        "filter": {"min_overall": 11, "runs": [other, "'; DROP TABLE runs; --"], "judging": other, "top": [{"share": 0}]},
        "duplicates": {"near": 0.1}, "limit": 0, "split": {"golden": 1.5}
    });
    let places: Vec<String> =
        app.refused(LIST, &json!({"name": "../x", "spec": spec})).await.into_iter().map(|(at, _)| at).collect();
    assert_eq!(
        places,
        [
            "/spec/filter/runs/1",
            "/spec/filter/min_overall",
            "/spec/filter/top/0/share",
            "/spec/duplicates/near",
            "/spec/limit",
            "/spec/split/golden",
            "/spec/filter/runs/0",
            "/spec/filter/judging",
            "/name"
        ]
    );
    for (body, at) in [
        (json!({"name": "a", "spec": {"filter": {"persona": []}}}), "/spec/filter/persona"),
        (json!({"name": "a", "spec": {"balance": {"by": "mood"}}}), "/spec/balance/by"),
        (json!({"spec": {}}), "/name"),
    ] {
        assert_eq!(app.refused(LIST, &body).await[0].0, at, "{body}");
    }
    let empty = built(&app, "empty", json!({})).await;
    let reason = empty.summary.reason.unwrap();
    assert_eq!(reason, "no conversation of the project has ended yet; play a run first");
    let (status, _) = app.send(Method::POST, LIST, &json!({"name": "empty"})).await;
    assert_eq!(status, StatusCode::CONFLICT, "the name is taken");
    assert_eq!(app.json::<Page<CorpusSummary>>(LIST).await.items.len(), 1);
    for path in ["", "/manifest", "/conversations"] {
        app.problem(&format!("/api/v1/corpora/{}{path}", Uuid::nil()), StatusCode::NOT_FOUND).await;
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn nobody_sees_half_of_a_corpus(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    played(&pool, &[HELP, HANDOVER], 8, 7, &[]).await;
    let asked: CorpusSummary = app.post(LIST, &json!({"name": "v1"})).await;
    let (id, at) = (asked.id.parse::<Uuid>().unwrap(), format!("/api/v1/corpora/{}", asked.id));
    // A builder that is there keeps others away; when it dies, the next one begins from nothing.
    let (dying, job) = claimed(&pool).await;
    let mut db = pool.acquire().await.unwrap();
    jobs::report_progress(&mut db, dying, &[(job.unwrap(), JobProgress::new("read", 3, Some(8)))]).await.unwrap();
    assert_eq!(claimed(&pool).await.1, None);
    let doing: CorpusDetail = app.json(&at).await;
    let how_far = doing.summary.doing.map(|doing| (doing.step, doing.done, doing.total));
    assert_eq!((doing.summary.state, how_far), (BuildState::Building, Some(("read".to_owned(), 3, Some(8)))));
    app.problem(&format!("{at}/manifest"), StatusCode::CONFLICT).await;
    assert_eq!(app.json::<Page<CorpusConversation>>(&format!("{at}/conversations")).await.items, []);
    players::leave(&mut db, dying).await.unwrap();

    support::jobs::done(&pool, app.files(), JobKind::Corpus, id).await;
    assert_eq!(app.json::<CorpusDetail>(&at).await.summary.state, BuildState::Ready);
}

#[sqlx::test(migrations = "../migrations")]
async fn cancelled_and_deleted(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    played(&pool, &[HELP], 2, 7, &[]).await;
    let asked: CorpusSummary = app.post(LIST, &json!({"name": "v1"})).await;
    let at = format!("/api/v1/corpora/{}", asked.id);
    let (builder, job) = claimed(&pool).await;
    let cancelled: CorpusSummary = app.post(&format!("{at}/cancel"), &json!({})).await;
    assert_eq!(cancelled.state, BuildState::Cancelled);
    select(&app, &asked.id).await;
    assert_eq!(app.json::<CorpusDetail>(&at).await.summary.state, BuildState::Cancelled);
    let (status, _) = app.send(Method::POST, &format!("{at}/cancel"), &json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT);
    // What was being found out when it was cancelled counts for nothing.
    let (mut tx, job) = (pool.begin().await.unwrap(), job.unwrap());
    assert!(!jobs::hold(&mut tx, builder, job).await.unwrap());
    assert!(!jobs::end(&mut tx, builder, job, Ending { failure: None, report: Some(&json!({})) }, None).await.unwrap());
    drop(tx);

    let delete = async |path: &str| app.request(Method::DELETE, path).send().await.unwrap().status();
    assert_eq!(delete(&at).await, StatusCode::NO_CONTENT);
    assert_eq!(delete(&at).await, StatusCode::NOT_FOUND);
    // What was exported from a corpus keeps it.
    let exported = built(&app, "v1", json!({})).await.summary.id;
    let order = json!({"source": {"corpus": {"id": exported}}, "profile": "canonical"});
    app.post::<ExportSummary>("/api/v1/projects/default/exports", &order).await;
    assert_eq!(delete(&format!("/api/v1/corpora/{exported}")).await, StatusCode::CONFLICT);
    assert_eq!(app.status(&format!("/api/v1/corpora/{exported}")).await, StatusCode::OK);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_failed_or_was_cancelled_is_built_again(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let spec = json!({"split": {"golden": 0, "seed": 5}, "limit": 1});
    let failed = built(&app, "early", spec.clone()).await;
    assert_eq!((failed.summary.state, failed.report.is_some()), (BuildState::Failed, true));
    played(&pool, &[HELP], 2, 7, &[]).await;
    let cancelled: CorpusSummary = app.post(LIST, &json!({"name": "cancelled", "spec": spec})).await;
    app.post::<CorpusSummary>(&format!("/api/v1/corpora/{}/cancel", cancelled.id), &json!({})).await;
    for id in [failed.summary.id, cancelled.id] {
        let at = format!("/api/v1/corpora/{id}");
        let begun: CorpusSummary = app.post(&format!("{at}/retry"), &json!({})).await;
        assert_eq!((begun.state, begun.reason, begun.finished_at), (BuildState::Building, None, None));
        let (status, _) = app.send(Method::POST, &format!("{at}/retry"), &json!({})).await;
        assert_eq!(status, StatusCode::CONFLICT, "it is being built");
        select(&app, &id).await;
        let ready: CorpusDetail = app.json(&at).await;
        assert_eq!((ready.summary.state, ready.summary.train), (BuildState::Ready, 1));
        assert_eq!(serde_json::to_value(&ready.spec).unwrap()["limit"], spec["limit"], "by the same selection");
        let (status, problem) = app.send(Method::POST, &format!("{at}/retry"), &json!({})).await;
        assert_eq!(status, StatusCode::CONFLICT, "{problem}");
        assert_eq!(problem["detail"], "the corpus is ready; only what failed or was cancelled is built again");
    }
    let (status, _) = app.send(Method::POST, &format!("/api/v1/corpora/{}/retry", Uuid::nil()), &json!({})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrations = "../migrations")]
async fn who_only_looks_selects_nothing(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    planned(&pool, &[HELP], 1, 1, &[]).await;
    let corpus: CorpusSummary = app.post(LIST, &json!({"name": "v1"})).await;
    let viewer = app.member(Role::Viewer).await;
    let at = format!("/api/v1/corpora/{}", corpus.id);
    assert_eq!((viewer.status(LIST).await, viewer.status(&at).await), (StatusCode::OK, StatusCode::OK));
    for (method, path) in [
        (Method::POST, LIST.to_owned()),
        (Method::POST, format!("{LIST}/preview")),
        (Method::POST, format!("{at}/cancel")),
        (Method::POST, format!("{at}/retry")),
        (Method::DELETE, at.clone()),
    ] {
        let (status, _) = viewer.send(method, &path, &json!({"name": "v2"})).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
    }
    let author = app.member(Role::Author).await;
    assert_eq!(author.post::<CorpusSummary>(LIST, &json!({"name": "v2"})).await.state, BuildState::Building);
}
