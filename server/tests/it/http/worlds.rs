//! /api/v1/conversations/{id}/world and /api/v1/conversations/{id}/provenance

use domain::Event;
use domain::api::{Page, Provenance, WorldVersion};
use domain::event::EventKind;
use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::TestApp;
use crate::support::logged::Logged;
use crate::support::play::{HELP, TRANSFER, planned, played, stories};

#[sqlx::test(migrations = "../migrations")]
async fn any_version_of_a_world(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[TRANSFER], 1, 1, &[]).await;
    let [story] = stories(&player).await.try_into().unwrap_or_else(|_| panic!("one story"));
    let path = format!("/api/v1/conversations/{}/world", story.planned.id);
    let last: WorldVersion = app.json(&path).await;
    assert!(last.version > 1, "a transfer changes the world: {}", last.version);
    let mut hashes = Vec::new();
    for version in 0..=last.version {
        let found: WorldVersion = app.json(&format!("{path}?version={version}")).await;
        assert_eq!((found.version, found.last_version), (version, last.version));
        assert_eq!(engine::World::new(&found.world).hash(), found.hash, "the hash is that of the document");
        hashes.push(found.hash);
    }
    let started = story.events.iter().find_map(|event| match &event.kind {
        EventKind::Started { world_hash, .. } => Some(world_hash.clone()),
        _ => None,
    });
    assert_eq!(hashes.first(), started.as_ref());
    assert_eq!(hashes.last(), Some(&last.hash));
    let beyond = app.problem(&format!("{path}?version={}", last.version + 1), StatusCode::NOT_FOUND).await;
    assert!(beyond.ends_with(&format!("has no version {}, only 0 to {}", last.version + 1, last.version)), "{beyond}");
    for version in ["x", "-1", "1.5"] {
        app.problem(&format!("{path}?version={version}"), StatusCode::BAD_REQUEST).await;
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn events_come_in_pages_up_to_any_version(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[TRANSFER], 1, 1, &[]).await;
    let [story] = stories(&player).await.try_into().unwrap_or_else(|_| panic!("one story"));
    let path = format!("/api/v1/conversations/{}/events", story.planned.id);
    let whole: Page<Event> = app.json(&format!("{path}?limit=200")).await;
    assert_eq!((&whole.items, &whole.next), (&story.events, &None));
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page: Page<Event> = app.json(&format!("{path}?limit=3{after}")).await;
        assert!(page.items.len() == 3 || page.next.is_none());
        all.extend(page.items);
        let Some(next) = page.next else { break };
        after = format!("&after={next}");
    }
    assert_eq!(all, story.events);
    let logged = Logged::watch();
    let _: Page<Event> = app.json(&format!("{path}?limit=3")).await;
    let read = |statement: &str| logged.count(&format!("FROM events WHERE task_id = $1 {statement}"));
    assert_eq!(
        (read("AND seq > $2 ORDER BY seq LIMIT $3"), read("ORDER BY seq")),
        (1, 0),
        "no more than the page is read"
    );
    drop(logged);
    // What happened up to a version leads to its world, and nothing more does not lead to the next.
    let last: WorldVersion = app.json(&format!("/api/v1/conversations/{}/world", story.planned.id)).await;
    let changes = |events: &[Event]| {
        let changed =
            |event: &&Event| matches!(&event.kind, EventKind::ToolAnswered { patch, .. } if !patch.is_empty());
        u32::try_from(events.iter().filter(changed).count()).unwrap()
    };
    for version in 0..=last.version {
        let then: Page<Event> = app.json(&format!("{path}?limit=200&version={version}")).await;
        assert_eq!(changes(&then.items), version);
        let more = &story.events[..(then.items.len() + 1).min(story.events.len())];
        assert!(changes(more) == version + 1 || version == last.version);
    }
    app.problem(&format!("{path}?version={}", last.version + 1), StatusCode::NOT_FOUND).await;
    for query in ["version=x", "after=x", "limit=0", "limit=201", "skip=1"] {
        app.problem(&format!("{path}?{query}"), StatusCode::BAD_REQUEST).await;
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn where_a_value_comes_from(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[TRANSFER], 1, 1, &[]).await;
    let [story] = stories(&player).await.try_into().unwrap_or_else(|_| panic!("one story"));
    let ask = |pointer: &str| format!("/api/v1/conversations/{}/provenance?pointer={pointer}", story.planned.id);
    let wrote = story.events.iter().rev().find_map(|event| match &event.kind {
        EventKind::ToolAnswered { call_id, patch, .. } => Some((event.seq, call_id.clone(), patch.last()?.clone())),
        _ => None,
    });
    let (seq, call_id, op) = wrote.unwrap();
    let written: Provenance = app.json(&ask(op.path())).await;
    assert_eq!(written.value, *op.value().unwrap());
    let writer = written.written_by.unwrap();
    assert_eq!((writer.seq, writer.call_id), (seq, call_id));
    // In an earlier version it is what it was then, and nobody has written what is written later.
    let last: WorldVersion = app.json(&format!("/api/v1/conversations/{}/world", story.planned.id)).await;
    for version in 0..=last.version {
        let world: WorldVersion =
            app.json(&format!("/api/v1/conversations/{}/world?version={version}", story.planned.id)).await;
        let asked = format!("{}&version={version}", ask(op.path()));
        match world.world.pointer(op.path()) {
            None => drop(app.problem(&asked, StatusCode::NOT_FOUND).await),
            Some(value) => {
                let then: Provenance = app.json(&asked).await;
                assert_eq!(then.value, *value, "version {version}");
                assert!(then.written_by.is_none_or(|writer| writer.seq < seq || version == last.version), "{version}");
            }
        }
    }
    let beyond = format!("{}&version={}", ask("/payees"), last.version + 1);
    app.problem(&beyond, StatusCode::NOT_FOUND).await;
    let there: Provenance = app.json(&ask("/payees")).await;
    assert_eq!(there.written_by, None, "{}", there.value);
    app.problem(&ask("/payees/nobody"), StatusCode::NOT_FOUND).await;
    let detail = app.problem(&ask("payees"), StatusCode::BAD_REQUEST).await;
    assert_eq!(detail, "`pointer`: `payees` is not a JSON pointer: it starts with `/`");
    let none = format!("/api/v1/conversations/{}/provenance", story.planned.id);
    app.problem(&none, StatusCode::BAD_REQUEST).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn worlds_are_kept_once(pool: PgPool) {
    planned(&pool, &[HELP, TRANSFER], 40, 1, &[]).await;
    planned(&pool, &[TRANSFER], 3, 2, &[]).await;
    let whole: i64 =
        sqlx::query_scalar("SELECT count(*) FROM worlds WHERE base IS NULL").fetch_one(&pool).await.unwrap();
    let all: i64 = sqlx::query_scalar("SELECT count(*) FROM worlds").fetch_one(&pool).await.unwrap();
    assert_eq!(whole, 1);
    assert!((2..=3).contains(&all), "{all}");
    let refused = sqlx::query("UPDATE worlds SET content = '{}'").execute(&pool).await.unwrap_err().to_string();
    assert!(refused.contains("rows of worlds are only appended"), "{refused}");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_base_may_have_been_the_world_of_a_scenario(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[TRANSFER], 1, 1, &[]).await;
    let id = stories(&player).await[0].planned.id;
    let path = format!("/api/v1/conversations/{id}/world?version=0");
    let before: WorldVersion = app.json(&path).await;
    let mut tx = pool.begin().await.unwrap();
    let world = engine::World::new(&before.world);
    let patch: domain::patch::Patch =
        serde_json::from_value(json!([{"op": "add", "path": "/late", "value": 1}])).unwrap();
    let (hash, now) = (world.apply(&patch).unwrap().hash(), store::clock::now());
    store::worlds::insert_on_base(&mut tx, &hash, &before.hash, &patch, now).await.unwrap();
    tx.commit().await.unwrap();
    sqlx::query("UPDATE tasks SET world = $1").bind(&hash).execute(&pool).await.unwrap();
    let after: WorldVersion = app.json(&path).await;
    assert_eq!((after.hash, &after.world["late"]), (hash, &json!(1)));
}

#[sqlx::test(migrations = "../migrations")]
async fn unknown_conversations_and_such_from_before(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    for id in ["x", "0198c0de-0000-7000-8000-000000000000"] {
        let detail = app.problem(&format!("/api/v1/conversations/{id}/world"), StatusCode::NOT_FOUND).await;
        assert_eq!(detail, format!("there is no conversation {id}"));
    }
    let player = played(&pool, &[HELP], 1, 1, &[]).await;
    sqlx::query("UPDATE tasks SET world = NULL").execute(&pool).await.unwrap();
    let id = stories(&player).await[0].planned.id;
    let detail = app.problem(&format!("/api/v1/conversations/{id}/world"), StatusCode::NOT_FOUND).await;
    assert_eq!(detail, format!("the world of conversation {id} was not kept: it is too old"));
    let whole: Value = app.json(&format!("/api/v1/conversations/{id}")).await;
    assert_eq!(whole["run_id"], player.control.run.id.to_string());
}
