//! Workflows of the tests, and how they are played.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::task::{Next, Request, Resolution, Task};
use serde_json::{Map, Value};
use workflow::{DOCUMENT, FUNCTIONS, Files, Responder, Row, RowEvent, Surroundings, Workflow, compile};

pub fn files(yaml: &str, functions: &str) -> Files {
    BTreeMap::from([(DOCUMENT.to_owned(), yaml.to_owned()), (FUNCTIONS.to_owned(), functions.to_owned())])
}

pub fn compiled(yaml: &str, functions: &str) -> Arc<Workflow> {
    let compiled = compile("workflows/test", &files(yaml, functions), Surroundings::NONE);
    Arc::new(compiled.unwrap_or_else(|problems| panic!("{problems:#?}")))
}

/// All that is wrong, a line each.
pub fn problems(yaml: &str, functions: &str) -> String {
    let found = compile("workflows/test", &files(yaml, functions), Surroundings::NONE).err().unwrap_or_default();
    found.iter().map(|problem| format!("{problem}\n")).collect()
}

pub fn input(row: &Value) -> Map<String, Value> {
    row.as_object().unwrap().clone()
}

/// Plays a row to its end with its stand-ins. `choose`: which of so many open requests is answered next.
pub fn finish(row: &mut Row, choose: impl FnMut(usize) -> usize) -> Vec<RowEvent> {
    drive(row, choose, Task::stand_in)
}

/// Plays a row to its end. `choose`: which of so many open requests is answered next; `answer`: how.
pub fn drive(
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

/// Three levels of streams, joins in order, a loop, several replies, and an end within a map.
pub const NESTED: (&str, &str, &str) = (
    "
workflow: test
input: {topic: text, parts: integer}
steps:
  outline: {ask: {role: writer, prompt: 'outline {{ topic }} {{ parts }}', split: lines}}
  claims:
    map: outline
    as: section
    steps:
      said: {ask: {role: writer, prompt: 'claims {{ section }}', split: json_items}}
      checked:
        map: said
        as: claim
        steps:
          votes: {ask: {role: judge, prompt: 'judge {{ claim }}', n: 3}}
          bad: {end: {when: \"'stop' in votes\", as: stopped}}
          fixed:
            loop: {max: 3, until: done}
            state: {text: claim, done: false}
            steps: {again: {ask: {role: writer, prompt: 'fix {{ text }}'}}}
            next: {text: again, done: 'len(again) > 9'}
        yields: {claim: claim, yes: \"len([v for v in votes if v == 'yes'])\", text: fixed.text}
    yields: {section: section, checked: checked}
  flat: {code: '[c for s in claims for c in s.checked]'}
  summary: {ask: {role: writer, prompt: 'sum {{ flat | length }} {{ outline | length }}'}}
output: {claims: claims, summary: summary, best: 'sorted([c.yes for c in flat])'}
stand_ins: {writer: write, judge: vote}
",
    "
def write(request):
    word, rest = request['prompt'].split(' ', 1)
    if word == 'outline': return ['%s part %d' % (rest, i) for i in range(request['values']['parts'])]
    if word == 'claims': return ['%s c%d' % (rest[-1], i) for i in range(request['seed'] % 4)] or '[]'
    if word == 'fix': return rest + 'x'
    return word + ' ' + rest

def vote(request): return 'yes' if request['seed'] % 3 else 'no'
",
    r#"{"topic": "bees", "parts": 4}"#,
);
