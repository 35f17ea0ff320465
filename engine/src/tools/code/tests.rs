use serde_json::{Value, json};

use super::{Code, CodeError, Moment};

const MOMENT: Moment<'static> = Moment { now: "2026-03-02T09:00:00Z", id_seed: "case 0" };

fn call(source: &str, arguments: Value) -> Result<(Value, Value), CodeError> {
    let code = Code::compile("tools.star", source.to_owned()).map_err(CodeError::Broken)?;
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    code.call("tool", &json!({"items": {"a": {"n": 1}}}), &arguments, &MOMENT)
}

#[test]
fn a_function_answers_and_changes_the_world() {
    let source = "def tool(world, ctx, key, by = 1):\n  world['items'][key]['n'] += by\n  return {'n': world['items'][key]['n'], 'on': ctx.today}";
    let (answer, world) = call(source, json!({"key": "a"})).expect("an answer");
    assert_eq!(answer, json!({"n": 2, "on": "2026-03-02"}));
    assert_eq!(world, json!({"items": {"a": {"n": 2}}}));
}

#[test]
fn fail_is_an_answer_for_the_agent() {
    let found = call("def tool(world, ctx):\n  world['x'] = 1\n  fail('no such account')", json!({}));
    assert_eq!(found, Err(CodeError::Refused("no such account".into())));
}

#[test]
fn broken_code_names_file_and_line() {
    let Err(CodeError::Broken(text)) = call("def tool(world, ctx):\n  return world['nope']", json!({})) else {
        panic!("an error was expected")
    };
    assert!(text.contains("tools.star:2"), "{text}");
}

#[test]
fn what_never_ends_is_stopped() {
    let hostile = [
        "def tool(world, ctx):\n  n = 0\n  for i in range(1000000000):\n    n += i\n  return n",
        "def tool(world, ctx):\n  return tool(world, ctx)",
        "def tool(world, ctx):\n  x = []\n  for i in range(100000):\n    x = [x]\n  return x",
        "def tool(world, ctx):\n  x = []\n  x.append(x)\n  return x",
        "def tool(world, ctx):\n  world['items']['a'] = world",
        "def tool(world, ctx):\n  x = []\n  for i in range(1000000):\n    x.append('a' * 10000 + str(i))\n  return len(x)",
        "load('other.star', 'x')\ndef tool(world, ctx):\n  return 1",
    ];
    for source in hostile {
        assert!(matches!(call(source, json!({})), Err(CodeError::Broken(_))), "{source}");
    }
}

#[test]
fn builtins_do_what_authors_expect() {
    let source = "def tool(world, ctx):\n  return [round(1.005, 2), round(-2.5), round(2.675, 2), money(12.5), days_between('2026-01-01', '2026-03-02T10:00:00Z')]";
    assert_eq!(call(source, json!({})).expect("an answer").0, json!([1.01, -3.0, 2.68, "12.50", 60]));
    let ids = "def tool(world, ctx):\n  return [fresh_id('a'), fresh_id('a')]";
    let first = call(ids, json!({})).expect("an answer").0;
    assert_eq!(first, call(ids, json!({})).expect("an answer").0);
    assert_ne!(first[0], first[1]);
}

#[test]
fn an_agents_arithmetic_is_done_or_refused() {
    let source = "def tool(world, ctx, expression):\n  return round_half_even(arithmetic(expression), 2)";
    let answer = |expression: &str| call(source, json!({"expression": expression})).map(|(answer, _)| answer);
    assert_eq!(answer("0.125 + 0"), Ok(json!(0.12)));
    assert_eq!(answer("2.675 * 1"), Ok(json!(2.67)));
    assert_eq!(answer("960 - 175.93 * 463.81"), Ok(json!(-80638.09)));
    assert_eq!(answer("1 / 0"), Err(CodeError::Refused("division by zero".into())));
}
