//! Runs in every state, in a database of the version before tasks: they keep all that they had, and go on.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::api::RunState;
use domain::role::Role;
use domain::{Event, EventKind};
use generation::ConversationRun;
use runtime::ModelClients;
use sqlx::PgPool;
use sqlx::migrate::Migrator;
use store::claims::{self, ClaimRequest};
use store::players;
use store::{control, events, runs};
use uuid::Uuid;

use super::emptied;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HELP, LEASE, TRANSFER, hasty, planned, play_all, stories, timeless, wanted};
use crate::support::{agent, ledger};

const PLAY_TASKS: i64 = 20_261_126_190_000;

/// What `play_tasks` does, undone: a test below holds the result against the schema of the version before.
const BEFORE_TASKS: &str = include_str!("before_tasks.sql");

/// Tables, columns with their types, constraints, indexes, functions and triggers.
async fn schema(pool: &PgPool) -> Vec<String> {
    let query = "
        SELECT format('column %s.%s %s %s', table_name, column_name, data_type, is_nullable) FROM information_schema.columns
        WHERE table_schema = 'public'
        UNION ALL SELECT format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
        ORDER BY 1";
    sqlx::query_scalar(query).fetch_all(pool).await.unwrap()
}

/// Runs as players leave them behind. Each has a conversation of its own.
struct Left {
    finished: Uuid,
    failed_to_judge: Uuid,
    paused: Uuid,
    cancelled: Uuid,
    in_the_middle: Uuid,
    not_begun: Uuid,
}

async fn left_behind(pool: &PgPool, judges: &Endpoint) -> Left {
    let finished = play_all(planned(pool, &[HELP, TRANSFER], 4, 7, &[]).await, 2).await.control.run.id;
    let judge = [(Role::Judge, judges.model())];
    let unjudged = play_all(planned(pool, &[TRANSFER], 1, 7, &judge).await, 1).await.control.run.id;
    let mut db = pool.acquire().await.unwrap();
    let paused = planned(pool, &[HELP], 3, 7, &[]).await.control.run.id;
    control::pause(&mut db, paused, Some("for the night")).await.unwrap();
    let cancelled = planned(pool, &[HELP], 3, 7, &[]).await.control.run.id;
    control::cancel(&mut db, cancelled).await.unwrap();
    let in_the_middle = planned(pool, &[TRANSFER], 2, 7, &[]).await.control.run.id;
    cut_off(pool, in_the_middle, finished).await;
    let not_begun = planned(pool, &[TRANSFER], 2, 7, &[]).await.control.run.id;
    control::pause(&mut db, not_begun, None).await.unwrap();
    Left { finished, failed_to_judge: unjudged, paused, cancelled, in_the_middle, not_begun }
}

/// A player has claimed the run, has kept the first events of one conversation, and is gone.
async fn cut_off(pool: &PgPool, run: Uuid, played: Uuid) {
    let mut db = pool.acquire().await.unwrap();
    let gone = players::register(&mut db, "here", 1, LEASE).await.unwrap();
    claims::claim(&mut db, gone, &ClaimRequest { only: Some(run), ..wanted(8) }).await.unwrap().unwrap();
    // The same scenario, seed and repeat: the first conversation of the other run that plays it.
    let copy = "
        WITH old AS (SELECT * FROM tasks WHERE run_id = $2 AND scenario = $3 AND repeat = 0),
        begun AS (INSERT INTO tasks (id, run_id, position, scenario, repeat, persona, complexity, world, attempt)
                  SELECT gen_random_uuid(), $1, 0, scenario, repeat, persona, complexity, world, 1 FROM old RETURNING id)
        INSERT INTO events (task_id, seq, event, created_at)
        SELECT begun.id, seq, event, events.created_at FROM begun, old JOIN events ON task_id = old.id WHERE seq < 5";
    let copied = sqlx::query(copy).bind(run).bind(played).bind(TRANSFER).execute(pool).await.unwrap();
    assert_eq!(copied.rows_affected(), 5);
    players::leave(&mut db, gone).await.unwrap();
}

#[sqlx::test(migrations = "../migrations")]
async fn runs_of_the_version_before_keep_what_they_had_and_go_on(pool: PgPool) {
    let verdicts = Arc::new(AtomicBool::new(false));
    let judging = Arc::clone(&verdicts);
    let judges = Endpoint::start(move |_| {
        if judging.load(Ordering::Relaxed) { says(&agent::verdict().to_string()) } else { says("no verdict") }
    })
    .await;
    let left = left_behind(&pool, &judges).await;
    let clients = ModelClients::new(hasty());
    let finished = ConversationRun::load(&pool, left.finished, &clients).await.unwrap();
    let rows = timeless(&finished).await;

    sqlx::raw_sql(BEFORE_TASKS).execute(&pool).await.unwrap();
    sqlx::query("DELETE FROM _sqlx_migrations WHERE version >= $1").bind(PLAY_TASKS).execute(&pool).await.unwrap();
    let migrations = Migrator::new(Path::new("../migrations")).await.unwrap();
    migrations.run(&pool).await.unwrap();

    assert_eq!(timeless(&finished).await, rows, "rows are as before");
    ledger::check(&pool, left.finished).await;
    let mut db = pool.acquire().await.unwrap();
    for (run, state) in [
        (left.finished, RunState::Finished),
        (left.failed_to_judge, RunState::Finished),
        (left.paused, RunState::Paused),
        (left.cancelled, RunState::Cancelled),
        (left.in_the_middle, RunState::Running),
        (left.not_begun, RunState::Paused),
    ] {
        assert_eq!(runs::state_of(&mut db, run).await.unwrap(), Some(state));
    }
    assert!(control::resume(&mut db, left.cancelled).await.is_err());

    for run in [left.paused, left.not_begun] {
        control::resume(&mut db, run).await.unwrap();
    }
    for run in [left.paused, left.not_begun, left.in_the_middle] {
        let run = play_all(ConversationRun::load(&pool, run, &clients).await.unwrap(), 2).await;
        ledger::check(&pool, run.control.run.id).await;
    }
    let whole = stories(&ConversationRun::load(&pool, left.in_the_middle, &clients).await.unwrap()).await;
    assert_eq!(whole.len(), 2);

    // What was played to its end is judged again, and not played again.
    let before: Vec<Event> = events_of(&pool, left.failed_to_judge).await;
    verdicts.store(true, Ordering::Relaxed);
    assert_eq!(control::retry_failed(&mut db, left.failed_to_judge).await.unwrap(), 1);
    let run = play_all(ConversationRun::load(&pool, left.failed_to_judge, &clients).await.unwrap(), 1).await;
    let story = stories(&run).await.remove(0);
    let verified = before.iter().position(|event| matches!(event.kind, EventKind::Verified { .. })).unwrap();
    assert_eq!((story.planned.attempt, &story.events[..=verified]), (2, &before[..=verified]));
    ledger::check(&pool, left.failed_to_judge).await;
}

async fn events_of(pool: &PgPool, run: Uuid) -> Vec<Event> {
    let query = "SELECT id FROM tasks WHERE run_id = $1 AND NOT superseded";
    let id = sqlx::query_scalar(query).bind(run).fetch_one(pool).await.unwrap();
    events::of(&mut pool.acquire().await.unwrap(), id).await.unwrap()
}

#[sqlx::test(migrations = false)]
async fn what_is_undone_for_the_test_is_the_version_before(pool: PgPool) {
    let migrations = Migrator::new(Path::new("../migrations")).await.unwrap();
    let before = migrations.iter().map(|migration| migration.version).filter(|version| *version < PLAY_TASKS).max();
    migrations.run_to(before.unwrap(), emptied(&pool).await).await.unwrap();
    let expected = schema(&pool).await;
    migrations.run_to(PLAY_TASKS, &pool).await.unwrap();
    sqlx::raw_sql(BEFORE_TASKS).execute(&pool).await.unwrap();
    assert_same(&expected, &schema(&pool).await);
}

fn assert_same(expected: &[String], found: &[String]) {
    let missing: Vec<_> = expected.iter().filter(|line| !found.contains(line)).collect();
    let more: Vec<_> = found.iter().filter(|line| !expected.contains(line)).collect();
    assert!(missing.is_empty() && more.is_empty(), "missing {missing:#?}\nmore {more:#?}");
}
