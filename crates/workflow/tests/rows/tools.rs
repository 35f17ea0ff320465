//! Tools that an administrator registered, and indexes.

use std::ops::ControlFlow;
use std::sync::Arc;

use domain::seed::Seed;
use domain::task::{Request, Resolution, Task, advance};
use insta::assert_snapshot;
use serde_json::json;
use workflow::{DOCUMENT, Files, PASSAGES, Responder, Row, RowEvent, Surroundings, compile};

use crate::support::{compiled, finish, input, problems};
use crate::{answers, begin, play};

const TOOLS: &str = "
workflow: test
input: {city: text}
steps:
  place: {tool: {endpoint: geocoder, body: {q: city, most: 1}, returns: {type: object, required: [lat], properties: {lat: {type: number}, name: {type: string}}}}}
  weather: {tool: {server: skies, tool: now, arguments: {at: place.lat}, otherwise: unknown}}
  unknown: {code: \"'unknown'\"}
output: {lat: place.lat, name: place.name, weather: weather}
stand_ins: {geocoder: locate, skies: look}
";
const TOOL_FUNCTIONS: &str = "
def locate(request):
    if request['body']['q'] == 'nowhere': fail('no such place')
    return {'lat': len(request['body']['q'])} if request['body']['most'] == 1 and request['body']['q'] != 'odd' else [1]

def look(request):
    if request['arguments']['at'] > 4: fail('clouds')
    return {'sky': request['tool']}
";

#[test]
fn tools_answer_with_json_or_fail() {
    let said = |city: &str| play(TOOLS, TOOL_FUNCTIONS, &json!({"city": city}));
    assert_snapshot!(said("Rome"), @r#"finished: {"lat":4,"name":null,"weather":{"sky":"now"}} after 4 events"#);
    assert_snapshot!(said("Paris"), @r#"finished: {"lat":5,"name":null,"weather":"unknown"} after 4 events"#);
    assert_snapshot!(said("nowhere"), @"failed_tool: place: `geocoder` failed: no such place after 3 events");
    assert_snapshot!(said("odd"), @r#"failed_tool: place: `geocoder` answered with what does not fit: [1] is not of type "object" after 3 events"#);
}

/// A kept answer is not asked for again, and tells apart what failed from what was found.
#[test]
fn answers_of_tools_are_kept() {
    let row = json!({"city": "Paris"});
    let mut whole = begin(TOOLS, TOOL_FUNCTIONS, &row);
    let events = finish(&mut whole, |_| 0);
    let kept: Vec<RowEvent> = serde_json::from_str(&serde_json::to_string(&events[..3]).unwrap()).unwrap();
    let workflow = compiled(TOOLS, TOOL_FUNCTIONS);
    let resumed = Row::resume(&workflow, &input(&row), Seed::new(1, "test", 0), &kept).unwrap();
    assert_eq!((resumed.output(), answers(&resumed).len()), (whole.output(), 0));
    assert_eq!(workflow.tools().into_iter().map(|(_, name)| name).collect::<Vec<_>>(), ["geocoder", "skies"]);
}

#[test]
fn what_a_tool_is_given_is_checked() {
    let broken = "
workflow: test
input: {a: text}
steps:
  one: {tool: {}}
  two: {tool: {server: s, endpoint: e}}
  three: {tool: {server: s, body: a}}
  four: {tool: {endpoint: 'http://169.254.169.254/', arguments: {x: a}}}
  five: {tool: {endpoint: e, body: {x: [b]}}}
  six: {tool: {endpoint: e, body: a, returns: none.json}}
  seven: {tool: {endpoint: e, body: a, returns: {type: object, properties: {x: {type: string}}}, otherwise: null}}
  eight: {code: seven.x}
  nine: {ask: {role: e, prompt: x}}
output: {a: a}
";
    assert_snapshot!(problems(broken, ""), @"
    workflows/test/workflow.yaml:4: steps: `e` is a role, and a tool is called by the same name
    workflows/test/workflow.yaml:5: steps.one.tool: needs either `server` (with `tool` and `arguments`) or `endpoint` (with `body`)
    workflows/test/workflow.yaml:6: steps.two.tool: needs either `server` (with `tool` and `arguments`) or `endpoint` (with `body`)
    workflows/test/workflow.yaml:7: steps.three.tool: needs the `tool` of the server that is called
    workflows/test/workflow.yaml:7: steps.three.tool.body: does not belong to a call of an MCP server
    workflows/test/workflow.yaml:8: steps.four.tool.arguments: does not belong to a call of an HTTP endpoint
    workflows/test/workflow.yaml:8: steps.four.tool.endpoint: is no name of a registered tool: expected lower-case letters, digits and `_`. Addresses belong in the file that registers tools
    workflows/test/workflow.yaml:9: steps.five.tool.body.x[0]: there is no `b` here; known: a, three, four
    workflows/test/workflow.yaml:10: steps.six.tool.returns: there is no file `none.json`; known: none
    workflows/test/workflow.yaml:12: steps.eight.code: `seven` may be None here; say what holds then, such as `... if seven != None else ...`
    ");
}

/// An index has one name in a row, and the row's workflow says first what is in it.
#[test]
fn a_workflow_that_is_used_searches_the_passages_of_the_row_or_else_its_own() {
    let file = |yaml: &str| Files::from([(DOCUMENT.to_owned(), yaml.to_owned())]);
    let passage = |text: &str| (PASSAGES.to_owned(), json!({"id": "p", "text": text}).to_string());
    let mut inner = file(
        "{workflow: inner, input: {q: text}, steps: {found: {search: {index: wiki, query: q}}}, output: {found: found}}",
    );
    inner.extend([passage("inner bees")]);
    let inner = Arc::new(compile("workflows/inner", &inner, Surroundings::NONE).unwrap());
    let outer = file(
        "
workflow: outer
input: {q: text}
steps:
  used: {call: {workflow: inner, with: {q: q}}}
output: {used: 'used.found[0].text'}
",
    );
    let found = |files: &Files| {
        let around = Surroundings { find: &|_| Ok(Arc::clone(&inner)), ..Surroundings::NONE };
        let outer = Arc::new(compile("workflows/outer", files, around).unwrap());
        let mut row = Row::begin(&outer, &input(&json!({"q": "bees"})), Seed::new(1, "outer", 0)).unwrap();
        let search = |row: &Row, request: &Request<Responder>| {
            Some(Resolution::Message(outer.find(&row.message(request).unwrap())))
        };
        advance(&mut row, search, |_, _| ControlFlow::Continue(()));
        row.output().unwrap()["used"].clone()
    };
    assert_eq!(found(&outer), "inner bees");
    let with_passages = outer.into_iter().chain([passage("outer bees")]).collect();
    assert_eq!(found(&with_passages), "outer bees");
}
