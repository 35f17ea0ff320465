//! Steps, conditions, repair and limits.

use std::sync::Arc;

use domain::chat::ChatReply;
use domain::task::{Resolution, Task};
use insta::assert_snapshot;
use serde_json::{Value, json};
use workflow::{Surroundings, compile, play_sample};

use crate::support::{compiled, files, input, problems};
use crate::{ECHO, answers, begin, play};

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
    assert_snapshot!(play(yaml, functions, &json!({"a": 0})), @r#"finished: {"answer":"It is Error: there is no tool `ad` (did you mean `add`?)","messages":4} after 4 events"#);
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
    assert_snapshot!(play(&map, functions, &json!({"n": 11})), @"too_many_items: a: there are more than 10 items; `most` of the step says how many there may be after 2 events");
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
fn what_an_end_rules_out_is_known_in_maps_and_loops_behind_it() {
    let yaml = "
workflow: test
input: {doc: text?, xs: list<text>}
steps:
  none: {end: {when: doc == None, as: no_doc}}
  m: {map: xs, as: x, steps: {n: {code: len(doc)}}, yields: {n: n, up: doc.upper()}}
  l: {loop: {max: 3, until: len(doc) < len(t)}, state: {t: doc}, steps: {u: {code: doc.upper()}}, next: {t: t + u + doc}}
  said: {map: xs, as: y, steps: {asked: {ask: {role: m, prompt: '{{ doc }} {{ y }}'}}}, yields: asked}
output: {m: m, t: l.t, said: said}
stand_ins: {m: echo}
";
    let row = json!({"doc": "ab", "xs": ["x"]});
    assert_snapshot!(play(yaml, ECHO, &row), @r#"finished: {"m":[{"n":2,"up":"AB"}],"t":"abABab","said":["ab x"]} after 3 events"#);
    assert_snapshot!(play(yaml, ECHO, &json!({"xs": []})), @"no_doc:  after 2 events");
}

#[test]
fn an_end_rules_out_only_what_it_asks_for() {
    let found = |end: &str| {
        problems(
            &format!(
                "workflow: test\ninput: {{doc: text?, docs: list<text?>, n: number}}\nsteps:\n  none: {end}\n  size: {{code: len(doc)}}\noutput: {{size: size}}\n"
            ),
            "",
        )
    };
    assert_eq!(found("{when: doc == None, end: {as: no_doc}}"), "");
    assert_eq!(found("{end: {when: doc == None or n > 1, as: no_doc}}"), "");
    for end in [
        "{when: n > 1, end: {when: doc == None, as: no_doc}}",
        "{end: {when: doc == None and n > 1, as: no_doc}}",
        "{end: {when: n > 1, as: big}}",
    ] {
        assert!(found(end).contains("`doc` may be None here"), "{end}: {}", found(end));
    }
    // A local of an expression that has the same name is another value.
    let found = found("{end: {when: 'doc == None or len([doc.upper() for doc in docs]) > 1', as: no_doc}}");
    assert!(found.contains("steps.none.end.when: `doc` may be None here"), "{found}");
}

#[test]
fn a_state_may_begin_as_none() {
    let yaml = "
workflow: test
input: {}
steps:
  l:
    loop: {max: 3, until: best.score > 2}
    state: {best: null}
    steps:
      top: {code: best.score if best != None else 0}
      size: {code: len(best) if best else 0}
      upper: {code: best.said.upper() if best else 'NONE'}
      said: {ask: {role: m, prompt: '{% if best %}{{ best.score }}{% else %}none{% endif %} {{ top }} {{ size }} {{ upper }}'}}
    next: {best: \"{'score': top + 1, 'said': said}\"}
output: {score: l.best.score, said: l.best.said}
stand_ins: {m: echo}
";
    assert_snapshot!(play(yaml, ECHO, &json!({})), @r#"finished: {"score":3,"said":"2 2 2 1 1 2 NONE 0 0 NONE"} after 5 events"#);
    let with = |upper: &str| problems(&yaml.replace("best.said.upper() if best else 'NONE'", upper), ECHO);
    for upper in ["best.said", "best.upper()", "len(best)", "\"best['said']\"", "'[x for x in best]'"] {
        assert!(with(upper).contains("`best` may be None here"), "{upper}: {}", with(upper));
    }
    let unguarded = problems(&yaml.replace("{% if best %}", "{% if top %}"), ECHO);
    assert!(unguarded.contains("`best` may be None; ask first: {% if best %}"), "{unguarded}");
    // What does not change stays `None`, and can be asked for all the same.
    let constant = yaml.replace("    next: {best: \"{'score': top + 1, 'said': said}\"}\n", "");
    let constant = constant.replace(", until: best.score > 2", "").replace("l.best.score, said: l.best.said", "l.best");
    assert_snapshot!(play(&constant, ECHO, &json!({})), @r#"finished: {"score":null} after 5 events"#);
}

#[test]
fn objects_are_merged() {
    let yaml = "
workflow: test
input: {a: {x: number, y: text}, b: object}
steps:
  merged: {code: \"a | {'x': 'one', 'z': [1]}\"}
  other: {code: \"b | {'x': 1}\"}
output: {x: merged.x.upper(), y: merged.y, z: merged.z, other: other.x + other.q}
";
    let row = json!({"a": {"x": 1, "y": "why"}, "b": {"q": 2}});
    assert_snapshot!(play(yaml, ECHO, &row), @r#"finished: {"x":"ONE","y":"why","z":[1],"other":3} after 2 events"#);
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
    let integer = yaml.replace("n: number", "n: integer");
    assert_snapshot!(play(&integer, ECHO, &row), @r#"finished: {"next":36893488147419103234,"after":"int36893488147419103235"} after 2 events"#);
}

#[test]
fn templates_write_whole_numbers_whole_or_end_the_row() {
    let yaml = "
workflow: test
input: {n: number}
steps: {said: {ask: {role: m, prompt: '{{ n }}'}}}
output: {said: said}
stand_ins: {m: echo}
";
    let said = |n: &str| play(yaml, ECHO, &serde_json::from_str(&format!("{{\"n\": {n}}}")).unwrap());
    assert_snapshot!(said("18446744073709551617"), @r#"finished: {"said":"18446744073709551617"} after 3 events"#);
    assert_snapshot!(said("-170141183460469231731687303715884105728"), @r#"finished: {"said":"-170141183460469231731687303715884105728"} after 3 events"#);
    let refused = said("170141183460469231731687303715884105728");
    assert!(refused.starts_with("failed_template: said: "), "{refused}");
    assert!(refused.contains("a whole number needs more than 128 bits"), "{refused}");
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
    workflows/test/workflow.yaml:7: steps.three.ask.prompt: the template uses `aa`, which is not there (did you mean `a`?); known: a, b
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

#[test]
fn filters_and_tests_of_templates_exist() {
    let yaml = "
workflow: test
input: {a: text}
steps:
  one: {ask: {role: m, prompt: '{{ a | nofilter }}'}}
  two: {ask: {role: m, prompt: two.md.j2}}
output: {one: one}
";
    let mut files = files(yaml, "");
    for (name, text) in [
        (
            "two.md.j2",
            "{{ b }}\n{% if a is nosuch %}x{% endif %}{% include 'three.md' %}\n{{ a | list | map('nope') | selectattr('x', 'never') }}",
        ),
        ("three.md", "{# {{ a | x }} #}{{ a | upper | other }}"),
        ("README.md", "{{ a | not_used }}"),
    ] {
        files.insert(name.to_owned(), text.to_owned());
    }
    let found = compile("workflows/test", &files, Surroundings::NONE).err().unwrap();
    let found: String = found.iter().map(|problem| format!("{problem}\n")).collect();
    assert_snapshot!(found, @"
    workflows/test/three.md:1: the template uses the filter `other`, which does not exist
    workflows/test/two.md.j2:2: the template uses the test `nosuch`, which does not exist
    workflows/test/two.md.j2:3: the template uses the filter `nope`, which does not exist
    workflows/test/two.md.j2:3: the template uses the test `never`, which does not exist
    workflows/test/workflow.yaml:5: steps.one.ask.prompt: the template uses the filter `nofilter`, which does not exist
    workflows/test/workflow.yaml:6: steps.two.ask.prompt: the template `two.md.j2` uses `b`, which is not there; known: a, one
    ");
}

/// Also through others, from a text in the document, and before the step that they name.
#[test]
fn templates_see_what_the_files_use_that_they_include() {
    let yaml = "
workflow: test
input: {a: text}
steps:
  one: {ask: {role: m, prompt: '{% set mark = 1 %}{% include \"middle.md\" %}'}}
  two: {ask: {role: m, prompt: two.md.j2}}
  late: {code: 'a + \"!\"'}
output: {one: one, two: two}
stand_ins: {m: echo}
";
    let mut files = files(yaml, ECHO);
    for (name, text) in [
        ("middle.md", "{{ mark }} {% include 'inner.md' %}"),
        ("inner.md", "{{ late }}"),
        ("two.md.j2", "{% include 'inner.md' %}?"),
    ] {
        files.insert(name.to_owned(), text.to_owned());
    }
    let workflow = Arc::new(compile("workflows/test", &files, Surroundings::NONE).unwrap());
    let played = play_sample(&workflow, &input(&json!({"a": "x"})), 1).unwrap();
    assert_eq!(json!(played.output), json!({"one": "1 x!", "two": "x!?"}), "{:?}", played.ending);

    files.insert("inner.md".to_owned(), "{{ lat }}{{ a.b }}{{ mark }}".to_owned());
    let found = compile("workflows/test", &files, Surroundings::NONE).err().unwrap();
    let found: String = found.iter().map(|problem| format!("{problem}\n")).collect();
    assert_snapshot!(found, @"
    workflows/test/workflow.yaml:5: steps.one.ask.prompt: the template `inner.md` uses `a.b`, but a text has no `b`
    workflows/test/workflow.yaml:5: steps.one.ask.prompt: the template `inner.md` uses `lat`, which is not there; known: a
    workflows/test/workflow.yaml:6: steps.two.ask.prompt: the template `inner.md` uses `a.b`, but a text has no `b`
    workflows/test/workflow.yaml:6: steps.two.ask.prompt: the template `inner.md` uses `lat`, which is not there; known: a, one
    workflows/test/workflow.yaml:6: steps.two.ask.prompt: the template `inner.md` uses `mark`, which is not there; known: a, one
    ");
}

#[test]
fn names_and_ends_keep_what_they_mean() {
    let with = |steps: &str| {
        let yaml = format!("workflow: test\ninput: {{n: integer, l: list<text>}}\nsteps:\n{steps}output: {{n: n}}\n");
        problems(&yaml, "")
    };
    for (steps, said) in [
        ("  None: {code: n + 4}\n", "`None` is a word of the language"),
        ("  'True': {code: n > 5}\n", "`True` is a word of the language"),
        ("  self: {code: n}\n", "`self` is a word of the language"),
        ("  len: {code: n}\n  f: {code: len(l)}\n", "`len` is a value here and cannot be called"),
        ("  e: {end: {when: n > 1, as: good, success: true}}\n", "accepts the row but gives it no `output`"),
        ("  e: {end: {when: n > 1, as: finished}}\n", "`finished` is how rows end without an `end`"),
        ("  e: {end: {when: n > 1, as: invalid_scenario}}\n", "`invalid_scenario` is how rows end without an `end`"),
        ("  e: {end: {when: n > 1, as: playbook}}\n", "`playbook` is how rows end without an `end`"),
    ] {
        assert!(with(steps).contains(said), "{steps}: {}", with(steps));
    }
    assert_eq!(with("  f: {code: '[len for len in l]'}\n"), "");
}

/// As in metrics: 1 and 1.0 are the same, wherever they stand.
#[test]
fn an_expected_output_may_write_numbers_in_either_way() {
    let yaml = "
workflow: test
input: {n: number}
steps: {all: {code: '[n, 1, {\"half\": n / 2}]'}}
output: {all: all}
samples:
  - {input: {n: 2}, output: {all: [2.0, 1.0, {half: 1}]}}
  - {input: {n: 2}, output: {all: [2, 1, {half: 2}]}}
";
    let workflow = compiled(yaml, "");
    let differs = |sample: &domain::workflow::Sample| {
        play_sample(&workflow, &sample.input, 1).unwrap().differs_from(sample).is_some()
    };
    assert_eq!(workflow.spec.samples.iter().map(differs).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn whole_numbers_of_input_rows_count() {
    let yaml = "
workflow: test
input: {n: integer}
steps: {all: {code: '[str(i) for i in range(n)]'}}
output: {all: all}
";
    assert!(play(yaml, "", &json!({"n": 2.0})).starts_with(r#"finished: {"all":["0","1"]}"#));
    let refused = compiled(yaml, "").checked(&input(&json!({"n": 2.5}))).unwrap_err();
    assert_eq!(refused, "n: expected integer, found 2.5");
}

#[test]
fn an_item_and_a_state_have_different_names() {
    let yaml = |name: &str| {
        format!(
            "workflow: test\ninput: {{l: list<number>}}\nsteps:\n  m:\n    map: l\n    as: x\n    takes: stream\n    state: {{{name}: 0}}\n    steps: {{u: {{code: x + {name}}}}}\n    next: {{{name}: u}}\n    yields: u\noutput: {{m: m}}\n"
        )
    };
    assert_snapshot!(play(&yaml("sum"), "", &json!({"l": [1, 2, 3]})), @r#"finished: {"m":[1,3,6]} after 2 events"#);
    let found = problems(&yaml("x"), "");
    assert_eq!(found, "workflows/test/workflow.yaml:6: steps.m.as: `x` stands in `state`, too; choose another name\n");
}

#[test]
fn values_may_be_called_like_functions_of_templates() {
    let yaml = "
workflow: test
input: {range: text, dict: {a: text}, namespace: text}
steps:
  debug: {code: range + dict.a}
  said: {ask: {role: m, prompt: '{{ range }} {{ dict.a }} {{ namespace }} {{ debug }}'}}
output: {said: said}
stand_ins: {m: echo}
";
    let row = json!({"range": "r", "dict": {"a": "d"}, "namespace": "n"});
    assert_snapshot!(play(yaml, ECHO, &row), @r#"finished: {"said":"r d n rd"} after 3 events"#);
    let functions = "
workflow: test
input: {n: integer}
steps: {said: {ask: {role: m, prompt: '{% for i in range(n) %}{{ i }}{% endfor %}'}}}
output: {said: said}
stand_ins: {m: echo}
";
    assert_snapshot!(play(functions, ECHO, &json!({"n": 3})), @r#"finished: {"said":"012"} after 3 events"#);
}

#[test]
fn what_a_map_or_a_loop_names_itself_is_no_step_around_it() {
    let yaml = "
workflow: test
input: {xs: list<text>}
steps:
  docs: {code: '[doc for doc in found if doc != longest]'}
  found: {map: xs, as: x, steps: {docs: {code: x + '!'}}, yields: docs}
  text:
    loop: {max: 5, until: len(text) > 3}
    state: {text: start}
    steps: {more: {ask: {role: m, prompt: '{{ text }}+'}}}
    next: {text: more}
  start: {code: \"''.join(xs)\"}
  counted:
    map: xs
    takes: stream
    state: {n: item}
    steps: {size: {code: n + len(item)}}
    next: {n: size}
    yields: size
  item: {code: len(docs)}
  longest: {code: longest(found)}
output: {docs: docs, text: text.text, counted: counted, longest: longest}
stand_ins: {m: echo}
";
    let functions = format!("{ECHO}\ndef longest(texts): return sorted(texts, key=len)[-1]\n");
    let found = problems(&yaml.replace("  item: {code: len(docs)}\n", ""), &functions);
    assert!(found.contains("steps.counted.state.n: there is no `item` here"), "{found}");
    let taken = problems(yaml, &functions);
    assert!(taken.contains("steps.counted.as: the name `item` is used already around it"), "{taken}");
    let yaml = yaml.replace("takes: stream", "as: y\n    takes: stream").replace("len(item)", "len(y)");
    assert_snapshot!(play(&yaml, &functions, &json!({"xs": ["a", "bcd"]})), @r#"finished: {"docs":["a!"],"text":"abcd+","counted":[2,5],"longest":"bcd!"} after 3 events"#);
}

#[test]
fn what_a_map_or_a_loop_takes_from_around_it_is_waited_for() {
    let with = |steps: &str| {
        problems(
            &format!("workflow: test\ninput: {{xs: list<text>}}\nsteps:\n{steps}output: {{xs: xs}}\n"),
            "def len_of(x): return len(x)\n",
        )
    };
    for steps in [
        "  a: {loop: {max: 2}, state: {a: a}, steps: {u: {code: a}}, next: {a: u}}\n",
        "  a: {map: a, steps: {u: {code: item}}}\n",
        "  a: {loop: {max: 2, until: a}, state: {s: 0}, steps: {a: {code: s}}, next: {s: a}}\n",
        "  a: {map: xs, as: x, steps: {u: {code: x + a}}}\n",
        "  a: {code: a(xs)}\n",
    ] {
        let found = with(steps);
        assert!(found.contains("steps.a: these steps wait for each other: a -> a"), "{steps}: {found}");
    }
    assert_eq!(with("  len_of: {code: len_of(xs)}\n"), "");
}

#[test]
fn an_item_at_a_place_is_read() {
    let yaml = "
workflow: test
input: {words: list<text?>}
steps: {upper: {code: \"words[0].upper() if words[0] != None else '?'\"}}
output: {first: 'words[0]', upper: upper}
";
    assert_snapshot!(play(yaml, "", &json!({"words": ["a"]})), @r#"finished: {"first":"a","upper":"A"} after 2 events"#);
    assert_snapshot!(play(yaml, "", &json!({"words": [null]})), @r#"finished: {"first":null,"upper":"?"} after 2 events"#);
}

/// As an input row's: 3.0 is the integer 3.
#[test]
fn whole_numbers_of_replies_count() {
    let yaml = "
workflow: test
input: {reply: text}
steps:
  got: {ask: {role: m, prompt: '{{ reply }}', returns: {type: object, required: [n, x], properties: {n: {type: integer}, x: {type: number}}}}}
  all: {code: '[str(i) for i in range(got.n)] + [str(got.x + 1)]'}
output: {n: got.n, x: got.x, all: all}
stand_ins: {m: echo}
";
    let row = json!({"reply": "{\"n\": 3.0, \"x\": 2.0}"});
    assert_snapshot!(play(yaml, ECHO, &row), @r#"finished: {"n":3,"x":2.0,"all":["0","1","2","3.0"]} after 3 events"#);
}

#[test]
fn a_state_keeps_the_type_that_it_begins_with() {
    let found = |first: &str, next: &str| {
        let yaml = format!(
            "workflow: test\ninput: {{xs: list<text>}}\nsteps:\n  l:\n    loop: {{max: 2}}\n    state: {{s: \"{first}\"}}\n    steps: {{u: {{code: len(xs)}}}}\n    next: {{s: \"{next}\"}}\noutput: {{s: l.s}}\n"
        );
        problems(&yaml, "")
    };
    for (first, next, said) in [
        ("{'n': 0}", "'x'", "is a text, but `s` begins as a {n: number}"),
        ("{'n': 0}", "{'m': u}", "is a {m: number}, but `s` begins as a {n: number}"),
        ("['a']", "[u]", "is a list<number>, but `s` begins as a list<text>"),
        ("[{'n': 0}]", "[{'n': 'x'}]", "is a list<{n: text}>, but `s` begins as a list<{n: number}>"),
    ] {
        assert_eq!(found(first, next), format!("workflows/test/workflow.yaml:8: steps.l.next.s: {said}\n"), "{first}");
    }
    for (first, next) in [
        ("[]", "[u]"),
        ("{}", "'x'"),
        ("{'all': [], 'best': None, 'more': {}}", "{'all': [u], 'best': xs, 'more': {'n': u}}"),
        ("{'n': 0}", "{'n': u, 'more': xs}"),
        ("[{'n': None}]", "s + [{'n': u}]"),
    ] {
        assert_eq!(found(first, next), "", "{first}");
    }
}
