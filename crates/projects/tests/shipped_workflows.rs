//! The workflows that are shipped: their stand-ins turn their samples into what the documents say, and into rows for training.
#![expect(clippy::unwrap_used, reason = "a test may fail so; the lint exempts test functions, but not their helpers")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use projects::library::{Files, workflows};
use serde_json::{Map, Value, json};
use workflow::{Workflow, play_sample};

fn shipped() -> BTreeMap<String, Arc<Workflow>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (workflows, problems) = workflows::compile(&Files::read(&root).unwrap());
    assert!(problems.is_empty(), "{}", problems.iter().map(|found| format!("{found}\n")).collect::<String>());
    workflows
}

#[test]
fn samples_become_what_the_documents_say() {
    for (name, workflow) in shipped() {
        assert!(workflow.spec.samples.len() >= 3, "{name} has fewer than three samples");
        for (i, sample) in workflow.spec.samples.iter().enumerate() {
            let report = play_sample(&workflow, &sample.input, 1).unwrap();
            let differs = report.differs_from(sample);
            assert_eq!(differs, None, "{name}, sample {i}");
            if let Some(output) = &report.output {
                let made = workflow.messages_of(&sample.input, output).and(workflow.pairs_of(&sample.input, output));
                assert!(made.is_ok(), "{name}, sample {i}: {made:?}");
            }
            for (metric, value) in &report.metrics {
                assert!(value.is_ok(), "{name}, sample {i}, {metric}: {value:?}");
                assert!(sample.metrics.contains_key(metric), "{name}, sample {i} does not say what {metric} is");
            }
        }
    }
}

/// A sample that has an output, and its rows for training.
struct Played {
    workflow: Arc<Workflow>,
    input: Map<String, Value>,
    output: Map<String, Value>,
    messages: Vec<Value>,
    pairs: Vec<Value>,
}

fn played(name: &str, sample: usize) -> Played {
    let workflow = shipped().remove(name).unwrap();
    let input = workflow.spec.samples[sample].input.clone();
    let output = play_sample(&workflow, &input, 1).unwrap().output.unwrap();
    let messages = workflow.messages_of(&input, &output).unwrap();
    let pairs = workflow.pairs_of(&input, &output).unwrap();
    Played { workflow, input, output, messages, pairs }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn roles(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| text(&message["role"])).collect()
}

fn contents(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| text(&message["content"])).collect()
}

fn calls(message: &Value) -> &[Value] {
    message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Turns alternate, each call has its result, nothing is said without a word, and the assistant says the last one.
fn assert_is_conversation(messages: &[Value], place: &str) {
    let first = roles(messages)[0];
    assert!(first == "system" || first == "user", "{place}: {first}");
    for (before, after) in messages.iter().zip(&messages[1..]) {
        let may_follow: &[&str] = match text(&before["role"]) {
            "system" => &["user"],
            "user" => &["assistant"],
            "tool" => &["tool", "assistant"],
            "assistant" if calls(before).is_empty() => &["user"],
            "assistant" => &["tool"],
            role => panic!("{place}: {role}"),
        };
        assert!(may_follow.contains(&text(&after["role"])), "{place}: {after} after {before}");
    }
    for message in messages {
        assert!(!text(&message["content"]).trim().is_empty() || !calls(message).is_empty(), "{place}: {message}");
    }
    let last = &messages[messages.len() - 1];
    assert!(last["role"] == "assistant" && calls(last).is_empty(), "{place}: {last}");
    let asked: Vec<&Value> = messages.iter().flat_map(calls).map(|call| &call["id"]).collect();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    let answered: Vec<&Value> = results.map(|message| &message["tool_call_id"]).collect();
    assert_eq!(asked, answered, "{place}");
}

/// The messages before a reply, and the reply.
fn with_reply(pair: &Value, reply: &str) -> Vec<Value> {
    let mut messages = list(&pair["messages"]).to_vec();
    messages.push(json!({"role": "assistant", "content": pair[reply]}));
    messages
}

#[test]
fn rows_for_training_are_conversations_and_pairs_that_differ() {
    let (mut with_messages, mut with_pairs) = (BTreeSet::new(), BTreeSet::new());
    for (name, workflow) in shipped() {
        for (i, sample) in workflow.spec.samples.iter().enumerate() {
            let Some(output) = play_sample(&workflow, &sample.input, 1).unwrap().output else { continue };
            let place = format!("{name}, sample {i}");
            for conversation in workflow.messages_of(&sample.input, &output).unwrap() {
                assert_is_conversation(list(&conversation), &place);
                with_messages.insert(name.clone());
            }
            for pair in workflow.pairs_of(&sample.input, &output).unwrap() {
                assert_is_conversation(&with_reply(&pair, "chosen"), &place);
                assert_is_conversation(&with_reply(&pair, "rejected"), &place);
                assert_ne!(pair["chosen"], pair["rejected"], "{place}");
                with_pairs.insert(name.clone());
            }
        }
    }
    let listed = |names: BTreeSet<String>| names.into_iter().collect::<Vec<String>>().join(", ");
    assert_eq!(listed(with_messages), "coral, natural_reasoning, tau2, wikichat");
    assert_eq!(listed(with_pairs), "coral");
}

#[test]
fn coral_makes_a_conversation_of_each_turn_as_its_speaker_heard_it() {
    let Played { output, messages, .. } = played("coral", 0);
    let turns = list(&output["turns"]);
    assert_eq!((turns.len(), messages.len()), (4, 3));
    for (i, conversation) in (1_usize..).zip(&messages) {
        let (conversation, said, speaker) = (list(conversation), &turns[..=i], text(&turns[i]["role"]));
        // The student speaks first, and is greeted before.
        let before = if speaker == "student" { 2 } else { 1 };
        assert_eq!(contents(&conversation[before..]), contents(said), "turn {i}");
        let heard = |role: &str| if role == speaker { "assistant" } else { "user" };
        let expected: Vec<&str> = roles(said).into_iter().map(heard).collect();
        assert_eq!(roles(&conversation[before..]), expected, "turn {i}");
        assert_eq!(roles(conversation)[0], "system");
        assert!(contents(conversation)[0].contains(speaker), "turn {i}: {}", conversation[0]);
    }
}

#[test]
fn coral_prefers_the_reply_that_names_the_right_option() {
    let Played { output, messages, pairs, .. } = played("coral", 0);
    let turns = list(&output["turns"]);
    assert_eq!(pairs.len(), 2, "of the last turn, both replies are right");
    let [first, second] = [&turns[1], &turns[2]];
    assert_eq!((&pairs[0]["chosen"], &pairs[0]["rejected"]), (&first["sibling"]["content"], &first["content"]));
    assert_eq!((&pairs[1]["chosen"], &pairs[1]["rejected"]), (&second["content"], &second["sibling"]["content"]));
    for (pair, conversation) in pairs.iter().zip(&messages) {
        let (_, heard) = list(conversation).split_last().unwrap();
        assert_eq!(list(&pair["messages"]), heard);
    }

    // They agree on a wrong option: nothing to be imitated, but two turns of which one of the replies was right.
    let Played { output, messages, pairs, .. } = played("coral", 1);
    let turns = list(&output["turns"]);
    assert_eq!((messages.len(), pairs.len()), (0, 2));
    assert_eq!((&pairs[0]["chosen"], &pairs[0]["rejected"]), (&turns[4]["content"], &turns[4]["sibling"]["content"]));
    assert_eq!((&pairs[1]["chosen"], &pairs[1]["rejected"]), (&turns[5]["sibling"]["content"], &turns[5]["content"]));
    for (pair, turn) in pairs.iter().zip([4_usize, 5]) {
        assert!(text(&pair["chosen"]).contains("(B)") && !text(&pair["rejected"]).contains("(B)"), "{pair}");
        let heard = list(&pair["messages"]);
        assert_eq!(contents(&heard[heard.len() - turn..]), contents(&turns[..turn]));
    }

    // They never agree. Each of the ten turns of the student has a wrong reply beside the right one.
    let Played { messages, pairs, .. } = played("coral", 2);
    assert_eq!((messages.len(), pairs.len()), (0, 10));
}

#[test]
fn natural_reasoning_makes_a_question_and_its_worked_answer() {
    for sample in [0, 1] {
        let Played { output, messages, pairs, .. } = played("natural_reasoning", sample);
        let steps: Vec<&str> = list(&output["independent_answer"]).iter().map(text).collect();
        let expected = json!([
            {"role": "user", "content": output["exam_question"]},
            {"role": "assistant", "content": steps.join("\n\n")},
        ]);
        assert_eq!((messages, pairs), (vec![expected], Vec::new()), "sample {sample}");
    }
}

#[test]
fn wikichat_makes_the_chat_with_its_reply() {
    let Played { output, messages, pairs, .. } = played("wikichat", 1);
    let expected = json!([
        {"role": "user", "content": "How do bees show the way to flowers?"},
        {"role": "assistant", "content": "They dance."},
        {"role": "user", "content": "And who found that out?"},
        {"role": "assistant", "content": output["reply"]},
    ]);
    assert_eq!((messages, pairs), (vec![expected], Vec::new()));

    let Played { input, output, messages, .. } = played("wikichat", 0);
    let expected = json!([
        {"role": "user", "content": input["message"]},
        {"role": "assistant", "content": output["reply"]},
    ]);
    assert_eq!(messages, [expected]);
}

#[test]
fn tau2_makes_a_conversation_of_each_trial_that_succeeded() {
    let Played { output, messages, .. } = played("tau2", 0);
    let conversation = list(&messages[0]);
    assert_eq!((messages.len(), roles(conversation)[0]), (1, "system"));
    let called: usize = conversation.iter().map(|message| calls(message).len()).sum();
    assert_eq!(output["trials"][0]["tool_calls"], called);

    let Played { workflow, input, mut output, messages, pairs } = played("tau2", 1);
    assert_eq!((messages.len(), pairs.len()), (4, 0));
    assert_eq!(messages, list(&output["conversations"]));
    // A trial that failed has none.
    output["conversations"][1] = Value::Null;
    let messages = workflow.messages_of(&input, &output).unwrap();
    assert_eq!((messages.len(), &messages[1]), (3, &output["conversations"][2]));
}

#[test]
fn pass_hat_k_is_over_the_trials_that_nobody_else_spoiled() {
    let workflow = shipped().remove("tau2").unwrap();
    let trial = |reward: Value, turns: u32| json!({"reward": reward, "turns": turns, "tool_calls": 2 * turns});
    let trials =
        [trial(json!(1), 2), trial(json!(0), 4), trial(json!(1), 6), trial(Value::Null, 100), trial(json!(1), 8)];
    let (input, output) =
        (json!({"scenario": "any"}), json!({"scenario": "any", "trials": trials, "conversations": []}));
    let found = workflow.metrics_of(input.as_object().unwrap(), output.as_object().unwrap());
    let found: BTreeMap<String, Option<f64>> =
        found.into_iter().map(|(name, value)| (name, value.unwrap().as_f64())).collect();
    // C(3, k) / C(4, k), and the means over those four trials.
    let expected = [
        ("pass_1", 0.75),
        ("pass_2", 0.5),
        ("pass_3", 0.25),
        ("pass_4", 0.0),
        ("spoiled", 1.0),
        ("turns", 5.0),
        ("tool_calls", 10.0),
    ];
    assert_eq!(found, BTreeMap::from(expected.map(|(name, value)| (name.to_owned(), Some(value)))));
}
