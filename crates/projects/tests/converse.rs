//! Workflows that play scenarios of their project.
#![expect(clippy::unwrap_used, reason = "a test may fail so; the lint exempts test functions, but not their helpers")]

use std::path::Path;
use std::sync::{Arc, LazyLock};

use domain::chat::ChatReply;
use domain::seed::Seed;
use domain::task::{Next, Request, Resolution, Task};
use projects::library::{Files, workflows};
use serde_json::{Map, Value, json};
use workflow::{Responder, Row, RowEvent, Workflow};

/// The documents that are shipped, without their workflows.
static SHIPPED: LazyLock<Files> = LazyLock::new(|| {
    let all = Files::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap();
    let mut files = Files::default();
    for folder in ["playbooks", "scenarios", "personas", "judges"] {
        files.extend(all.under(folder).map(|(path, text)| (path.clone(), text.clone())));
    }
    files
});

/// One conversation, whose agent is called otherwise.
const ONE: &str = r"
workflow: played
input: {scenario: text, persona: text?}
steps:
  talk: {converse: {scenario: scenario, persona: persona, roles: {agent: student}}}
output: {talk: talk}
";

/// Two at once.
const SEVERAL: &str = r"
workflow: played
input: {scenarios: list<text>}
steps:
  talks:
    map: scenarios
    as: scenario
    steps:
      talk: {converse: {scenario: scenario}}
    yields: {messages: talk.messages, reward: talk.reward}
output: {talks: talks}
";

fn with(document: &str) -> Files {
    let mut files = SHIPPED.clone();
    files.insert("workflows/played/workflow.yaml", document.to_owned());
    files
}

fn compiled(document: &str) -> Arc<Workflow> {
    let (mut workflows, problems) = workflows::compile(&with(document));
    workflows.remove("played").unwrap_or_else(|| panic!("{problems:#?}"))
}

fn problems(files: &Files) -> Vec<String> {
    workflows::compile(files).1.iter().map(ToString::to_string).collect()
}

fn begin(workflow: &Arc<Workflow>, input: &Value) -> Row {
    Row::begin(workflow, input.as_object().unwrap(), Seed::new(1, "played", 0)).unwrap()
}

/// Plays a row to its end, choosing among its open requests.
fn finish(
    row: &mut Row,
    mut choose: impl FnMut(usize) -> usize,
    mut answer: impl FnMut(&Row, &Request<Responder>) -> Resolution,
) -> Vec<RowEvent> {
    let mut events = Vec::new();
    loop {
        match row.next() {
            Next::Done => return events,
            Next::Act => events.extend(row.act()),
            Next::Wait(requests) => {
                let request = &requests[choose(requests.len())];
                let resolution = answer(row, request);
                events.extend(row.resolve(request, resolution));
            }
        }
    }
}

fn scripted(row: &Row, request: &Request<Responder>) -> Resolution {
    row.stand_in(request)
}

fn output(row: &Row) -> Map<String, Value> {
    row.output().cloned().unwrap_or_else(|| panic!("{:?}", row.ending()))
}

fn role(request: &Request<Responder>) -> &'static str {
    match &request.to {
        Responder::Model(role) => role.as_str(),
        other => panic!("{other:?}"),
    }
}

fn says(content: &str) -> Resolution {
    Resolution::Reply(ChatReply { content: content.to_owned(), ..ChatReply::default() })
}

#[test]
fn a_conversation_gives_its_messages_its_outcome_its_reward_and_its_scores() {
    let mut row = begin(&compiled(ONE), &json!({"scenario": "dispute_duplicate_cafe"}));
    let mut asked = std::collections::BTreeSet::new();
    finish(
        &mut row,
        |_| 0,
        |row, request| {
            asked.insert(role(request));
            let prompt = row.prompt(request).unwrap();
            assert_eq!(prompt.role.as_str(), role(request));
            scripted(row, request)
        },
    );
    assert!(asked.contains("student") && asked.contains("simulated_user") && !asked.contains("agent"), "{asked:?}");
    let talk = &output(&row)["talk"];
    assert_eq!(talk["reward"], 1);
    assert_eq!((&talk["accepted"], &talk["verified"], &talk["blame"]), (&json!(true), &json!(true), &Value::Null));
    assert_eq!((&talk["scenario"], &talk["playbook"]), (&json!("dispute_duplicate_cafe"), &json!("retail_bank")));
    assert!(talk["scores"].as_object().is_some_and(|scores| !scores.is_empty()), "{}", talk["scores"]);
    assert!(talk["tool_calls"].as_u64().unwrap() > 0 && talk["turns"].as_u64().unwrap() > 0);
    let messages = talk["messages"].as_array().unwrap();
    assert_eq!((&messages[0]["role"], &messages.last().unwrap()["role"]), (&json!("system"), &json!("assistant")));
    let called = messages.iter().find_map(|message| message["tool_calls"][0]["function"]["name"].as_str());
    let known = talk["tools"].as_array().unwrap();
    assert!(known.iter().any(|tool| tool["function"]["name"].as_str() == called), "{called:?}");
}

#[test]
fn a_row_goes_on_from_any_of_its_events() {
    let workflow = compiled(SEVERAL);
    let input = json!({"scenarios": ["dispute_duplicate_cafe", "airplane_mode_after_flight"]});
    let mut whole = begin(&workflow, &input);
    let events = finish(&mut whole, |_| 0, scripted);
    assert!(events.len() > 10);
    for kept in 0..events.len() {
        let seed = Seed::new(1, "played", 0);
        let mut row = Row::resume(&workflow, input.as_object().unwrap(), seed, &events[..kept]).unwrap();
        let rest = finish(&mut row, |_| 0, scripted);
        assert_eq!(rest, events[kept..], "after {kept} events");
        assert_eq!(output(&row), output(&whole));
    }
}

#[test]
fn the_order_of_replies_changes_nothing() {
    let workflow = compiled(SEVERAL);
    let input = json!({"scenarios": ["dispute_duplicate_cafe", "double_booking_other_room", "dispute_duplicate_cafe"]});
    let mut first = begin(&workflow, &input);
    finish(&mut first, |_| 0, scripted);
    let talks = &output(&first)["talks"];
    assert_eq!(talks[0]["reward"], 1);
    assert_ne!(talks[0]["messages"], talks[2]["messages"], "each has its own draws");
    for seed in 1..12_usize {
        let mut row = begin(&workflow, &input);
        let mut draws = seed;
        let choose = |open: usize| {
            draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (draws >> 33) % open
        };
        finish(&mut row, choose, scripted);
        assert_eq!(output(&row), output(&first), "{seed}");
    }
}

#[test]
fn what_the_agent_fails_has_reward_0_and_what_others_fail_has_none() {
    let workflow = compiled(ONE);
    let played = |spoiler: &str, reply: &str| {
        let mut row = begin(&workflow, &json!({"scenario": "dispute_duplicate_cafe"}));
        finish(
            &mut row,
            |_| 0,
            |row, request| if role(request) == spoiler { says(reply) } else { scripted(row, request) },
        );
        output(&row)["talk"].clone()
    };
    let agent = played("student", "I am sorry, I cannot do that.");
    assert_eq!((&agent["reward"], &agent["blame"], &agent["accepted"]), (&json!(0), &json!("agent"), &json!(false)));
    assert!(!agent["messages"].as_array().unwrap().is_empty() && agent["reason"] != "");
    let judge = played("judge", "no verdict at all");
    assert_eq!((&judge["reward"], &judge["blame"]), (&Value::Null, &json!("judge")));
    assert_eq!(judge["verified"], true, "the program's checks are kept");
}

#[test]
fn a_lost_reply_is_played_again_and_one_without_an_end_is_repaired() {
    let workflow = compiled(ONE);
    let input = json!({"scenario": "dispute_duplicate_cafe"});
    let mut replies = 0;
    let mut lost = begin(&workflow, &input);
    let events = finish(
        &mut lost,
        |_| 0,
        |row, request| {
            replies += 1;
            if replies == 4 { Resolution::Lost { reason: "gone".to_owned() } } else { scripted(row, request) }
        },
    );
    let ending = lost.ending().unwrap();
    assert_eq!((ending.name.as_str(), ending.is_lost), ("no_answer", true));
    let through = usize::try_from(lost.keep_through().unwrap()).unwrap();
    let kept = &events[..=through];
    let mut again = Row::resume(&workflow, input.as_object().unwrap(), Seed::new(1, "played", 0), kept).unwrap();
    finish(&mut again, |_| 0, scripted);
    assert_eq!(output(&again)["talk"]["reward"], 1);

    let mut row = begin(&workflow, &input);
    let mut is_first = true;
    finish(
        &mut row,
        |_| 0,
        |row, request| {
            if role(request) == "student" && std::mem::take(&mut is_first) {
                let reply = ChatReply { content: "I will never sto".to_owned(), ..ChatReply::default() };
                return Resolution::Unusable { reply, reason: "it came to no end".to_owned() };
            }
            scripted(row, request)
        },
    );
    assert_eq!(output(&row)["talk"]["reward"], 1);
}

#[test]
fn scenarios_that_are_not_there_are_said_before_and_while_a_row_is_played() {
    for (scenario, ends) in [("dispute_duplicate_caffee", "invalid_scenario"), ("", "invalid_scenario")] {
        let mut row = begin(&compiled(ONE), &json!({"scenario": scenario}));
        finish(&mut row, |_| 0, scripted);
        assert_eq!(row.ending().unwrap().name, ends);
    }
    let mut row = begin(&compiled(ONE), &json!({"scenario": "dispute_duplicate_caffee"}));
    finish(&mut row, |_| 0, scripted);
    let reason = &row.ending().unwrap().reason;
    assert!(reason.contains("did you mean `dispute_duplicate_cafe`?"), "{reason}");
    let mut row = begin(&compiled(ONE), &json!({"scenario": "dispute_duplicate_cafe", "persona": "nobody"}));
    finish(&mut row, |_| 0, scripted);
    assert!(row.ending().unwrap().reason.contains("there is no persona profile `nobody`"));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let wrong = |from: &str, to: &str| problems(&with(&ONE.replace(from, to))).join("\n");
    let found = wrong("{scenario: scenario, ", "{scenario: \"'dispute_duplicate_caffee'\", ");
    assert!(found.contains("played/workflow.yaml:5: steps.talk.converse.scenario"), "{found}");
    assert!(found.contains("did you mean `dispute_duplicate_cafe`?"), "{found}");
    let found = wrong("persona: persona, ", "persona: \"'nobody'\", ");
    assert!(found.contains("there is no persona profile `nobody`"), "{found}");
    let found = wrong("{scenario: scenario, ", "{scenario: len(scenario), ");
    assert!(found.contains("is a number; the id of a scenario is expected"), "{found}");
    let found = wrong("{agent: student}", "{agent: 'The Student'}");
    assert!(found.contains("is no name of a role"), "{found}");
    let found = wrong("{agent: student}", "{teacher: student}");
    assert!(found.contains("teacher"), "{found}");
    let found = wrong("output: {talk: talk}", "output: {talk: talk.rewards}");
    assert!(found.contains("rewards"), "{found}");
    let found = problems(&{
        let mut files = with(&format!("{ONE}stand_ins: {{student: answer}}\n"));
        files.insert("workflows/played/functions.star", "def answer(request):\n    return \"\"\n".to_owned());
        files
    });
    assert!(
        found.join("\n").contains("plays in conversations only, and its stand-in there is `scripted`"),
        "{found:?}"
    );

    let mut alone = Files::default();
    alone.insert("workflows/played/workflow.yaml", ONE.to_owned());
    let found = problems(&alone).join("\n");
    assert!(found.contains("plays scenarios, but the project has none"), "{found}");
    let mut broken = with(ONE);
    broken.insert("scenarios/retail_bank/broken.yaml", "id: [".to_owned());
    let found = problems(&broken).join("\n");
    assert!(found.contains("plays scenarios, but the scenarios of the project cannot be read"), "{found}");
}

#[test]
fn a_scenario_may_come_from_a_step_that_stands_later() {
    let later = ONE
        .replace("{scenario: scenario, ", "{scenario: chosen, ")
        .replace("output:", "  chosen: {code: \"scenario + '_cafe'\"}\noutput:");
    let mut row = begin(&compiled(&later), &json!({"scenario": "dispute_duplicate"}));
    finish(&mut row, |_| 0, scripted);
    assert_eq!(output(&row)["talk"]["reward"], 1);
}

#[test]
fn a_run_keeps_the_documents_that_its_conversations_are_played_from() {
    let files = with(ONE);
    let kept = workflows::files_of(&files, &compiled(ONE));
    assert_eq!(kept, files);
    let plain = "workflow: played\ninput: {a: text}\nsteps:\n  b: {code: a}\noutput: {b: b}\n";
    assert_eq!(workflows::files_of(&with(plain), &compiled(plain)).under("scenarios").count(), 0);
}
