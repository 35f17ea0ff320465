//! Rows of workflows, with stand-ins: what they become, whatever the order of replies, wherever a process dies.
#![expect(clippy::unwrap_used, reason = "a test may fail so; the lint exempts test functions, but not their helpers")]

mod support;

use std::ops::ControlFlow;
use std::sync::Arc;

use domain::chat::ChatReply;
use domain::seed::Seed;
use domain::task::{Heard, Next, Request, RequestBody, Resolution, Task, advance};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use support::{NESTED, compiled, finish, input, problems};
use workflow::{DOCUMENT, Files, OutputItem, PASSAGES, Responder, Row, RowEvent, RowEventKind, Surroundings, compile};

fn begin(yaml: &str, functions: &str, row: &Value) -> Row {
    Row::begin(&compiled(yaml, functions), &input(row), Seed::new(1, "test", 0)).unwrap()
}

/// How a row ended, its output, and what was asked, in order.
fn play(yaml: &str, functions: &str, row: &Value) -> String {
    let mut row = begin(yaml, functions, row);
    let events = finish(&mut row, |_| 0);
    let ending = row.ending().unwrap();
    let output = row.output().map_or_else(|| ending.reason.clone(), |output| json!(output).to_string());
    format!("{}: {output} after {} events", ending.name, events.len())
}

const ECHO: &str = "def echo(request): return request['prompt']\n";

#[test]
fn steps_are_connected_by_their_names() {
    let yaml = "
workflow: test
input: {a: text, n: integer}
steps:
  second: {ask: {role: m, prompt: '{{ first }}!'}}
  first: {ask: {role: m, prompt: '{{ a }}'}}
  many: {ask: {role: m, prompt: 'x{{ n }}', n: 2}}
  sum: {code: 'n + len(many)'}
output: {second: second, sum: sum, all: 'many + [second]', kept: {a: a, list: [1, n]}}
stand_ins: {m: echo}
";
    assert_snapshot!(play(yaml, ECHO, &json!({"a": "hi", "n": 3})), @r#"finished: {"second":"hi!","sum":5,"all":["x3","x3","hi!"],"kept":{"a":"hi","list":[1,3]}} after 6 events"#);
}

#[test]
fn fields_may_be_called_like_methods_of_texts() {
    let yaml = "
workflow: test
input: {book: {title: text, count: integer}, books: 'list<any>'}
steps:
  a: {code: 'book.title.upper().replace(\"A\", \"o\").split(\"O\")'}
  b: {code: '[b.title for b in books if b.index > 1]'}
output: {a: a, title: book.title, b: b, count: 'book.count + titled(books[0])'}
";
    let functions = "def titled(book): return len(book.title)\n";
    let row = json!({"book": {"title": "hallo", "count": 2}, "books": [{"title": "x", "index": 1}, {"title": "y", "index": 2}]});
    assert_snapshot!(play(yaml, functions, &row), @r#"finished: {"a":["HoLL",""],"title":"hallo","b":["y"],"count":3} after 2 events"#);
}

#[test]
fn maps_join_in_order_and_loops_carry_state() {
    let yaml = "
workflow: test
input: {words: list<text>}
steps:
  big:
    map: words
    as: word
    steps:
      up: {ask: {role: m, prompt: '{{ word | upper }}'}}
      twice:
        loop: {max: 5, until: 'len(text) > 3'}
        state: {text: up, rounds: 0}
        steps: {more: {ask: {role: m, prompt: '{{ text }}+'}}}
        next: {text: more, rounds: rounds + 1}
    yields: {word: word, text: twice.text, rounds: twice.rounds}
  seen:
    map: big
    as: item
    takes: stream
    state: {known: '[]'}
    steps: {new: {code: 'item.text not in known'}}
    next: {known: 'known + [item.text]'}
    yields: new
output: {big: big, seen: seen}
stand_ins: {m: echo}
";
    let row = json!({"words": ["a", "bcd", "a"]});
    assert_snapshot!(play(yaml, ECHO, &row), @r#"finished: {"big":[{"word":"a","text":"A+++","rounds":3},{"word":"bcd","text":"BCD+","rounds":1},{"word":"a","text":"A+++","rounds":3}],"seen":[true,true,false]} after 12 events"#);
    assert_snapshot!(play(yaml, ECHO, &json!({"words": []})), @r#"finished: {"big":[],"seen":[]} after 2 events"#);
}

#[test]
fn conditions_ends_and_missing_values() {
    let yaml = "
workflow: test
input: {text: text, fine: text?}
steps:
  short: {end: {when: 'len(text) < 3', as: too_short}}
  asked: {when: fine != None, ask: {role: m, prompt: '{{ fine }}'}}
  good: {end: {when: 'asked == \"good\"', as: liked, success: true, output: {text: text}}}
  never: {ask: {role: m, prompt: never}}
output: {asked: asked, upper: 'asked.upper() if asked != None else \"none\"'}
stand_ins: {m: echo}
";
    assert_snapshot!(play(yaml, ECHO, &json!({"text": "a"})), @"too_short:  after 2 events");
    assert_snapshot!(play(yaml, ECHO, &json!({"text": "abc"})), @r#"finished: {"asked":null,"upper":"none"} after 3 events"#);
    assert_snapshot!(play(yaml, ECHO, &json!({"text": "abc", "fine": "good"})), @r#"liked: {"text":"abc"} after 3 events"#);
    assert_snapshot!(play(yaml, ECHO, &json!({"text": "abc", "fine": "x"})), @r#"finished: {"asked":"x","upper":"X"} after 4 events"#);
}

#[test]
fn a_reply_that_cannot_be_used_is_asked_for_again() {
    let yaml = "
workflow: test
input: {bad: integer}
steps:
  got: {ask: {role: m, prompt: x, returns: {type: object, required: [id], properties: {id: {type: integer}}}}}
output: {id: got.id}
stand_ins: {m: reply}
";
    let functions =
        "def reply(request): return {'id': 7} if request['attempt'] >= request['values']['bad'] else 'no'\n";
    assert_snapshot!(play(yaml, functions, &json!({"bad": 0})), @r#"finished: {"id":7} after 3 events"#);
    assert_snapshot!(play(yaml, functions, &json!({"bad": 1})), @r#"finished: {"id":7} after 4 events"#);
    assert_snapshot!(play(yaml, functions, &json!({"bad": 2})), @"invalid_reply: got: the reply cannot be used: not JSON: expected ident at line 1 column 2 after 4 events");
    let otherwise = yaml.replace("prompt: x,", "prompt: x, otherwise: {id: 0},");
    assert_snapshot!(play(&otherwise, functions, &json!({"bad": 2})), @r#"finished: {"id":0} after 4 events"#);
}

#[test]
fn a_model_calls_tools_before_it_answers() {
    let yaml = "
workflow: test
input: {a: integer}
steps:
  sum:
    ask:
      role: m
      prompt: 'What is {{ a }} + 1?'
      rounds: 3
      tools:
        add:
          description: Adds
          parameters: {type: object, required: [x, y], properties: {x: {type: integer}, y: {type: integer}}}
          code: add
output: {answer: sum.answer, messages: 'len(sum.messages)'}
stand_ins: {m: reply}
";
    let functions = "
def add(x, y): return x + y
def reply(request):
    last = request['messages'][-1]
    if last['role'] == 'tool': return 'It is ' + last['content']
    a = request['values']['a']
    return {'calls': [{'tool': 'add', 'arguments': {'x': a, 'y': 1}}]} if a > 0 else {'calls': [{'tool': 'ad', 'arguments': {}}]}
";
    assert_snapshot!(play(yaml, functions, &json!({"a": 4})), @r#"finished: {"answer":"It is 5","messages":4} after 4 events"#);
    assert_snapshot!(play(yaml, functions, &json!({"a": 0})), @r#"finished: {"answer":"It is {\"error\":\"there is no tool `ad`\"}","messages":4} after 4 events"#);
}

#[test]
fn what_runs_away_ends_the_row() {
    let yaml = |step: &str| {
        format!(
            "workflow: test\ninput: {{n: integer}}\nsteps:\n  a: {step}\n  z: {{ask: {{role: m, prompt: z}}}}\noutput: {{a: 'len(a)'}}\nstand_ins: {{m: many}}\n"
        )
    };
    let functions = "def many(request): return [str(i) for i in range(request['values']['n'])]\n";
    let split = yaml("{ask: {role: m, prompt: x, split: lines, most: 10}}");
    assert_snapshot!(play(&split, functions, &json!({"n": 10})), @r#"finished: {"a":10} after 4 events"#);
    assert_snapshot!(play(&split, functions, &json!({"n": 100_000})), @"too_many_items: a: the reply has 100000 items; at most 10 after 3 events");
    let map = yaml("{map: 'range(n)', most: 10, steps: {b: {code: item}}}");
    assert_snapshot!(play(&map, functions, &json!({"n": 11})), @"too_many_items: a: there are more than 10 items after 2 events");
    let code = yaml("{code: '[i for i in range(n) for j in range(n) for k in range(n)]'}");
    assert!(play(&code, functions, &json!({"n": 100_000})).starts_with("failed_code: a: "), "a loop without end");
}

#[test]
fn of_a_reply_that_is_cut_off_the_whole_items_count() {
    let yaml = "
workflow: test
input: {a: text}
steps: {items: {ask: {role: m, prompt: '{{ a }}', split: lines}}}
output: {items: items}
stand_ins: {m: echo}
";
    for (content, expected) in [("one\ntwo\nthr", json!({"items": ["one", "two"]})), ("on", Value::Null)] {
        let mut row = begin(yaml, ECHO, &json!({"a": "x"}));
        row.act();
        while let Some((request, _)) = answers(&row).into_iter().next() {
            let reply = ChatReply { content: content.to_owned(), ..ChatReply::default() };
            row.resolve(&request, Resolution::Unusable { reply, reason: "it is cut off".to_owned() });
        }
        assert_eq!(row.output().map_or(Value::Null, |output| json!(output)), expected, "{content}");
        assert_eq!(row.ending().unwrap().success, !expected.is_null());
    }
}

#[test]
fn items_of_a_reply_that_is_cut_off_have_to_fit_as_well() {
    let yaml = "
workflow: test
input: {a: text}
steps:
  items: {ask: {role: m, prompt: '{{ a }}', split: json_items, returns: {type: object, properties: {k: {type: string}, o: {type: number}}, required: [k]}, most: 3}}
output: {items: items}
stand_ins: {m: echo}
";
    let played = |content: &str| {
        let mut row = begin(yaml, ECHO, &json!({"a": "x"}));
        row.act();
        while let Some((request, _)) = answers(&row).into_iter().next() {
            let reply = ChatReply { content: content.to_owned(), ..ChatReply::default() };
            row.resolve(&request, Resolution::Unusable { reply, reason: "it is cut off".to_owned() });
        }
        let ending = row.ending().unwrap();
        format!("{} {}: {}", json!(row.output()), ending.name, ending.reason)
    };
    assert_snapshot!(played(r#"[{"k": "a"}, {"k": "b", "o": 1}, {"k": "c"#), @r#"{"items":[{"k":"a","o":null},{"k":"b","o":1}]} finished:"#);
    assert_snapshot!(played(r#"[{"k": "a"}, {"k": 2}, {"k": "c"#), @r#"null invalid_reply: items: the reply cannot be used: 2 is not of type "string" (at /k)"#);
    assert_snapshot!(played(r#"[{"k": "a"}, {"k": "b"}, {"k": "c"}, {"k": "d"}, {"#), @"null too_many_items: items: the reply has 4 items; at most 3");
}

#[test]
fn what_an_end_rules_out_is_known_in_outputs_too() {
    let yaml = "
workflow: test
input: {text: text?, words: list<text?>}
steps:
  none: {end: {when: text == None, as: nothing}}
  all:
    map: words
    as: word
    steps:
      gone: {end: {when: word == None, as: no_word}}
      long: {code: len(word)}
    yields: word.upper()
output: {text: text.upper(), all: all}
";
    assert_snapshot!(play(yaml, ECHO, &json!({"text": "a", "words": ["b"]})), @r#"finished: {"text":"A","all":["B"]} after 2 events"#);
    assert_snapshot!(play(yaml, ECHO, &json!({"text": "a", "words": [null]})), @"no_word:  after 2 events");
}

#[test]
fn whole_numbers_stay_whole_whatever_their_size() {
    let yaml = "
workflow: test
input: {n: number}
steps:
  next: {code: n + 1}
  after: {code: 'type(next) + str(next + 1)'}
output: {next: next, after: after}
";
    let row: Value = serde_json::from_str("{\"n\": 36893488147419103233}").unwrap();
    assert_snapshot!(play(yaml, ECHO, &row), @r#"finished: {"next":36893488147419103234,"after":"int36893488147419103235"} after 2 events"#);
}

#[test]
fn texts_become_vectors_and_documents_are_ranked() {
    let yaml = "
workflow: test
input: {question: text, texts: list<text>}
steps:
  own: {embed: {role: embedder, texts: question}}
  all: {embed: {role: embedder, texts: texts}}
  near: {code: '[dot(own, v) for v in all]'}
  docs: {code: '[{\"text\": t, \"id\": i} for i, t in enumerate(texts)]'}
  best: {rerank: {role: ranker, query: question, documents: docs, k: 2}}
output: {near: near, length: len(own), best: '[[b.document.id, b.index, b.score] for b in best]'}
stand_ins: {embedder: hashed_words, ranker: shared_words}
";
    let functions = "
def words(text): return [w.strip('.?!').lower() for w in text.split(' ')]

def bucket(word):
    total = 0
    for c in word[:8].elems(): total = (total * 31 + ord(c)) % 16
    return total

def hashed_words(request):
    vectors = []
    for text in request['texts']:
        buckets = [bucket(w) for w in words(text)]
        vectors.append([len([b for b in buckets if b == i]) for i in range(16)])
    return vectors

def shared_words(request):
    query = words(request['query'])
    shared = lambda text: len([w for w in words(text) if w in query])
    return [{'index': i, 'score': shared(d)} for i, d in enumerate(request['documents'])]

def dot(a, b): return sum([a[i] * b[i] for i in range(len(a))])
";
    let row = json!({"question": "Who makes honey?", "texts": ["Cows give milk.", "Bees make honey.", "honey, honey"]});
    assert_snapshot!(play(yaml, functions, &row), @r#"finished: {"near":[1,2,1],"length":16,"best":[[1,1,1],[2,2,1]]} after 5 events"#);
    assert_snapshot!(play(yaml, functions, &json!({"question": "a", "texts": []})), @r#"finished: {"near":[],"length":16,"best":[]} after 3 events"#);
    // 33 texts are two requests.
    let many = json!({"question": "a", "texts": vec!["b"; 33]});
    assert!(play(yaml, functions, &many).ends_with(r#""best":[[0,0,0],[1,1,0]]} after 6 events"#));
    for (question, texts, expected) in [
        ("a", vec!["b".to_owned(), " ".to_owned()], "failed_code: all: `texts[1]` is empty after 3 events"),
        ("a", vec!["b".to_owned(); 1_001], "too_many_items: all: `texts` has 1001 items; at most 1000 after 3 events"),
    ] {
        assert_eq!(play(yaml, functions, &json!({"question": question, "texts": texts})), expected);
    }
    let ranking = "
workflow: test
input: {texts: list<text>}
steps:
  best: {rerank: {role: m, query: '\"q\"', documents: texts}}
output: {best: best}
stand_ins: {m: shared_words}
";
    let large = json!({"texts": vec!["b".repeat(50_000); 100]});
    assert_snapshot!(play(ranking, functions, &large), @"too_large: best: the documents have more than 4194304 bytes after 2 events");
}

#[test]
fn numbers_that_cannot_be_used_end_the_row() {
    let yaml = "
workflow: test
input: {say: any}
steps:
  v: {embed: {role: m, texts: '[\"a\", \"b\"]'}}
output: {v: v}
stand_ins: {m: said}
";
    let ranked = "
workflow: test
input: {say: any}
steps:
  v: {rerank: {role: m, query: '\"q\"', documents: '[\"a\", \"b\"]', k: 2}}
output: {v: v}
stand_ins: {m: said}
";
    let functions = "def said(request): return request['values']['say']\n";
    let said = |yaml: &str, say: Value| play(yaml, functions, &json!({"say": say}));
    let all: Vec<String> = [
        (yaml, json!([[1, 0.5], [2, 3]])),
        (yaml, json!("no")),
        (yaml, json!([[1]])),
        (yaml, json!([[1], [null]])),
        (yaml, json!([[1], []])),
        (yaml, json!([[1], [1, 2]])),
        (ranked, json!([{"index": 1, "score": 0.2}, {"index": 0, "score": 0.1}])),
        (ranked, json!([{"index": 1, "score": 0.2}])),
        (ranked, json!([{"index": 1, "score": 0.2}, {"index": 2, "score": 0.1}])),
        (ranked, json!([{"index": 1, "score": 0.2}, {"index": 1, "score": 0.1}])),
        (ranked, json!([{"index": 1, "score": 0.2}, {"index": 0, "score": null}])),
        (ranked, json!([{"index": -1, "score": 0.2}, {"index": 0, "score": 1}])),
    ]
    .into_iter()
    .map(|(yaml, say)| said(yaml, say))
    .collect();
    assert_snapshot!(all.join("\n"), @r#"
    finished: {"v":[[1,0.5],[2,3]]} after 3 events
    invalid_reply: v: the reply cannot be used: it is no list of vectors: invalid type: string "no", expected a sequence at line 1 column 4 after 3 events
    invalid_reply: v: the reply cannot be used: it has 1 vectors for 2 texts after 3 events
    invalid_reply: v: the reply cannot be used: vector 1 holds something that is no finite number after 3 events
    invalid_reply: v: the reply cannot be used: vector 1 is empty after 3 events
    invalid_reply: v: the reply cannot be used: vectors of 1 and of 2 numbers after 3 events
    finished: {"v":[{"index":1,"score":0.2,"document":"b"},{"index":0,"score":0.1,"document":"a"}]} after 3 events
    invalid_reply: v: the reply cannot be used: it ranks 1 documents; 2 were asked for after 3 events
    invalid_reply: v: the reply cannot be used: it ranks document 2 of 2 after 3 events
    invalid_reply: v: the reply cannot be used: it ranks document 1 twice after 3 events
    invalid_reply: v: the reply cannot be used: the score of document 0 is no finite number after 3 events
    invalid_reply: v: the reply cannot be used: it is no list of {index, score}: invalid value: integer `-1`, expected usize at line 1 column 12 after 3 events
    "#);
    let otherwise = ranked.replace("k: 2", "k: 2, otherwise: []");
    assert_snapshot!(said(&otherwise, json!([])), @r#"finished: {"v":[]} after 3 events"#);
}

#[test]
fn what_embed_and_rerank_are_given_is_checked() {
    let broken = "
workflow: test
input: {a: text, n: integer, maybe: text?, docs: 'list<any>'}
steps:
  one: {embed: {role: m, texts: n}}
  two: {embed: {role: 'a b', texts: maybe}}
  three: {rerank: {role: m, query: n, documents: a}}
  four: {rerank: {role: m, query: a, documents: '[{\"title\": a}]'}}
  five: {rerank: {role: m, query: a, documents: docs}}
  six: {code: 'five[0].documnt'}
  seven: {embed: {role: m, texts: seven}}
output: {a: 'five[0].score + a'}
";
    assert_snapshot!(problems(broken, ""), @r"
    workflows/test/workflow.yaml:5: steps.one.embed.texts: is a number; a text or a list of texts is expected
    workflows/test/workflow.yaml:6: steps.two.embed.role: is no name of a role: expected lower-case letters, digits and `_`
    workflows/test/workflow.yaml:6: steps.two.embed.texts: is a text?; a text or a list of texts is expected
    workflows/test/workflow.yaml:7: steps.three.rerank.documents: is a text; a list of texts, or of records with a `text`, is expected
    workflows/test/workflow.yaml:7: steps.three.rerank.query: is a number; a text is expected
    workflows/test/workflow.yaml:8: steps.four.rerank.documents: is a list<{title: text}>; a list of texts, or of records with a `text`, is expected
    workflows/test/workflow.yaml:10: steps.six.code: there is no `documnt` in {index: number, score: number, document: any} (did you mean `document`?)
    workflows/test/workflow.yaml:11: steps.seven: these steps wait for each other: seven -> seven
    workflows/test/workflow.yaml:12: output.a: it adds a number and a text
    ");
}

/// A kept answer is not asked for again, and numbers are read back as they were kept.
#[test]
fn vectors_are_kept() {
    let yaml = "
workflow: test
input: {texts: list<text>}
steps: {v: {embed: {role: m, texts: texts}}}
output: {v: v}
stand_ins: {m: lengths}
";
    let functions = "def lengths(request): return [[len(t), 1.0 / len(t), 1e-7] for t in request['texts']]\n";
    let row = json!({"texts": vec!["abc"; 40]});
    let mut whole = begin(yaml, functions, &row);
    let events = finish(&mut whole, |n| n - 1);
    assert_eq!(events.len(), 4);
    let kept: Vec<RowEvent> = serde_json::from_str(&serde_json::to_string(&events[..2]).unwrap()).unwrap();
    let workflow = compiled(yaml, functions);
    let mut resumed = Row::resume(&workflow, &input(&row), Seed::new(1, "test", 0), &kept).unwrap();
    let left = answers(&resumed);
    assert_eq!(left.len(), 1, "one of two batches is kept");
    finish(&mut resumed, |_| 0);
    assert_eq!(resumed.output(), whole.output());
    assert_eq!(whole.output().unwrap()["v"][39], json!([3, 0.333_333_333_333_333_3, 1e-7]));
}

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

#[test]
fn documents_say_what_is_wrong_with_them() {
    let broken = "
workflow: test
input: {a: text, b: txt}
steps:
  one: {code: two}
  two: {code: one}
  three: {ask: {role: m, prompt: '{{ aa }}'}}
  four: {map: a, steps: {inner: {code: item}}}
  five: {code: inner}
  six: {code: a, ask: {role: m}}
  seven: {ask: {role: m, prompt: 'x', split: {pattern: '('}}}
  for: {code: a}
  eight: {when: a, code: a}
  nine: {code: eight.upper()}
  ten: {call: {workflow: none, with: {}}}
output: {a: nne}
stand_ins: {q: f}
";
    assert_snapshot!(problems(broken, ""), @"
    workflows/test/workflow.yaml:3: input.b: `txt` is no type; there are text, number, integer, boolean, object, any, list<TYPE>, and TYPE? for a value that may be missing
    workflows/test/workflow.yaml:5: steps.one: these steps wait for each other: one -> two -> one
    workflows/test/workflow.yaml:7: steps.three.ask.prompt: `(steps/three/ask/prompt)` uses `aa`, which is not there (did you mean `a`?); known: a, b
    workflows/test/workflow.yaml:8: steps.four.map: is a text; a list or a stream is expected
    workflows/test/workflow.yaml:9: steps.five.code: `inner` cannot be used here: it stands within `four`; use what `four` gives
    workflows/test/workflow.yaml:10: steps.six: is exactly one of ask, code, search, embed, rerank, tool, converse, map, loop, call, end; found ask, code
    workflows/test/workflow.yaml:11: steps.seven.ask.split: the pattern is none: unclosed group
    workflows/test/workflow.yaml:12: steps.for: `for` is a word of the language; choose another name
    workflows/test/workflow.yaml:14: steps.nine.code: `eight` may be None here; say what holds then, such as `... if eight != None else ...`
    workflows/test/workflow.yaml:15: steps.ten.call.workflow: there is no workflow `none`
    workflows/test/workflow.yaml:16: output.a: there is no `nne` here (did you mean `nine`?); known: a, b, three, four, five, seven, for, eight, nine
    workflows/test/workflow.yaml:17: stand_ins.q: no step asks the role `q`
    workflows/test/workflow.yaml:17: stand_ins.q: there is no function `f` in functions.star; known: none
    ");
}

fn answers(row: &Row) -> Vec<(domain::task::Request<workflow::Responder>, Resolution)> {
    match row.next() {
        Next::Wait(requests) => requests.into_iter().map(|r| (r.clone(), row.stand_in(&r))).collect(),
        _ => Vec::new(),
    }
}

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

    /// What is asked before its turn, from the beginnings of replies, is what is asked in its turn.
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
