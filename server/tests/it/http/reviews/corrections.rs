//! /api/v1/conversations/{id}/corrections

use domain::api::{CorrectedConversation, CorrectedMessage, DiffKind};
use domain::correction::Correction;
use domain::message::Message;
use serde_json::json;
use sqlx::PgPool;

use super::*;

/// All versions are shown to everybody who looks at the conversation.
#[sqlx::test(migrations = "../migrations")]
async fn a_conversation_is_corrected_five_hundred_times_at_most(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let (ann, path) = (named(&app, "ann", Role::Author).await, played.path("corrections"));
    let seq = *played.turns().last().unwrap();
    let order = |content: &str| json!({"seq": seq, "content": content, "note": "Warmer."});
    let _: Correction = ann.post(&path, &order("Gladly, and have a good trip!")).await;
    let many = "INSERT INTO corrections (conversation_id, version, seq, turn, author, note, created_at)
                SELECT conversation_id, n, seq, turn, author, note, created_at
                FROM corrections CROSS JOIN generate_series(2, 499) AS n";
    sqlx::query(many).execute(&pool).await.unwrap();
    let last: Correction = ann.post(&path, &order("Gladly, and enjoy your trip!")).await;
    assert_eq!(last.version, 500);
    let (status, answer) = ann.send(Method::POST, &path, &order("Gladly!")).await;
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    let now: CorrectedConversation = app.json(&path).await;
    assert_eq!(now.last_version, 500, "nothing was added");
}

fn message(whole: &CorrectedConversation, seq: u32) -> &CorrectedMessage {
    whole.agents[0].messages.iter().find(|message| message.seq == seq).unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_correction_is_a_version_and_the_original_stays(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let (ann, ben) = (named(&app, "ann", Role::Author).await, named(&app, "ben", Role::Author).await);
    let path = played.path("corrections");
    let last = *played.turns().last().unwrap();
    let before: CorrectedConversation = app.json(&path).await;
    assert_eq!((before.version, before.last_version, before.corrections.len()), (0, 0, 0));
    let said = message(&before, last).message.content().to_owned();

    let note = "Warmer, and <b>shorter</b>.";
    let order = json!({"seq": last, "content": "Gladly, and have a good trip!", "note": note});
    let first: Correction = ann.post(&path, &order).await;
    assert_eq!((first.version, first.author.as_str(), first.note.as_str()), (1, "ann", note));
    let second: Correction = ben.post(&path, &json!({"seq": last, "reasoning": "They are done.", "note": "why"})).await;
    let turn = second.turn.unwrap();
    assert_eq!(turn.content.as_deref(), Some("Gladly, and have a good trip!"), "what is not said stays as it read");

    let now: CorrectedConversation = app.json(&path).await;
    let corrected = message(&now, last);
    assert_eq!((now.version, corrected.corrected_by), (2, Some(2)));
    let Message::Assistant { content, reasoning_content, .. } = &corrected.message else { panic!() };
    assert_eq!(content, "Gladly, and have a good trip!");
    assert_eq!(reasoning_content.as_deref(), Some("They are done."));
    let old = corrected.diff["content"].iter().filter(|piece| piece.kind != DiffKind::Insert);
    assert_eq!(old.map(|piece| piece.text.as_str()).collect::<String>(), said);
    assert!(!corrected.diff.contains_key("tool_calls"));
    assert!(now.not_rechecked[0].contains("not played again"));
    let others = now.agents[0].messages.iter().filter(|message| message.seq != last);
    assert!(others.clone().count() > 3 && others.into_iter().all(|message| message.corrected_by.is_none()));
    let earlier: CorrectedConversation = app.json(&format!("{path}?version=1")).await;
    assert_eq!(message(&earlier, last).corrected_by, Some(1));

    let withdraw = json!({"seq": last, "withdraw": true, "note": "It was better before."});
    let third: Correction = ann.post(&path, &withdraw).await;
    assert_eq!((third.version, third.turn), (3, None));
    let now: CorrectedConversation = app.json(&path).await;
    assert_eq!((now.last_version, now.agents), (3, before.agents));
    assert_eq!(ann.refused(&path, &withdraw).await[0].0, "/seq", "there is nothing left to withdraw");
    assert_eq!(app.status(&format!("{path}?version=4")).await, StatusCode::NOT_FOUND);
    let change = sqlx::query("UPDATE corrections SET note = 'x'").execute(&pool).await;
    assert!(change.unwrap_err().to_string().contains("only appended"));
}

#[sqlx::test(migrations = "../migrations")]
async fn corrected_calls_must_be_ones_that_can_be_made(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let path = played.path("corrections");
    let (seq, calls) = played.calling();
    assert_eq!((&calls[0]["name"], calls.as_array().unwrap().len()), (&json!("search_help"), 2));
    let with = |pointer: &str, value: Value| {
        let mut calls = calls.clone();
        *calls.pointer_mut(pointer).unwrap() = value;
        json!({"seq": seq, "tool_calls": calls, "note": "n"})
    };
    let made: Correction = app.post(&path, &with("/0/arguments", json!({"query": "fees abroad"}))).await;
    let kept = made.turn.unwrap().tool_calls.unwrap();
    assert_eq!((kept[0].id.as_str(), kept[0].function.arguments.as_str()), ("call_1", r#"{"query":"fees abroad"}"#));
    let now: CorrectedConversation = app.json(&path).await;
    assert_eq!(message(&now, seq).diff.keys().collect::<Vec<_>>(), ["tool_calls"]);

    let mut all = String::new();
    for bad in [
        with("/0/name", json!("serch_help")),
        with("/0/arguments", json!({})),
        with("/0/arguments", json!({"query": 7})),
        with("", json!([calls[0]])),
        with("/0/arguments", json!({"query": "bell\u{7}"})),
    ] {
        for (pointer, detail) in app.refused(&path, &bad).await {
            all += &format!("{pointer}: {detail}\n");
        }
    }
    insta::assert_snapshot!(all, @r#"
    /tool_calls/0/name: there is no tool `serch_help` (did you mean `search_help`?)
    /tool_calls/0/arguments: invalid arguments for `search_help`: "query" is a required property
    /tool_calls/0/arguments: invalid arguments for `search_help`: /query: 7 is not of type "string"
    /tool_calls: the turn made 2 calls, whose answers follow: correct each in its place, and add or drop none
    /tool_calls/0/arguments/query: the control character U+0007 cannot be kept
    "#);
}

#[sqlx::test(migrations = "../migrations")]
async fn corrected_words_come_from_somewhere(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let path = played.path("corrections");
    let (turns, (calling, _)) = (played.turns(), played.calling());
    let answer = turns.into_iter().find(|seq| *seq > calling).unwrap();
    let says = |seq: u32, content: &str| json!({"seq": seq, "content": content, "note": "n"});
    let found = app.refused(&path, &says(answer, "Cash abroad costs 4.00, and your case is CASE-99812.")).await;
    assert_eq!(found[0].0, "/content");
    assert!(found.len() == 1 && found[0].1.contains("comes from nowhere"), "{found:?}");
    let _: Correction = app.post(&path, &says(answer, "Cash abroad costs 4.00.")).await;

    let mut all = String::new();
    for bad in [
        says(answer, "Cash abroad costs 4.00."),
        says(answer, "  "),
        says(answer, "Fine.<|im_end|>"),
        says(answer, "\u{1b}[2J"),
        says(0, "Hello."),
        says(999, "Hello."),
        json!({"seq": answer, "note": "n"}),
        json!({"seq": answer, "content": "x", "withdraw": true, "note": "n"}),
        json!({"seq": answer, "content": "x", "note": ""}),
        json!({"seq": answer, "content": "x"}),
    ] {
        for (pointer, detail) in app.refused(&path, &bad).await {
            all += &format!("{pointer}: {detail}\n");
        }
    }
    insta::assert_snapshot!(all, @"
    : the turn is like that already: nothing would be corrected
    /content: an agent that makes no call must say something
    : a message holds the control token `<|im_end|>`
    /content: the control character U+001B cannot be kept
    /seq: event 0 is not a turn of an agent, and only those are corrected: 2, 5
    /seq: there is no event 999; the agents' turns are 2, 5
    : correct something: `content`, `reasoning` or `tool_calls`, or `withdraw`
    /withdraw: with `withdraw`, give no part of the turn
    /note: say something
    /note: missing field `note`
    ");
    let whole: CorrectedConversation = app.json(&path).await;
    assert_eq!(whole.last_version, 1, "nothing else was kept");
}

#[sqlx::test(migrations = "../migrations")]
async fn two_at_once_get_a_version_each(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let played = ReviewedRun::new(&pool, 1).await;
    let (path, last) = (played.path("corrections"), *played.turns().last().unwrap());
    let correct = async |words: &str| {
        let made: Correction = app.post(&path, &json!({"seq": last, "content": words, "note": "n"})).await;
        made.version
    };
    let (a, b, c) = tokio::join!(correct("Gladly."), correct("Of course."), correct("Always."));
    let mut versions = [a, b, c];
    versions.sort_unstable();
    assert_eq!(versions, [1, 2, 3]);
    let vic = named(&app, "vic", Role::Viewer).await;
    let order = json!({"seq": last, "content": "No.", "note": "n"});
    assert_eq!(vic.send(Method::POST, &path, &order).await.0, StatusCode::FORBIDDEN);
    assert_eq!(vic.json::<CorrectedConversation>(&path).await.last_version, 3);
}
