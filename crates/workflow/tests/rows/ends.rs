//! How rows end, and what steps wait for: the same replies give the same row, in whatever order they come.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::seed::Seed;
use domain::task::{Resolution, Task};
use serde_json::{Value, json};
use workflow::{Row, Surroundings, Workflow, compile, compile_all};

use crate::ECHO;
use crate::support::{calling, compiled, drive, files, input, problems};

/// How a row ends, and its output or the reason, in several orders of replies. `no` is an answer that is lost.
fn ends(workflow: &Arc<Workflow>, row: &Value) -> String {
    let play = |turn: usize| {
        let mut row = Row::begin(workflow, &input(row), Seed::new(1, "test", 0)).unwrap();
        drive(
            &mut row,
            |open| turn % open,
            |row, request| match row.stand_in(request) {
                Resolution::Reply(reply) if reply.content == "no" => Resolution::Lost { reason: "gone".to_owned() },
                resolution => resolution,
            },
        );
        let ending = row.ending().unwrap();
        let output = row.output().map_or_else(|| ending.reason.clone(), |output| json!(output).to_string());
        format!("{}: {output}", ending.name)
    };
    let first = play(0);
    (1..6).for_each(|turn| assert_eq!(play(turn), first, "{turn}"));
    first
}

fn of(steps: &str, output: &str) -> Arc<Workflow> {
    compiled(&document(steps, output), ECHO)
}

fn document(steps: &str, output: &str) -> String {
    format!("workflow: test\ninput: {{xs: list<text>}}\nsteps:\n{steps}output: {output}\nstand_ins: {{m: echo}}\n")
}

#[test]
fn items_and_rounds_wait_for_the_steps_around_them() {
    let steps = "
  a: {ask: {role: m, prompt: a}}
  m: {map: xs, as: x, steps: {u: {code: x}}, yields: {x: x, a: a}}
  whole: {map: xs, as: y, takes: stream, state: {n: 0}, steps: {v: {code: y}}, next: {n: n + len(b)}, yields: n}
  turns:
    loop: {max: 5, until: len(said) >= len(b)}
    state: {said: '[]'}
    steps: {i: {code: len(said)}}
    next: {said: 'said + [b + str(i)]'}
  nested:
    map: xs
    as: z
    steps:
      c: {ask: {role: m, prompt: '{{ z }}'}}
      inner: {map: '[1, 2]', as: j, steps: {w: {code: j}}, yields: '[w, c, b]'}
    yields: inner
  b: {ask: {role: m, prompt: bb}}
";
    let workflow = of(steps, "{m: m, whole: whole, turns: turns.said, nested: nested}");
    assert_eq!(
        ends(&workflow, &json!({"xs": ["p", "q"]})),
        r#"finished: {"m":[{"x":"p","a":"a"},{"x":"q","a":"a"}],"whole":[0,2],"turns":["bb0","bb1"],"nested":[[[1,"p","bb"],[2,"p","bb"]],[[1,"q","bb"],[2,"q","bb"]]]}"#
    );
    assert_eq!(
        ends(&workflow, &json!({"xs": []})),
        r#"finished: {"m":[],"whole":[],"turns":["bb0","bb1"],"nested":[]}"#
    );
}

#[test]
fn a_step_that_a_map_reads_when_it_is_complete_cannot_wait_for_the_map() {
    for (field, step) in [
        ("yields", "{map: xs, as: x, steps: {u: {code: x}}, yields: {x: x, a: a}}"),
        ("next", "{map: xs, as: x, takes: stream, state: {s: 0}, steps: {u: {code: x}}, next: {s: len(a)}, yields: x}"),
        ("until", "{loop: {max: 2, until: a > 1}, state: {s: 0}, steps: {u: {code: s}}, next: {s: u + 1}}"),
    ] {
        let steps = format!("  m: {step}\n  a: {{code: len(m)}}\n");
        let found = problems(&document(&steps, "{a: a}"), ECHO);
        assert!(found.contains("steps.m: these steps wait for each other: m -> a -> m"), "{field}: {found}");
    }
}

#[test]
fn a_state_waits_for_the_whole_list_that_the_map_goes_through() {
    let steps = "
  one: {map: xs, as: x, steps: {s: {ask: {role: m, prompt: '{{ x }}'}}}, yields: s}
  two: {map: one, as: y, takes: stream, state: {total: len(one)}, steps: {u: {code: total}}, yields: [y, u]}
";
    assert_eq!(ends(&of(steps, "{two: two}"), &json!({"xs": ["a", "b"]})), r#"finished: {"two":[["a",2],["b",2]]}"#);
}

/// The map is complete when the end has already ended the workflow that is called.
#[test]
fn a_workflow_that_is_called_ends_once() {
    let inner = "
workflow: inner
input: {word: text}
steps:
  all:
    map: '[1, 2]'
    as: i
    steps:
      said: {ask: {role: m, prompt: '{{ i }} {{ word }}'}}
      both: {map: '[1, 2]', as: j, steps: {again: {ask: {role: m, prompt: '{{ j }} {{ said }}'}}}, yields: again}
    yields: both
  gone: {end: {when: word == 'gone', as: gone}}
output: {all: all}
stand_ins: {m: echo}
";
    let steps = "
  called: {map: xs, as: x, steps: {one: {call: {workflow: inner, with: {word: x}}}}, yields: one}
  other: {ask: {role: m, prompt: other}}
";
    let workflow = calling((inner, ECHO), (&document(steps, "{called: called, other: other}"), ECHO));
    assert_eq!(ends(&workflow, &json!({"xs": ["gone"]})), r#"finished: {"called":[null],"other":"other"}"#);
    assert_eq!(
        ends(&workflow, &json!({"xs": ["a", "gone"]})),
        r#"finished: {"called":[{"all":[["1 1 a","2 1 a"],["1 2 a","2 2 a"]]},null],"other":"other"}"#
    );
}

#[test]
fn an_item_that_fails_stands_behind_its_steps_and_before_the_next_one() {
    let steps = "
  all:
    map: xs
    as: topic
    steps:
      claims: {ask: {role: m, prompt: '{{ topic }}', split: json_items}}
      judged: {map: claims, as: claim, steps: {bad: {end: {when: claim == 'bad', as: bad_claim}}}}
    yields: YIELDS
";
    let with = |yields: &str| of(&steps.replace("YIELDS", yields), "{all: all}");
    let (counted, first) = (with("{topic: topic, n: len(claims)}"), with("claims[0]"));
    let (empty, bad, good) = ("[]", r#"["bad"]"#, r#"["good"]"#);
    assert_eq!(ends(&counted, &json!({"xs": [empty, bad]})), "bad_claim: ");
    assert_eq!(
        ends(&counted, &json!({"xs": [empty, good]})),
        r#"finished: {"all":[{"topic":"[]","n":0},{"topic":"[\"good\"]","n":1}]}"#
    );
    assert!(ends(&first, &json!({"xs": [empty, bad]})).starts_with("failed_code: all: "));
    assert_eq!(ends(&first, &json!({"xs": [bad, empty]})), "bad_claim: ");
    assert!(ends(&first, &json!({"xs": [good, empty, bad]})).starts_with("failed_code: all: "));
}

#[test]
fn too_many_items_count_before_what_any_of_them_does() {
    let steps = "
  two: {map: one, as: y, most: 1, steps: {bad: {end: {when: y == 'stop', as: stopped}}}, yields: y}
  one: {map: xs, as: x, steps: {s: {ask: {role: m, prompt: '{{ x }}'}}}, yields: s}
";
    let workflow = of(steps, "{two: two}");
    assert_eq!(ends(&workflow, &json!({"xs": ["stop"]})), "stopped: ");
    let too_many = "too_many_items: two: there are more than 1 items; `most` of the step says how many there may be";
    assert_eq!(ends(&workflow, &json!({"xs": ["stop", "go"]})), too_many);
}

/// Steps may stand in any order, also before the one that they wait for.
#[test]
fn a_row_ends_where_steps_wait_for_one_that_has_no_value() {
    let unusable = "a: the reply cannot be used: it is none of these: spam, fine";
    let failing = "  a: {ask: {role: m, prompt: x, choices: [spam, fine], repairs: 0}}\n";
    for step in [
        "  b: {code: a + '!'}\n",
        "  b: {when: a == 'spam', code: len(xs)}\n",
        "  b: {ask: {role: m, prompt: '{{ a }}'}}\n  c: {code: b + a}\n",
        "  b: {map: xs, as: x, steps: {u: {code: x}}, yields: {x: x, a: a}}\n",
        "  b: {map: xs, as: x, steps: {u: {code: x + a}}}\n",
        "  b: {loop: {max: 3, until: s == a}, state: {s: \"''\"}, steps: {u: {code: s}}, next: {s: u}}\n",
    ] {
        let workflow = of(&format!("{step}{failing}"), "{b: b}");
        let ended = ends(&workflow, &json!({"xs": ["p", "q"]}));
        assert_eq!(ended, format!("invalid_reply: {unusable}"), "{step}");
    }
    let lost = of("  b: {code: a + '!'}\n  a: {ask: {role: m, prompt: 'no'}}\n", "{b: b}");
    assert_eq!(ends(&lost, &json!({"xs": []})), "no_answer: a: gone");
    let steps = "
  sum: {code: len(m)}
  m:
    map: xs
    as: x
    steps:
      s: {ask: {role: m, prompt: '{{ x }}'}}
      bad: {end: {when: s == 'stop', as: stopped}}
    yields: s
";
    let counted = of(steps, "{sum: sum}");
    assert_eq!(ends(&counted, &json!({"xs": ["go", "stop", "go"]})), "stopped: ");
    assert_eq!(ends(&counted, &json!({"xs": ["go", "go"]})), r#"finished: {"sum":2}"#);
    // The same in a workflow that is called: what fails there fails here.
    let inner = format!(
        "workflow: inner\ninput: {{}}\nsteps:\n  b: {{code: a}}\n{failing}output: {{b: b}}\nstand_ins: {{m: echo}}\n"
    );
    let outer =
        document("  c: {map: xs, as: x, steps: {d: {call: {workflow: inner, with: {}}}}, yields: d}\n", "{c: c}");
    let outer = outer.replace("stand_ins: {m: echo}\n", "");
    let workflow = calling((&inner, ECHO), (&outer, ""));
    assert_eq!(ends(&workflow, &json!({"xs": ["p"]})), format!("invalid_reply: c[0].d[0].{unusable}"));
}

#[test]
fn workflows_in_a_circle_and_loops_without_end_are_refused() {
    let using = |own: &str, other: &str| {
        files(
            &format!(
                "workflow: {own}\ninput: {{}}\nsteps:\n  a: {{call: {{workflow: {other}, with: {{}}}}}}\noutput: {{a: a}}\n"
            ),
            "",
        )
    };
    let folders = BTreeMap::from([("one".to_owned(), using("one", "two")), ("two".to_owned(), using("two", "one"))]);
    let (workflows, found) = compile_all("workflows", &folders, Surroundings::NONE.cases);
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(workflows.is_empty(), "{found:?}");
    assert!(found.iter().any(|problem| problem.contains("in a circle: one -> two -> one")), "{found:?}");
    let step = "  l: {loop: {until: done}, state: {done: false}, steps: {u: {code: done}}, next: {done: u}}\n";
    let found = problems(&document(step, "{l: l}"), ECHO);
    assert!(found.contains("steps.l.loop") && found.contains("field `max` is missing"), "{found}");
}

/// An `end` with an output gives a value like the end of the document does, of its own type.
#[test]
fn what_a_call_gives_may_be_the_output_of_an_end() {
    let inner = |end: &str| {
        format!(
            "workflow: inner\ninput: {{n: number}}\nsteps:\n  e: {{end: {{when: n > 1, as: early, {end}}}}}\noutput: {{size: n, text: \"'all'\"}}\n"
        )
    };
    let found = |end: &str, size: &str| {
        let inner = Arc::new(compile("workflows/inner", &files(&inner(end), ""), Surroundings::NONE).unwrap());
        let around = Surroundings { find: &|_| Ok(Arc::clone(&inner)), ..Surroundings::NONE };
        let yaml = format!(
            "workflow: test\ninput: {{n: number}}\nsteps:\n  c: {{call: {{workflow: inner, with: {{n: n}}}}}}\noutput: {{size: {size}}}\n"
        );
        match compile("workflows/test", &files(&yaml, ""), around) {
            Ok(workflow) => ends(&Arc::new(workflow), &json!({"n": 2})),
            Err(found) => found.iter().map(|problem| format!("{problem}\n")).collect(),
        }
    };
    let with = |output: &str| format!("success: true, output: {output}");
    assert_eq!(found(&with("{text: \"'part'\", size: n + 1}"), "c.size + 1"), r#"finished: {"size":4}"#);
    assert_eq!(
        found(&with("{size: \"'none'\", text: \"''\"}"), "str(c.size) + c.text"),
        r#"finished: {"size":"none"}"#
    );
    assert_eq!(found(&with("{size: 7}"), "c.size"), r#"finished: {"size":7}"#);
    assert_eq!(
        found(&with("{size: null, text: \"''\"}"), "c.size + 1"),
        "workflows/test/workflow.yaml:5: output.size: `c.size` may be None here; say what holds then, such as `... if c.size != None else ...`\n"
    );
    assert_eq!(
        found("success: false", "c.size"),
        "workflows/test/workflow.yaml:5: output.size: `c` may be None here; say what holds then, such as `... if c != None else ...`\n"
    );
}
