//! Databases of earlier versions, brought up to date with what is in them.

mod runs;

use std::path::Path;
use std::time::Duration;

use domain::api::BuildState;
use domain::job::{JobKind, JobState};
use domain::progress::JobProgress;
use sqlx::PgPool;
use sqlx::migrate::Migrator;
use store::{corpora, exports, jobs, judgings, players, projects};
use strum::VariantArray;
use uuid::Uuid;

const CREATE_JOBS: i64 = 20_261_126_180_000;

/// Exports, corpora and judgings in every state, as the version before jobs kept them. Their ids end with the number.
const BEFORE_JOBS: &str = r#"
    INSERT INTO libraries (hash, files, created_at) VALUES ('h', '{}', now());
    INSERT INTO runs (id, project_id, library, playbook, seed, config, planned, created_at)
    VALUES ('00000000-0000-0000-0000-0000000000aa', '00000000-0000-7000-8000-000000000001', 'h', 'p', 1, '{}', 1, now());
    INSERT INTO exports (id, project_id, spec, run_id, state, reason, done, total, heartbeat_at, file_name, bytes, hash,
                         rows, report, created_by, created_at, finished_at)
    SELECT id::uuid, '00000000-0000-7000-8000-000000000001',
           '{"source": {"run": {"id": "00000000-0000-0000-0000-0000000000aa"}}, "profile": "canonical"}',
           '00000000-0000-0000-0000-0000000000aa', state, reason, done, 8,
           CASE state WHEN 'building' THEN now() END, 'f.jsonl', bytes, hash, bytes, report::json, 'ann',
           '2026-01-01T00:00:00Z', CASE WHEN state <> 'building' THEN '2026-01-02T00:00:00Z'::timestamptz END
    FROM (VALUES ('00000000-0000-0000-0000-000000000001', 'building', NULL, 3, NULL::bigint, NULL, NULL),
                 ('00000000-0000-0000-0000-000000000002', 'ready', NULL, 8, 7, repeat('a', 64), '{"parts": []}'),
                 ('00000000-0000-0000-0000-000000000003', 'failed', 'no room', 4, NULL, NULL, NULL),
                 ('00000000-0000-0000-0000-000000000004', 'cancelled', NULL, 5, NULL, NULL, NULL))
         AS known (id, state, reason, done, bytes, hash, report);
    INSERT INTO corpora (id, project_id, name, spec, state, reason, report, manifest_hash, created_by, created_at, finished_at,
                         step, done, total)
    SELECT id::uuid, '00000000-0000-7000-8000-000000000001', state, '{"limit": 9}', state, reason, NULL, hash, 'ben',
           '2026-01-01T00:00:00Z', CASE WHEN state <> 'building' THEN '2026-01-02T00:00:00Z'::timestamptz END, 'read', 2, 9
    FROM (VALUES ('00000000-0000-0000-0000-000000000011', 'building', NULL, NULL),
                 ('00000000-0000-0000-0000-000000000012', 'ready', NULL, 'hash'),
                 ('00000000-0000-0000-0000-000000000013', 'failed', 'nothing is left', NULL),
                 ('00000000-0000-0000-0000-000000000014', 'cancelled', NULL, NULL)) AS known (id, state, reason, hash);
    INSERT INTO judgings (id, run_id, library, models, original, created_at, state, reason, created_by)
    SELECT id::uuid, '00000000-0000-0000-0000-0000000000aa', 'h', '["scripted"]', original, '2026-01-01T00:00:00Z', state,
           reason, who
    FROM (VALUES ('00000000-0000-0000-0000-000000000020', true, 'finished', NULL, ''),
                 ('00000000-0000-0000-0000-000000000021', false, 'running', NULL, 'cid'),
                 ('00000000-0000-0000-0000-000000000022', false, 'finished', NULL, 'cid'),
                 ('00000000-0000-0000-0000-000000000023', false, 'failed', 'no answer', 'cid'),
                 ('00000000-0000-0000-0000-000000000024', false, 'cancelled', NULL, 'cid'),
                 ('00000000-0000-0000-0000-000000000025', false, 'finished', NULL, ''))
         AS known (id, original, state, reason, who)"#;

/// Of a number in hex, to be read like the ids above.
fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

/// Without tables: `cargo xtask test` puts ours into `template1`, of which databases are copies.
async fn emptied(pool: &PgPool) -> &PgPool {
    sqlx::raw_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public").execute(pool).await.unwrap();
    pool
}

#[sqlx::test(migrations = false)]
async fn what_was_being_made_goes_on_as_jobs_and_what_had_ended_stays(pool: PgPool) {
    let migrations = Migrator::new(Path::new("../migrations")).await.unwrap();
    let before = migrations.iter().map(|migration| migration.version).filter(|version| *version < CREATE_JOBS).max();
    migrations.run_to(before.unwrap(), emptied(&pool).await).await.unwrap();
    sqlx::raw_sql(BEFORE_JOBS).execute(&pool).await.unwrap();
    migrations.run(&pool).await.unwrap();
    let mut db = pool.acquire().await.unwrap();

    for (n, state, reason, done) in [
        (0x1, BuildState::Building, None, 0),
        (0x2, BuildState::Ready, None, 8),
        (0x3, BuildState::Failed, Some("no room"), 4),
        (0x4, BuildState::Cancelled, None, 5),
    ] {
        let export = exports::get(&mut db, id(n)).await.unwrap().unwrap();
        assert_eq!((export.state, export.reason.as_deref(), export.done, export.total), (state, reason, done, 8));
        assert_eq!((export.finished_at.is_none(), export.hash.is_some()), (n == 1, n == 2));
        assert_eq!((export.created_by.as_str(), export.file_name.as_str()), ("ann", "f.jsonl"));
        let changed = sqlx::query("UPDATE exports SET file_name = 'g.jsonl' WHERE id = $1").bind(id(n));
        assert_eq!(changed.execute(&mut *db).await.is_ok(), n == 1, "only what is still made changes");
    }
    for (n, state, reason) in [
        (0x11, BuildState::Building, None),
        (0x12, BuildState::Ready, None),
        (0x13, BuildState::Failed, Some("nothing is left")),
        (0x14, BuildState::Cancelled, None),
    ] {
        let (_, corpus) = corpora::get(&mut db, id(n)).await.unwrap().unwrap();
        assert_eq!(
            (corpus.summary.state, corpus.summary.reason.as_deref(), corpus.spec.limit),
            (state, reason, Some(9))
        );
        assert_eq!((corpus.summary.doing, corpus.summary.manifest_hash.is_some()), (None, n == 0x12));
    }
    let found = judgings::summaries(&mut db, id(0xaa), None).await.unwrap();
    let found: Vec<(String, &str, Option<&str>)> =
        found.iter().map(|one| (one.id.clone(), one.state.as_str(), one.reason.as_deref())).collect();
    assert_eq!(
        found,
        [
            (id(0x25).to_string(), "finished", None),
            (id(0x24).to_string(), "cancelled", None),
            (id(0x23).to_string(), "failed", Some("no answer")),
            (id(0x22).to_string(), "finished", None),
            (id(0x21).to_string(), "running", None),
            (id(0x20).to_string(), "finished", None),
        ]
    );

    // What was being made waits for whoever comes, and for nobody else.
    let player = players::register_for_jobs(&mut db, "here", 1, Duration::from_secs(15)).await.unwrap();
    let mut claimed = Vec::new();
    while let Some(job) = jobs::claim(&mut db, player, JobKind::VARIANTS, None).await.unwrap() {
        claimed.push((job.kind, job.subject, job.project));
    }
    claimed.sort();
    let waiting = [(JobKind::Export, 0x1), (JobKind::Corpus, 0x11), (JobKind::Judging, 0x21)];
    assert_eq!(claimed, waiting.map(|(kind, n)| (kind, id(n), Some(projects::DEFAULT))));
    let judging = jobs::current(&mut db, JobKind::Judging, id(0x21)).await.unwrap().unwrap();
    assert_eq!(
        (judging.state, judging.run, judging.created_by.as_str()),
        (JobState::Running, Some(id(0xaa).to_string()), "cid")
    );
    let ready = jobs::current(&mut db, JobKind::Corpus, id(0x12)).await.unwrap().unwrap();
    assert_eq!((ready.state, ready.doing), (JobState::Finished, Some(JobProgress::new("read", 2, Some(9)))));
    assert!(jobs::current(&mut db, JobKind::Judging, id(0x25)).await.unwrap().is_none(), "a command did it");
}
