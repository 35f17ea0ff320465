//! Replies in any order, requests ahead of their turn, and items that are told before the row ends.

use std::collections::BTreeSet;

use domain::chat::ChatReply;
use domain::seed::Seed;
use domain::task::{Heard, Next, Request, RequestBody, Resolution, Task};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use workflow::{OutputItem, Responder, Row, RowEvent, RowEventKind};

use crate::support::{NESTED, compiled, early_ends, finish, input};
use crate::{ECHO, answers, begin};

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Replies in any order, and a process that dies anywhere: the same row.
    #[test]
    fn the_order_of_replies_changes_nothing(order in prop::collection::vec(0_usize..1000, 80), cut in 0_usize..40) {
        let (yaml, functions, row) = NESTED;
        let row: Value = serde_json::from_str(row).unwrap();
        let mut first = begin(yaml, functions, &row);
        finish(&mut first, |_| 0);
        let mut order = order.into_iter().cycle();
        let mut other = begin(yaml, functions, &row);
        let events = finish(&mut other, |n| order.next().unwrap() % n);
        prop_assert_eq!(first.output(), other.output());
        prop_assert_eq!(first.ending(), other.ending());
        // Up to some event it was kept; another process goes on.
        let past: Vec<RowEvent> = events.into_iter().take(cut).collect();
        let past: Vec<RowEvent> = serde_json::from_str(&serde_json::to_string(&past).unwrap()).unwrap();
        let workflow = compiled(yaml, functions);
        let mut resumed = Row::resume(&workflow, &input(&row), Seed::new(1, "test", 0), &past).unwrap();
        finish(&mut resumed, |n| order.next().unwrap() % n);
        prop_assert_eq!(first.output(), resumed.output());
    }

    /// Requests made early, from the beginning of a reply, are the same as those made in their turn.
    #[test]
    fn requests_ahead_of_a_stream_are_the_ones_that_follow(cuts in prop::collection::vec(0_usize..200, 60)) {
        let (yaml, functions, row) = NESTED;
        let row: Value = serde_json::from_str(row).unwrap();
        let mut task = begin(yaml, functions, &row);
        task.act();
        let mut cuts = cuts.into_iter().cycle();
        let (mut early, mut asked) = (Map::new(), Map::new());
        while let Some((request, resolution)) = answers(&task).into_iter().next() {
            let asked_now = answers(&task);
            for (request, _) in &asked_now {
                asked.insert(request.id.0.to_string(), json!(task.prompt(request)));
            }
            if let Resolution::Reply(ChatReply { content, .. }) = &resolution {
                let end = content.char_indices().map(|(i, _)| i).chain([content.len()]).nth(cuts.next().unwrap() % (content.chars().count() + 1));
                for (ahead, body) in task.prefetch_after(&request, Heard::Text(&content[..end.unwrap()])) {
                    let RequestBody::Chat(chat) = body else { continue };
                    early.insert(ahead.id.0.to_string(), json!(chat));
                }
            }
            task.resolve(&request, resolution);
        }
        let wasted: Vec<&String> = early.iter().filter(|(id, chat)| asked.get(*id) != Some(chat)).map(|(id, _)| id).collect();
        prop_assert!(wasted.is_empty(), "{} of {} were asked in vain", wasted.len(), early.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Ends and failures, too, come out the same in any order, and wherever a process dies.
    #[test]
    fn the_order_of_replies_does_not_change_how_a_row_ends(
        seed in 0_i64..1000, order in prop::collection::vec(0_usize..1000, 80), cut in 0_usize..60,
    ) {
        let workflow = early_ends();
        let (row, seed) = (input(&json!({"topic": "bees"})), || Seed::new(seed, "test", 0));
        let mut first = Row::begin(&workflow, &row, seed()).unwrap();
        finish(&mut first, |_| 0);
        let mut order = order.into_iter().cycle();
        let mut other = Row::begin(&workflow, &row, seed()).unwrap();
        let events = finish(&mut other, |n| order.next().unwrap() % n);
        prop_assert_eq!(first.ending(), other.ending());
        let past = &events[..cut.min(events.len())];
        let mut resumed = Row::resume(&workflow, &row, seed(), past).unwrap();
        finish(&mut resumed, |n| order.next().unwrap() % n);
        prop_assert_eq!(&first.ending().unwrap().name, &resumed.ending().unwrap().name);
        prop_assert_eq!(first.output(), resumed.output());
    }
}

/// Of these seeds, rows end in each way that the document has.
#[test]
fn rows_end_in_all_ways() {
    let workflow = early_ends();
    let ended = |seed: i64| {
        let mut row = Row::begin(&workflow, &input(&json!({"topic": "bees"})), Seed::new(seed, "test", 0)).unwrap();
        finish(&mut row, |_| 0);
        row.ending().unwrap().name.clone()
    };
    let names: BTreeSet<String> = (0..200).map(ended).collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["finished", "invalid_reply", "stopped", "too_few"]);
}

/// A map over a reply begins with its first item, also if its `yields` wait for a step around it.
#[test]
fn requests_ahead_do_not_wait_for_what_only_yields_read() {
    let yaml = "
workflow: test
input: {q: text}
steps:
  claims: {ask: {role: writer, prompt: 'claims {{ q }}', split: lines}}
  late: {ask: {role: writer, prompt: late}}
  checked:
    map: claims
    as: claim
    steps: {verdict: {ask: {role: writer, prompt: 'judge {{ claim }}'}}}
    yields: {verdict: verdict, late: late}
output: {checked: checked}
";
    let mut row = begin(yaml, ECHO, &json!({"q": "Is it so?"}));
    row.act();
    let Next::Wait(open) = row.next() else { panic!("it asks") };
    let is_of_claims =
        |request: &&Request<Responder>| format!("{:?}", row.prompt(request)).contains("claims Is it so?");
    let claims = open.iter().find(is_of_claims).unwrap().clone();
    let ahead = row.prefetch_after(&claims, Heard::Text("bees fly\nstones f"));
    let [(_, RequestBody::Chat(chat))] = &ahead[..] else { panic!("{ahead:?}") };
    assert!(format!("{:?}", chat.messages).contains("judge bees fly"), "{chat:?}");
}

/// A map over a stream begins with the first item, searches for it, and asks about what was found, while the reply still
/// comes. A tool has to wait for its turn.
#[test]
fn requests_ahead_go_on_behind_a_search_and_stop_at_a_tool() {
    let yaml = "
workflow: test
input: {q: text}
steps:
  claims: {ask: {role: writer, prompt: '{{ q }}', split: lines}}
  checked:
    map: claims
    as: claim
    steps:
      found: {search: {index: wiki, query: claim}}
      verdict: {ask: {role: judge, prompt: '{{ claim }}: {{ found[0].text }}'}}
      sent: {tool: {server: mail, tool: send, arguments: {text: verdict}}}
    yields: sent
output: {checked: checked}
stand_ins: {writer: write, judge: judge, mail: mail}
";
    let functions = "
def write(request): return ['bees fly', 'stones fall']
def judge(request): return 'yes'
def mail(request): return 'sent'
";
    let mut row = begin(yaml, functions, &json!({"q": "Is it so?"}));
    row.act();
    let Next::Wait(open) = row.next() else { panic!("it asks") };
    let names = |ahead: &[(Request<Responder>, RequestBody)]| {
        ahead.iter().map(|(request, body)| (request.to.clone(), body.clone())).collect::<Vec<_>>()
    };
    let search =
        |query: &str| (Responder::Index("wiki".into()), RequestBody::Message(json!({"query": query, "k": 10})));

    let ahead = row.prefetch_after(&open[0], Heard::Text("bees fly\nstones f"));
    assert_eq!(names(&ahead), [search("bees fly")]);
    let passages = json!([{"text": "Bees have wings."}]);
    let asked = row.prefetch_after(&ahead[0].0, Heard::Message(&passages));
    let RequestBody::Chat(chat) = &asked[0].1 else { panic!("a model is asked") };
    assert!(asked.len() == 1 && format!("{:?}", chat.messages).contains("bees fly: Bees have wings."), "{chat:?}");
    let yes = ChatReply { content: "yes".to_owned(), ..ChatReply::default() };
    assert_eq!(names(&row.prefetch_after(&asked[0].0, Heard::Whole(&yes))), []);

    // At its turn the same is searched for and asked, and nothing twice.
    let whole = ChatReply { content: "bees fly\nstones fall".to_owned(), ..ChatReply::default() };
    row.resolve(&open[0], Resolution::Reply(whole));
    let Next::Wait(open) = row.next() else { panic!("it searches") };
    assert!(open.iter().any(|request| request.id == ahead[0].0.id), "{open:?}");
    assert_eq!(row.message(&ahead[0].0), Some(json!({"query": "bees fly", "k": 10})));
    row.resolve(&ahead[0].0, Resolution::Message(passages));
    assert_eq!(row.prompt(&asked[0].0).as_ref(), Some(chat));
}

/// The parts of the output that events tell, by field.
fn told(events: &[RowEvent]) -> Map<String, Value> {
    let mut told = Map::new();
    for event in events {
        let RowEventKind::Item(item) = &event.event else { continue };
        match (item.index, told.get_mut(&item.field)) {
            (Some(0), None) => drop(told.insert(item.field.clone(), json!([item.value]))),
            (Some(index), Some(Value::Array(list))) if index == list.len() => list.push(item.value.clone()),
            (None, None) => drop(told.insert(item.field.clone(), item.value.clone())),
            _ => panic!("{item:?} after {told:?}"),
        }
    }
    told
}

fn is_begin_of(told: &Value, whole: &Value) -> bool {
    match (told, whole) {
        (Value::Array(told), Value::Array(whole)) => whole.starts_with(told),
        _ => told == whole,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Wherever a process dies, each item is told once, in order, and is what it is in the output.
    #[test]
    fn the_output_is_told_in_order_as_it_is_known(order in proptest::collection::vec(0_usize..100, 0..200), cut in 0_usize..200) {
        let (yaml, functions, row) = NESTED;
        let row = input(&serde_json::from_str(row).unwrap());
        let workflow = compiled(yaml, functions);
        let mut turns = order.iter().cycle();
        let mut choose = |open: usize| turns.next().map_or(0, |turn| turn % open);
        let seed = || Seed::new(1, "test", 0);
        let mut whole = Row::begin(&workflow, &row, seed()).unwrap().telling_items();
        let events = finish(&mut whole, &mut choose);
        let past = &events[..cut.min(events.len())];
        let mut resumed = Row::resume(&workflow, &row, seed(), past).unwrap().telling_items();
        let rest = finish(&mut resumed, &mut choose);
        prop_assert_eq!(resumed.ending(), whole.ending());
        let told = told(&[past, &rest].concat());
        if let Some(output) = resumed.output() {
            for (field, value) in &told {
                prop_assert!(is_begin_of(value, &output[field]), "{field}: {value} of {output:?}");
            }
        }
    }
}

#[test]
fn items_are_told_before_the_row_ends() {
    let yaml = "
workflow: test
input: {words: list<text>}
steps:
  big: {map: words, as: word, steps: {up: {ask: {role: m, prompt: '{{ word }}'}}}, yields: up}
  last: {ask: {role: m, prompt: '{{ big | length }}'}}
output: {first: 'words[0]', big: big, last: last, both: '[last, len(big)]'}
stand_ins: {m: echo}
";
    let told = |choose: fn(usize) -> usize| {
        let mut row = begin(yaml, ECHO, &json!({"words": ["a", "b", "c"]})).telling_items();
        let say = |event: RowEvent| match event.event {
            RowEventKind::Item(OutputItem { field, index, value }) => format!("{field} {index:?} {value}"),
            RowEventKind::Replied(reply) => format!("reply {}", reply.content),
            other => format!("{other:?}").chars().take(7).collect(),
        };
        finish(&mut row, choose).into_iter().map(say).collect::<Vec<_>>().join("; ")
    };
    assert_snapshot!(told(|open| open - 1), @r#"Started; first None "a"; reply a; big Some(0) "a"; reply b; big Some(1) "b"; reply c; big Some(2) "c"; reply 3; Ended(R"#);
    // The items of a list wait for those before them.
    assert_snapshot!(told(|_| 0), @r#"Started; first None "a"; reply c; reply b; reply a; big Some(0) "a"; big Some(1) "b"; big Some(2) "c"; reply 3; Ended(R"#);
}
