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

/// A workflow, with its functions, that may use the workflow `inner`.
pub fn calling(inner: (&str, &str), (yaml, functions): (&str, &str)) -> Arc<Workflow> {
    let compiled = |name: &str, yaml: &str, functions: &str, around: Surroundings<'_>| {
        let compiled = compile(&format!("workflows/{name}"), &files(yaml, functions), around);
        Arc::new(compiled.unwrap_or_else(|problems| panic!("{problems:#?}")))
    };
    let inner = compiled("inner", inner.0, inner.1, Surroundings::NONE);
    let find = |name: &str| if name == "inner" { Ok(Arc::clone(&inner)) } else { Err(format!("no `{name}`")) };
    compiled("test", yaml, functions, Surroundings { find: &find, ..Surroundings::NONE })
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

/// Ends and failures in items, rounds and in a workflow that is called, steps in any order, items that wait for steps around
/// them, and maps in order over a reply and over another map. The seed decides how a row ends.
pub fn early_ends() -> Arc<Workflow> {
    calling((INNER, EARLY_ENDS_FUNCTIONS), (EARLY_ENDS, EARLY_ENDS_FUNCTIONS))
}

const EARLY_ENDS: &str = "
workflow: test
input: {topic: text}
steps:
  title: {code: summary.upper()}
  topics: {ask: {role: writer, prompt: 'topics {{ topic }}', split: lines}}
  direct:
    map: topics
    as: name
    takes: stream
    state: {count: 0}
    steps: {counted: {code: count + 1}}
    next: {count: counted}
    yields: {name: name, count: counted, preface: preface}
  talked:
    map: topics
    as: word
    steps:
      loud: {code: \"note + '!'\"}
      note: {ask: {role: judge, prompt: 'note {{ word }}', repairs: 0, otherwise: \"'none'\"}}
      claims: {ask: {role: writer, prompt: 'claims {{ word }}', split: json_items}}
      judged:
        map: claims
        as: claim
        steps:
          verdict: {ask: {role: judge, prompt: 'judge {{ claim }}'}}
          bad: {end: {when: verdict == 'stop', as: stopped, success: true, output: {word: word, claim: claim}}}
        yields: {claim: claim, verdict: verdict}
      tried:
        loop: {max: 2, until: found != None}
        state: {found: null, turn: 0}
        steps: {asked: {call: {workflow: inner, with: {word: word + str(turn)}}}}
        next: {found: asked.head if asked != None else None, turn: turn + 1}
    yields: {word: word, judged: judged, found: tried.found, preface: preface, loud: loud}
  kept:
    map: talked
    as: one
    takes: stream
    state: {best: null, seen: []}
    steps: {ranks: {ask: {role: judge, prompt: 'rank {{ one.word }}', n: 2}}}
    next: {best: one.word if best == None or len(best) < len(one.word) else best, seen: seen + ranks}
    yields: {word: one.word, before: best, ranks: ranks}
  preface: {ask: {role: writer, prompt: 'preface {{ topic }}', repairs: 0}}
  few: {end: {when: len(kept) < 2, as: too_few}}
  summary: {ask: {role: writer, prompt: 'sum {{ kept | length }}'}}
output: {title: title, talked: talked, direct: direct, kept: kept}
stand_ins: {writer: write, judge: judge}
";

const INNER: &str = "
workflow: inner
input: {word: text}
steps:
  letters: {ask: {role: writer, prompt: 'letters {{ word }}', split: json_items}}
  pairs:
    map: letters
    as: letter
    steps:
      with_others:
        map: letters
        as: other
        steps:
          said: {ask: {role: judge, prompt: 'pair {{ letter }}{{ other }}'}}
          bad: {end: {when: said == 'stop', as: bad_pair}}
        yields: {pair: letter + other, said: said, head: head}
  head: {ask: {role: writer, prompt: 'head {{ word }}'}}
  odd: {end: {when: head == 'odd', as: odd}}
output: {pairs: pairs, head: head}
stand_ins: {writer: write, judge: judge}
";

const EARLY_ENDS_FUNCTIONS: &str = "
def write(request):
    word, rest = request['prompt'].split(' ', 1)
    seed = request['seed']
    if word == 'topics': return ['%s%d' % (rest, i) for i in range(1 + seed % 3)]
    if word == 'claims': return ['%s c%d' % (rest, i) for i in range(seed % 3)] or '[]'
    if word == 'letters': return ['a', 'b'][:seed % 3] or '[]'
    if word == 'head': return 'odd' if seed % 5 == 0 else 'even'
    if word == 'preface' and seed % 8 == 0: return ''
    return word + ' ' + rest

def judge(request):
    word, rest = request['prompt'].split(' ', 1)
    seed = request['seed']
    if word == 'note' and seed % 5 == 0: return ''
    return 'stop' if seed % 9 == 0 else 'yes'
";
