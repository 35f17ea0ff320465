//! Models that call tools before they answer: functions, workflows, and what an administrator registered.

use std::sync::Arc;

use domain::chat::ChatReply;
use domain::message::{Message, ToolCall};
use domain::seed::Seed;
use domain::task::{Request, Resolution, Task};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use workflow::{Responder, Row, RowEvent, RowEventKind, Surroundings, Workflow, compile, play_sample};

use crate::support::{drive, files, finish, input, problems};
use crate::{ECHO, answers, begin, play};

const INNER: &str = "
workflow: inner
input: {city: text}
steps:
  none: {end: {when: city == 'Nowhere', as: unknown}}
  said: {ask: {role: guide, prompt: 'About {{ city }}'}}
output: {said: said}
stand_ins: {guide: echo}
";

/// Tools of all kinds, called in two rounds.
const TRIP: &str = "
workflow: test
input: {city: text}
steps:
  trip:
    ask:
      role: planner
      prompt: 'Plan {{ city }}'
      rounds: 3
      tools:
        weather: {description: The weather, parameters: {type: object, required: [city], properties: {city: {type: string}}}, server: skies, tool: now}
        place: {description: Where it is, parameters: {type: object, required: [q], properties: {q: {type: string}}}, endpoint: geocoder}
        guide: {description: A guide, parameters: {type: object}, workflow: inner}
        add: {description: Adds, parameters: {type: object, required: [x, y], properties: {x: {type: integer}, y: {type: integer}}}, code: add}
output: {answer: trip.answer, messages: trip.messages}
stand_ins: {planner: plan, skies: look, geocoder: locate}
";
const TRIP_FUNCTIONS: &str = "
def add(x, y):
    if x > 99: fail('too large')
    return x + y

def look(request):
    city = request['arguments']['city']
    if city == 'Atlantis': fail('no such city')
    return request['tool'] + ': sun in ' + city

def locate(request): return {'lat': len(request['body']['q'])}

def call(tool, arguments): return {'tool': tool, 'arguments': arguments}

def plan(request):
    told = [message['content'] for message in request['messages'] if message['role'] == 'tool']
    city = request['values']['city']
    if len(told) == 0:
        known = [call('weather', {'city': city}), call('place', {'q': city}), call('guide', {'city': city})]
        return {'calls': known + [call('weather', {'city': 'Atlantis'}), call('add', {'x': 1, 'y': 2})]}
    if len(told) == 5:
        return {'calls': [call('weather', {'city': 'Oslo'}), call('add', {'x': 3, 'y': 4})]}
    return ' | '.join(told)
";

/// The workflow, which may use the other one.
fn with_inner(yaml: &str, functions: &str) -> Arc<Workflow> {
    let inner = Arc::new(compile("workflows/inner", &files(INNER, ECHO), Surroundings::NONE).unwrap());
    let around = Surroundings { find: &|_| Ok(Arc::clone(&inner)), ..Surroundings::NONE };
    Arc::new(compile("workflows/test", &files(yaml, functions), around).unwrap())
}

fn seed() -> Seed {
    Seed::new(1, "test", 0)
}

fn trip_to_rome(workflow: &Arc<Workflow>) -> Row {
    Row::begin(workflow, &input(&json!({"city": "Rome"})), seed()).unwrap()
}

/// The answers in order: who gave each, and the address and attempt of its request.
fn answered(events: &[RowEvent]) -> Vec<String> {
    let answer = |event: &RowEvent| {
        let (who, at) = match &event.event {
            RowEventKind::Replied(reply) => ("model", &reply.at),
            RowEventKind::Called { at, .. } => ("tool", at),
            RowEventKind::Lost { at, .. } => ("nobody", at),
            _ => return None,
        };
        Some(format!("{who} {}/{}", at.step, at.attempt))
    };
    events.iter().filter_map(answer).collect()
}

/// The answers of tools in the prompt of a request.
fn told(row: &Row, request: &Request<Responder>) -> Vec<String> {
    let messages = row.prompt(request).unwrap().messages;
    let of_tools = messages.iter().filter(|message| matches!(message, Message::Tool { .. }));
    of_tools.map(|message| message.content().to_owned()).collect()
}

fn calls(calls: &[(&str, &str)]) -> Resolution {
    let call =
        |(name, arguments): &(&str, &str)| ToolCall::new(String::new(), (*name).to_owned(), (*arguments).to_owned());
    Resolution::Reply(ChatReply { tool_calls: calls.iter().map(call).collect(), ..ChatReply::default() })
}

#[test]
fn tools_of_all_kinds_answer_in_the_order_of_their_calls() {
    let workflow = with_inner(TRIP, TRIP_FUNCTIONS);
    let orders: [fn(usize) -> usize; 2] = [|_| 0, |open| open - 1];
    for choose in orders {
        let mut row = trip_to_rome(&workflow);
        let events = finish(&mut row, choose);
        let output = row.output().unwrap();
        assert_eq!(
            output["answer"],
            "now: sun in Rome | {\"lat\":4} | {\"said\":\"About Rome\"} | Error: `weather` failed: no such city | 3 | \
             now: sun in Oslo | 7"
        );
        let messages = output["messages"].as_array().unwrap();
        let ids: Vec<&str> = messages.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
        assert_eq!(ids, ["call_1", "call_2", "call_3", "call_4", "call_5", "call_6", "call_7"]);
        assert_eq!(messages.len(), 11);
        let mut answered = answered(&events);
        answered.sort();
        assert_eq!(
            answered,
            [
                "model trip#2.said/0",
                "model trip/0",
                "model trip/1",
                "model trip/2",
                "tool trip#1.place/0",
                "tool trip#3.weather/0",
                "tool trip#5.weather/0",
                "tool trip[0].weather/0",
            ]
        );
        let sample = play_sample(&workflow, &input(&json!({"city": "Rome"})), 1).unwrap();
        assert_eq!(sample.output.as_ref(), Some(output));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Answers in any order, and a process that dies after any event of the loop: the same row.
    #[test]
    fn a_loop_goes_on_after_any_event(order in prop::collection::vec(0_usize..1000, 40)) {
        let workflow = with_inner(TRIP, TRIP_FUNCTIONS);
        let mut first = trip_to_rome(&workflow);
        finish(&mut first, |_| 0);
        let mut turns = order.into_iter().cycle();
        let mut choose = |open: usize| turns.next().map_or(0, |turn| turn % open);
        let mut other = trip_to_rome(&workflow);
        let events = finish(&mut other, &mut choose);
        prop_assert_eq!(first.output(), other.output());
        for cut in 0..=events.len() {
            let past: Vec<RowEvent> = serde_json::from_str(&serde_json::to_string(&events[..cut]).unwrap()).unwrap();
            let mut resumed = Row::resume(&workflow, &input(&json!({"city": "Rome"})), seed(), &past).unwrap();
            finish(&mut resumed, &mut choose);
            prop_assert_eq!(first.output(), resumed.output());
        }
    }
}

#[test]
fn a_workflow_is_a_tool() {
    let yaml = "
workflow: test
input: {cities: list<text>}
steps:
  told:
    ask:
      role: m
      prompt: x
      tools: {guide: {description: A guide, parameters: {type: object}, workflow: inner}}
output: {answer: told.answer}
stand_ins: {m: reply}
";
    let functions = "
def reply(request):
    told = [message['content'] for message in request['messages'] if message['role'] == 'tool']
    calls = [{'tool': 'guide', 'arguments': {'city': city}} for city in request['values']['cities']]
    return '; '.join(told) if told else {'calls': calls}
";
    let workflow = with_inner(yaml, functions);
    let mut row = Row::begin(&workflow, &input(&json!({"cities": ["Rome", "Nowhere"]})), seed()).unwrap();
    let events = finish(&mut row, |_| 0);
    // One that ends early has no output.
    assert_eq!(row.output().unwrap()["answer"], "{\"said\":\"About Rome\"}; null");
    assert_eq!(answered(&events), ["model told/0", "model told[0].said/0", "model told/1"]);
}

/// As a row's own input is: 2.0 is the integer 2, and what may be missing is `None`. Without `parameters`, the model reads what the
/// workflow takes.
#[test]
fn the_input_of_a_called_workflow_is_completed() {
    let called = "
workflow: inner
input: {n: integer, more: {note: text?}}
steps: {said: {code: \"str(len([0 for i in range(n)])) + (more.note or ' without a note')\"}}
output: {said: said}
";
    let yaml = "
workflow: test
input: {n: number}
steps:
  called: {call: {workflow: inner, with: {n: n, more: {}}}}
  told: {ask: {role: m, prompt: x, tools: {inner: {description: Counts, workflow: inner}}}}
output: {called: called.said, told: told.answer}
stand_ins: {m: reply}
";
    let functions = "
def reply(request):
    told = [message['content'] for message in request['messages'] if message['role'] == 'tool']
    return told[0] if told else {'calls': [{'tool': 'inner', 'arguments': {'n': 3.0, 'more': {}}}]}
";
    let inner = Arc::new(compile("workflows/inner", &files(called, ""), Surroundings::NONE).unwrap());
    let around = Surroundings { find: &|_| Ok(Arc::clone(&inner)), ..Surroundings::NONE };
    let workflow = Arc::new(compile("workflows/test", &files(yaml, functions), around).unwrap());
    let mut row = Row::begin(&workflow, &input(&json!({"n": 2.0})), seed()).unwrap();
    row.act();
    let (asked, _) = answers(&row).remove(0);
    let parameters = &row.prompt(&asked).unwrap().tools[0]["function"]["parameters"];
    let note = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    let more = json!({"type": "object", "properties": {"note": note}, "required": []});
    let expected =
        json!({"type": "object", "properties": {"n": {"type": "integer"}, "more": more}, "required": ["n", "more"]});
    assert_eq!(*parameters, expected);
    finish(&mut row, |_| 0);
    let expected = json!({"called": "2 without a note", "told": "{\"said\":\"3 without a note\"}"});
    assert_eq!(json!(row.output().unwrap()), expected);
}

const BOUNDED: &str = "
workflow: test
input: {wanted: integer}
steps:
  told:
    ask:
      role: m
      prompt: x
      rounds: 3
      tools: {one: {description: One, code: one}}
output: {answer: told.answer}
stand_ins: {m: reply}
";
const BOUNDED_FUNCTIONS: &str = "
def one(): return 1

def reply(request):
    calls = len([message for message in request['messages'] if message['role'] == 'tool'])
    if calls < request['values']['wanted']: return {'calls': [{'tool': 'one', 'arguments': {}}]}
    return 'after %d' % calls
";

/// As what a workflow or a server answers: text as it is, anything else as JSON.
#[test]
fn what_a_function_gives_is_told_as_it_is() {
    let said = |value: &str| {
        let reply = "
def reply(request):
    told = [message['content'] for message in request['messages'] if message['role'] == 'tool']
    return told[0] if told else {'calls': [{'tool': 'one', 'arguments': {}}]}
";
        play(BOUNDED, &format!("def one(): return {value}\n{reply}"), &json!({"wanted": 1}))
    };
    assert_snapshot!(said("'a \"b\"'"), @r#"finished: {"answer":"a \"b\""} after 4 events"#);
    assert_snapshot!(said("{'a': 'b'}"), @r#"finished: {"answer":"{\"a\":\"b\"}"} after 4 events"#);
    assert_snapshot!(said("None"), @r#"finished: {"answer":"null"} after 4 events"#);
}

/// A model that calls tools nevertheless gave no answer, and is asked once more.
#[test]
fn the_last_reply_is_asked_for_without_tools() {
    let said = |wanted: u32| play(BOUNDED, BOUNDED_FUNCTIONS, &json!({"wanted": wanted}));
    assert_snapshot!(said(0), @r#"finished: {"answer":"after 0"} after 3 events"#);
    assert_snapshot!(said(2), @r#"finished: {"answer":"after 2"} after 5 events"#);
    assert_snapshot!(said(5), @"invalid_reply: told: the reply cannot be used: it is empty after 6 events");
    let offered = |yaml: &str, wanted: u32| {
        let mut row = begin(yaml, BOUNDED_FUNCTIONS, &json!({"wanted": wanted}));
        let mut offered = Vec::new();
        drive(
            &mut row,
            |_| 0,
            |row, request| {
                offered.push(row.prompt(request).unwrap().tools.len());
                row.stand_in(request)
            },
        );
        offered
    };
    assert_eq!(offered(BOUNDED, 5), [1, 1, 0, 0]);
    assert_eq!(offered(&BOUNDED.replace("rounds: 3", "rounds: 1"), 0), [0]);
}

#[test]
fn the_last_reply_is_asked_for_with_the_schema() {
    let yaml =
        BOUNDED.replace("rounds: 3", "rounds: 3\n      returns: {type: object, properties: {a: {type: integer}}}");
    let functions = BOUNDED_FUNCTIONS.replace("return 'after %d' % calls", "return {'a': calls}");
    let mut row = begin(&yaml, &functions, &json!({"wanted": 2}));
    let mut has_schema = Vec::new();
    drive(
        &mut row,
        |_| 0,
        |row, request| {
            has_schema.push(row.prompt(request).unwrap().schema.is_some());
            row.stand_in(request)
        },
    );
    assert_eq!(has_schema, [false, false, true]);
    assert_eq!(row.output().unwrap()["answer"], json!({"a": 2}));
}

#[test]
fn what_is_wrong_with_a_call_is_told_to_the_model() {
    let workflow = with_inner(TRIP, TRIP_FUNCTIONS);
    let long = json!({"city": "x".repeat(1 << 20)}).to_string();
    let wrong = [
        ("add", r#"{"x": "a", "y": 1}"#),
        ("add", "no"),
        ("add", "[1]"),
        ("ad", "{}"),
        ("guide", "{}"),
        ("weather", ""),
        ("weather", long.as_str()),
        ("add", r#"{"x": 100, "y": 1}"#),
    ];
    let done = Resolution::Reply(ChatReply { content: "done".to_owned(), ..ChatReply::default() });
    let mut replies = [calls(&wrong), calls(&[("add", r#"{"x": 1, "y": 2}"#)]), done].into_iter();
    let mut row = trip_to_rome(&workflow);
    let mut known = Vec::new();
    let events = drive(
        &mut row,
        |_| 0,
        |row, request| {
            known = told(row, request);
            replies.next().unwrap()
        },
    );
    assert_eq!(
        known,
        [
            r#"Error: invalid arguments for `add`: "a" is not of type "integer""#,
            "Error: the arguments of `add` are not JSON: expected ident at line 1 column 2",
            r#"Error: invalid arguments for `add`: [1] is not of type "object""#,
            "Error: there is no tool `ad` (did you mean `add`?)",
            "Error: invalid arguments for `guide`: city: is missing; expected text",
            r#"Error: invalid arguments for `weather`: "city" is a required property"#,
            "Error: `weather` is sent more than 1048576 bytes",
            "Error: too large",
            "3",
        ]
    );
    // No tool was asked.
    assert_eq!(answered(&events), ["model trip/0", "model trip/1", "model trip/2"]);
    assert_eq!(row.output().unwrap()["answer"], "done");
}

/// As a step `tool` sends it, and not before its turn.
#[test]
fn a_registered_tool_is_sent_what_the_model_gives_it() {
    let workflow = with_inner(TRIP, TRIP_FUNCTIONS);
    let tools: Vec<String> = workflow.tools().into_iter().map(|(kind, name)| format!("{kind} {name}")).collect();
    assert_eq!(tools, ["HTTP endpoint geocoder", "MCP server skies"]);
    let mut row = trip_to_rome(&workflow);
    row.act();
    let (planner, reply) = answers(&row).remove(0);
    assert!(row.sticky(&planner).is_some());
    row.resolve(&planner, reply);
    let open: Vec<Request<Responder>> = answers(&row).into_iter().map(|(request, _)| request).collect();
    let sent: Vec<(Responder, Option<Value>)> =
        open.iter().map(|request| (request.to.clone(), row.message(request))).collect();
    for (name, message) in [
        ("skies", json!({"tool": "now", "arguments": {"city": "Rome"}})),
        ("skies", json!({"tool": "now", "arguments": {"city": "Atlantis"}})),
        ("geocoder", json!({"body": {"q": "Rome"}})),
    ] {
        let to = Responder::Tool(name.into());
        assert!(sent.contains(&(to, Some(message))), "{name}: {sent:?}");
    }
    for tool in open.iter().filter(|request| matches!(request.to, Responder::Tool(_))) {
        assert_eq!((row.prompt(tool), row.sticky(tool)), (None, None));
    }
}

/// Whether a request has no answer.
type Loss = fn(&Row, &Request<Responder>) -> bool;

fn is_for_skies(_: &Row, request: &Request<Responder>) -> bool {
    request.to == Responder::Tool("skies".into())
}

/// Of the third and the fourth call.
fn is_for_guide_or_atlantis(row: &Row, request: &Request<Responder>) -> bool {
    let sent = row.message(request).unwrap_or_default();
    sent["arguments"]["city"] == "Atlantis" || matches!(&request.to, Responder::Model(role) if role.as_str() == "guide")
}

/// The row can be played again from there, also if it was resumed on the way. In whatever order answers come, the first call
/// without one is named.
#[test]
fn a_call_without_an_answer_ends_the_row() {
    let workflow = with_inner(TRIP, TRIP_FUNCTIONS);
    let mut whole = trip_to_rome(&workflow);
    finish(&mut whole, |_| 0);
    let losses: [(Loss, &str); 2] =
        [(is_for_skies, "trip[0].weather: gone"), (is_for_guide_or_atlantis, "trip#2.said: gone")];
    for (is_lost, reason) in losses {
        for turn in 0..6 {
            let answer = |row: &Row, request: &Request<Responder>| {
                if is_lost(row, request) {
                    Resolution::Lost { reason: "gone".to_owned() }
                } else {
                    row.stand_in(request)
                }
            };
            let resume =
                |past: &[RowEvent]| Row::resume(&workflow, &input(&json!({"city": "Rome"})), seed(), past).unwrap();
            let mut row = trip_to_rome(&workflow);
            let events = drive(&mut row, |open| turn % open, answer);
            let ending = row.ending().unwrap();
            assert_eq!((&*ending.name, &*ending.reason, ending.is_lost), ("no_answer", reason, true), "{turn}");
            for cut in 0..=events.len() {
                let mut resumed = resume(&events[..cut]);
                let more = drive(&mut resumed, |open| turn % open, answer);
                let all = [&events[..cut], &more].concat();
                let kept = usize::try_from(resumed.keep_through().unwrap()).unwrap();
                assert!(matches!(all[kept + 1].event, RowEventKind::Lost { .. }), "{turn} {cut}");
                let mut again = resume(&all[..=kept]);
                finish(&mut again, |_| 0);
                assert_eq!(again.output(), whole.output());
            }
        }
    }
}

#[test]
fn a_registered_tool_of_a_model_has_a_stand_in_by_its_name() {
    let workflow = with_inner(&TRIP.replace(", skies: look", ""), TRIP_FUNCTIONS);
    assert!(workflow.has_stand_in("geocoder") && !workflow.has_stand_in("skies"));
    let mut row = trip_to_rome(&workflow);
    finish(&mut row, |_| 0);
    let reason = "trip[0].weather: the workflow `test` names no stand-in for `skies`";
    assert_eq!(row.ending().unwrap().reason, reason);
}

#[test]
fn tools_of_a_model_say_what_is_wrong_with_them() {
    let broken = "
workflow: test
input: {a: text}
steps:
  one: {ask: {role: m, prompt: x, tools: {t: {description: d, parameters: {type: object}, server: s, tool: x, code: f}}}}
  two: {ask: {role: m, prompt: x, tools: {t: {description: d, parameters: {type: object}}}}}
  three: {ask: {role: m, prompt: x, tools: {t: {description: d, parameters: {type: object}, server: s, endpoint: e}}}}
  four: {ask: {role: m, prompt: x, tools: {t: {description: d, parameters: {type: object}, server: s}}}}
  five: {ask: {role: m, prompt: x, tools: {t: {description: d, parameters: {type: object}, endpoint: e, tool: x}}}}
  six: {ask: {role: m, prompt: x, tools: {t: {server: s, tool: x}}}}
  seven: {ask: {role: m, prompt: x, tools: {t: {description: d, parameters: {type: object}, endpoint: 'http://169.254.169.254/'}}}}
  eight: {ask: {role: m, prompt: x, tools: {t: {description: d, parameters: {type: object}, code: f, tool: x}}}}
  nine: {ask: {role: s, prompt: x}}
output: {a: a}
stand_ins: {e: f}
";
    assert_snapshot!(problems(broken, "def f(): return 1\n"), @"
    workflows/test/workflow.yaml:4: steps: `s` is a role, and a tool is called by the same name
    workflows/test/workflow.yaml:5: steps.one.ask.tools.t: needs exactly one of `code`, `workflow`, `server` (with `tool`) and `endpoint`
    workflows/test/workflow.yaml:6: steps.two.ask.tools.t: needs exactly one of `code`, `workflow`, `server` (with `tool`) and `endpoint`
    workflows/test/workflow.yaml:7: steps.three.ask.tools.t: needs exactly one of `code`, `workflow`, `server` (with `tool`) and `endpoint`
    workflows/test/workflow.yaml:8: steps.four.ask.tools.t: needs the `tool` of the server that is called
    workflows/test/workflow.yaml:9: steps.five.ask.tools.t.tool: does not belong to a call of an HTTP endpoint
    workflows/test/workflow.yaml:10: steps.six.ask.tools.t: needs `parameters`, the JSON Schema of what the MCP server is sent
    workflows/test/workflow.yaml:10: steps.six.ask.tools.t: needs a `description`, from which the model learns what the MCP server is for
    workflows/test/workflow.yaml:11: steps.seven.ask.tools.t.endpoint: is no name of a registered tool: expected lower-case letters, digits and `_`. Addresses belong in the file that registers tools
    workflows/test/workflow.yaml:12: steps.eight.ask.tools.t.tool: belongs to a `server`
    ");
    let misspelt = problems(&broken.replace("server: s, tool: x, code: f", "sever: s, tool: x"), "");
    assert!(misspelt.contains("unknown field") && misspelt.contains("sever"), "{misspelt}");
}
