use serde_json::{Value, json};

use super::{CallContext, Code, CodeError};
use crate::testing::ProcessorTime;
use crate::world::World;

const MOMENT: CallContext<'static> = CallContext { now: "2026-03-02T09:00:00Z", id_seed: "case 0" };

fn call(source: &str, arguments: Value) -> Result<(Value, Value), CodeError> {
    call_on(&json!({"items": {"a": {"n": 1}}}), source, arguments)
}

/// The answer, and the world that the patch leads to.
fn call_on(world: &Value, source: &str, arguments: Value) -> Result<(Value, Value), CodeError> {
    let code = Code::compile("tools.star", source.to_owned(), &[]).map_err(|e| CodeError::Broken(format!("{e:?}")))?;
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let world = World::new(world);
    let (answer, patch) = code.call("tool", None, &world, &arguments, &MOMENT)?;
    Ok((answer, world.apply(&patch).expect("the patch applies").to_json()))
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
        "def tool(world, ctx):\n  return len(list(range(400000000)))",
        "def tool(world, ctx):\n  return len('a' * 2000000000)",
        "def tool(world, ctx):\n  return len(100000000 * [0])",
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
    let source = "def tool(world, ctx):\n  return [round(1e300, 12) == 1e300, money(1.005), format_number(2.0, 0), add_days(ctx.today, -2), add_days('2028-02-28', 1), weekday(ctx.now)]";
    assert_eq!(
        call(source, json!({})).expect("an answer").0,
        json!([true, "1.01", "2", "2026-02-28", "2028-02-29", "Monday"])
    );
    for bad in [
        "days_between('soon', ctx.today)",
        "add_days('2026-02-30', 1)",
        "weekday('')",
        "add_days(ctx.today, 2147483647)",
    ] {
        let found = call(&format!("def tool(world, ctx):\n  return {bad}"), json!({}));
        assert!(matches!(found, Err(CodeError::Refused(_))), "{bad}: {found:?}");
    }
    let ids = "def tool(world, ctx):\n  return [fresh_id('a'), fresh_id('a')]";
    let first = call(ids, json!({})).expect("an answer").0;
    assert_eq!(first, call(ids, json!({})).expect("an answer").0);
    assert_ne!(first[0], first[1]);
}

/// A world with a collection large enough to be referred to, and a list.
fn large() -> Value {
    let items: serde_json::Map<String, Value> =
        (0..20).map(|i| (format!("i{i:02}"), json!({"n": i, "tags": ["x"]}))).collect();
    // More than 64 bits hold.
    let serial: Value = serde_json::from_str("123456789012345678901234567890").expect("a number");
    json!({"items": items, "log": [{"id": 1}], "settings": {"limit": 3, "serial": serial}})
}

/// What a function answers on the large world, and how it changes it.
fn on_large(body: &str) -> String {
    let source = format!("def tool(world, ctx):\n{body}");
    let code = Code::compile("tools.star", source, &[]).expect("it compiles");
    match code.call("tool", None, &World::new(&large()), &serde_json::Map::new(), &MOMENT) {
        Ok((answer, patch)) => format!("{answer} {}", json!(patch)),
        Err(CodeError::Refused(text)) => format!("refused: {text}"),
        Err(CodeError::Broken(text)) => text,
    }
}

#[test]
fn a_large_collection_acts_as_a_dict() {
    use insta::assert_snapshot;
    assert_snapshot!(on_large("  i = world['items']\n  return [len(i), 'i03' in i, 'x' in i, i['i03']['n'], i.get('x'), i.get('x', 7), i.get('i04')['n'], bool(i), type(i)]"), @r#"[20,true,false,3,null,7,4,true,"dict"] []"#);
    assert_snapshot!(on_large("  return [k for k in world['items']][:2] + world['items'].keys()[-1:] + list(world)"), @r#"["i00","i01","i19","items","log","settings"] []"#);
    assert_snapshot!(on_large("  return [k + str(v['n']) for k, v in world['items'].items() if v['n'] > 17]"), @r#"["i1818","i1919"] []"#);
    assert_snapshot!(on_large("  return world['items']['nope']"), @r#"tools.star:2, in tool: Key `"nope"` was not found"#);
    assert_snapshot!(on_large("  return [world['items'] == world['items'], world['items'] == {}, sorted(world['items'])[0]]"), @r#"[true,false,"i00"] []"#);
    assert_snapshot!(on_large("  return world['items']").len(), @"554");
    assert_snapshot!(on_large("  d = dict(world['items'], z = 1)\n  d.pop('i00')\n  return [len(d), len(world['items']), dict([('a', 1)], b = 2), dict(), dict({1: 2}) == {1: 2}]"), @r#"[20,20,{"a":1,"b":2},{},true] []"#);
    assert_snapshot!(on_large("  d = world['items'] | {'i00': 7}\n  return [d['i00'], len(d), len(world['settings'] | {'x': 1})]"), @"[7,20,3] []");
    assert_snapshot!(on_large("  x = [1]\n  for i in range(25):\n    x = [x, x]\n  return x"), @"tools.star:1, in tool: the answer of `tool` holds more than 1000000 values");
}

#[test]
fn only_what_was_touched_is_changed() {
    use insta::assert_snapshot;
    assert_snapshot!(on_large("  x = world['items']['i05']"), @"null []");
    assert_snapshot!(on_large("  world['items']['i05']['n'] = 5.0"), @"null []");
    assert_snapshot!(on_large("  return world['settings']['serial'] > 1"), @"true []");
    assert_snapshot!(on_large("  world['items']['i05']['tags'].append('y')\n  world['log'].append({'id': 2})\n  world['settings']['limit'] += 1"), @r#"null [{"op":"add","path":"/items/i05/tags/1","value":"y"},{"op":"add","path":"/log/1","value":{"id":2}},{"op":"replace","path":"/settings/limit","value":4}]"#);
    assert_snapshot!(on_large("  i = world['items']\n  i['new'] = {'n': 1}\n  i['new']['n'] += 1\n  return [i.pop('i00')['n'], i.pop('zz', None), len(i), i.keys()[0], i.keys()[-1]]"), @r#"[0,null,20,"i01","new"] [{"op":"remove","path":"/items/i00"},{"op":"add","path":"/items/new","value":{"n":2}}]"#);
    assert_snapshot!(on_large("  i = world['items']\n  i.pop('i00')\n  i['i00'] = {'n': 0, 'tags': ['x']}\n  i.update({'i01': i['i02']})\n  i['i02']['n'] = 9"), @r#"null [{"op":"replace","path":"/items/i01/n","value":9},{"op":"replace","path":"/items/i02/n","value":9}]"#);
    assert_snapshot!(on_large("  world['copy'] = world['items']\n  world['items'].clear()\n  return len(world['copy'])"), @r#"0 [{"op":"add","path":"/copy","value":{}},{"op":"remove","path":"/items/i00"},{"op":"remove","path":"/items/i01"},{"op":"remove","path":"/items/i02"},{"op":"remove","path":"/items/i03"},{"op":"remove","path":"/items/i04"},{"op":"remove","path":"/items/i05"},{"op":"remove","path":"/items/i06"},{"op":"remove","path":"/items/i07"},{"op":"remove","path":"/items/i08"},{"op":"remove","path":"/items/i09"},{"op":"remove","path":"/items/i10"},{"op":"remove","path":"/items/i11"},{"op":"remove","path":"/items/i12"},{"op":"remove","path":"/items/i13"},{"op":"remove","path":"/items/i14"},{"op":"remove","path":"/items/i15"},{"op":"remove","path":"/items/i16"},{"op":"remove","path":"/items/i17"},{"op":"remove","path":"/items/i18"},{"op":"remove","path":"/items/i19"}]"#);
    assert_snapshot!(on_large("  world['items'][7] = 1"), @"tools.star:2, in tool: keys of the world are texts, and 7 is not one");
    assert_snapshot!(on_large("  world['items']['f'] = len"), @"tools.star:1, in tool: the world holds len, which is no JSON");
    assert_snapshot!(on_large("  world['items']['f'] = {1: 2}"), @"tools.star:1, in tool: the world has the key 1, which is no text");
    assert_snapshot!(on_large("  world['items']['i00']['n'] = 9\n  fail('no')"), @"refused: no");
    assert_snapshot!(on_large("  for k in world['items'].keys():\n    world['items'].pop(k)\n  return len(world['items'])").len(), @"723");
}

#[test]
fn a_hook_runs_after_the_call_and_is_rolled_back_with_it() {
    let source = "def tool(world, ctx):\n  world['items']['a']['n'] = 2\n  return {'n': 2}\n\ndef derive(world, ctx, tool, answer):\n  world['last'] = [tool, answer['n'], ctx.today]\n  if answer['n'] != 2:\n    fail('no')";
    let code = Code::compile("tools.star", source.to_owned(), &[]).expect("it compiles");
    let world = World::new(&json!({"items": {"a": {"n": 1}}}));
    let (_, patch) = code.call("tool", Some("derive"), &world, &serde_json::Map::new(), &MOMENT).expect("an answer");
    let after = world.apply(&patch).expect("it applies").to_json();
    assert_eq!(after, json!({"items": {"a": {"n": 2}}, "last": ["tool", 2, "2026-03-02"]}));
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

/// What a function answers to, with a world of so many records.
fn answer(body: &str, records: usize) -> String {
    let items: serde_json::Map<String, Value> = (0..records).map(|i| (format!("k{i:02}"), json!({"n": i}))).collect();
    let code = Code::compile("tools.star", format!("def tool(world, ctx):\n{body}"), &[]).expect("it compiles");
    let world = World::new(&json!({"items": items}));
    match code.call("tool", None, &world, &serde_json::Map::new(), &MOMENT) {
        Ok((answer, _)) => answer.to_string(),
        Err(CodeError::Refused(text)) => format!("refused: {text}"),
        Err(CodeError::Broken(text)) => text,
    }
}

/// A dict of the world, of whatever size, and one that the author made with the same entries.
#[test]
fn every_dict_is_a_dict_of_starlark() {
    let same = [
        "p = d.popitem()\n  return [p, len(d), d.keys()[:2]]",
        "x = d.pop('k00')\n  d['k00'] = x\n  return [d.keys(), d.pop('zz', default = 7), d.pop('yy', 8)]",
        "d.update([('k01', 5), ('b', 6)], c = 7)\n  return d",
        "d.update({'a': 1})\n  d.update()\n  d.update(d)\n  return d",
        "d.update(a = 1)\n  d |= {'b': 2}\n  return [d, d | {'k00': 3}]",
        "n = {'x': 1}\n  n.update(d)\n  n |= d\n  return [n, n | d, n | d['k00']]",
        "return [d == dict(d), dict(d) == d, [d] == [dict(d)], {'x': (d,)} == {'x': (dict(d),)}, d != dict(d)]",
        "return [[{'n': 0}].index(d['k00']), d.values().index({'n': 2}), [1, d['k01'], {'n': 1}].index({'n': 1}, -1)]",
        "l = [{'n': 0}, 1]\n  l.remove(d['k00'])\n  m = d.values()\n  m.remove({'n': 1})\n  return [l, m]",
        "return [[d['k00']] == [{'n': 0}], ({'n': 0},) == (d['k00'],), (d['k00'], 1) in [({'n': 0}, 1)]]",
        "s = struct(r = {'n': 0})\n  return [s == struct(r = d['k00']), struct(r = d['k00']) in [s], struct(r = d['k01']) != s]",
        "return [d['k00'] in [{'n': 0}], {'n': 1} in d.values(), {'n': 9} not in d.values(), 'k00' in d, 3 in d]",
        "c = dict(d)\n  d['k00'] = {'n': 9}\n  return [c == d, d == c, c['k01'] == d['k01']]",
        "return [str(d), repr(d['k01']), '%s' % d['k01'], '{}'.format(d)]",
        "return [d.get(3), d.get('zz', 1), d.setdefault('zz', 2), d.setdefault('zz', 3), len(d), bool(d)]",
        "d.clear()\n  d['x'] = 1\n  return [d, len(d), bool(d)]",
        "return [sorted(d)[:2], list(d)[-1], [k for k in d][0], max(d), len([1 for _ in zip(d, d)]), type(d)]",
        "f = lambda **named: named\n  return [f(**d), f(a = 1, **d['k00'])]",
        "for k in d:\n    for l in d:\n      pass\n  d['later'] = 1\n  return len(d)",
        "for k in d:\n    break\n  d['later'] = 1\n  return len(d)",
        // What is wrong.
        "for k in d:\n    d.pop(k)",
        "for k in d:\n    d[k] = 1",
        "for k in d:\n    d.clear()",
        "for k in d:\n    d.setdefault('x', 1)",
        "for k in d:\n    d.update({'x': 1})",
        "return [] in d",
        "return d.get([])",
        "return d['zz']",
        "return d | 3",
        "return [{'n': 1}].index(d['k00'])",
        "return d.values().index({'n': 0}, 1)",
        "d.values().remove({'n': 99})",
    ];
    for records in [3, 20] {
        for body in same {
            let of_world = answer(&format!("  d = world['items']\n  {body}"), records);
            let own =
                answer(&format!("  d = {{k: {{'n': v['n']}} for k, v in world['items'].items()}}\n  {body}"), records);
            assert_eq!(of_world, own, "{records} records: {body}");
        }
    }
}

#[test]
fn texts_tell_numbers_as_they_are() {
    use insta::assert_snapshot;
    let text = |body: &str| answer(&format!("  x = 9999999.99\n  m = 1200000.0\n  {body}"), 1);
    assert_snapshot!(text("return [str(x), repr(m), '%s' % m, '%r, %d' % (x, m), 'a' + str(1e16) + str(0.00001)]"), @r#"["9999999.99","1200000.0","1200000.0","9999999.99, 1200000","a1e+161e-05"]"#);
    assert_snapshot!(text("return ['{}'.format(m), '{0} {0!r} {a:.2f}'.format(x, a = m), f'{x} {m:,.2f} {world[\"items\"]!r}']"), @r#"["1200000.0","9999999.99 9999999.99 1200000.00","9999999.99 1,200,000.00 {\"k00\": {\"n\": 0}}"]"#);
    assert_snapshot!(text("return [str([x, (m,), {'a': m}, struct(b = m), None]), str(set([m, 1]))]"), @r#"["[9999999.99, (1200000.0,), {\"a\": 1200000.0}, struct(b=1200000.0), None]","set([1200000.0, 1])"]"#);
    assert_snapshot!(text("return ['%.2f|%6.1f|%-6d|%06d|%+d|%x|%5s|%-5s|%%|%e' % (2.675, m, 42, 42, 42, 255, 'ab', 'ab', x)]"), @r#"["2.67|1200000.0|42    |000042|+42|ff|   ab|ab   |%|1.000000e+07"]"#);
    assert_snapshot!(text("return '%(n)03d of %(all)s' % {'n': 7, 'all': m}"), @r#""007 of 1200000.0""#);
    assert_snapshot!(text("return ['{:>8}|{:^8}|{:*<8}|{:08.3f}|{:,}|{:+}|{:.1%}|{:x}'.format('ab', 'ab', 'ab', 3.14159, 1234567, 5, 0.256, 255)]"), @r#"["      ab|   ab   |ab******|0003.142|1,234,567|+5|25.6%|ff"]"#);
    assert_snapshot!(text("return ['{:.2} {:.3} {:012,.2f} {:08,}'.format(3.0, 12.0, 1234.5, 123456)]"), @r#"["3.0 12.0 0,001,234.50 0,123,456"]"#);
    assert_snapshot!(text("return ['{:05}|{:<05}|{!r:06}|{:_x}|{:_b}|{:_}'.format('ab', 'ab', 'ab', 0xabcdef12, 255, 1234567), '%.3d' % 5]"), @r#"["ab000|ab000|\"ab\"00|abcd_ef12|1111_1111|1_234_567","005"]"#);
    assert_snapshot!(text("t = True\n  return ['{:5}|{:<3}|{:d}|{:.1f}|{}|{!s:5}|{:s}'.format(t, False, t, t, t, t, t), '%d %x %.1f %s' % (t, t, t, t)]"), @r#"["    1|0  |1|1.0|True|True |True","1 1 1.0 True"]"#);
    assert_snapshot!(text("return ['%c%c|%3c' % (65, 'b', 'c'), '%*d|%-*d|%.*f|%*s' % (5, 42, 5, 42, 2, 3.14159, -4, 'ab')]"), @r#"["Ab|  c","   42|42   |3.14|ab  "]"#);
    assert_snapshot!(text("s = 'a%s'\n  s %= m\n  n = 7\n  n %= 4\n  n *= 2\n  return [s, n, 7 % 4, -7.5 % 2]"), @r#"["a1200000.0",6,3,0.5]"#);
    assert_snapshot!(text("fail('You owe', m, [x])"), @"refused: You owe 1200000.0 [9999999.99]");
    assert_snapshot!(text("return [sum([1, 2.5]), sum([]), sum([1], 2), sum({1: 2}), len(set([1, 1, 2])), sorted(set(['b', 'a']))]"), @r#"[3.5,0,3,1,2,["a","b"]]"#);
    assert_snapshot!(text("l = []\n  l.append(l)\n  return str(l)"), @r#""[[...]]""#);
}

#[test]
fn what_does_not_fit_a_text_is_said() {
    use insta::assert_snapshot;
    let text = |body: &str| answer(&format!("  {body}"), 1);
    assert_snapshot!(text("return '%s' % ()"), @"tools.star:2, in tool: `%s` has more places than values");
    assert_snapshot!(text("return '%s' % (1, 2)"), @"tools.star:2, in tool: `%s` has fewer places than values; `%` in a text is written `%%`");
    assert_snapshot!(text("return '100% of ' % 1"), @r#""100 1f ""#);
    assert_snapshot!(text("return '%d' % 'x'"), @"tools.star:2, in tool: `d` needs a whole number and was given a string");
    assert_snapshot!(text("return '%.2f' % None"), @"tools.star:2, in tool: `f` needs a number and was given a NoneType");
    assert_snapshot!(text("return '{} {}'.format(1)"), @"tools.star:2, in tool: `{} {}` has no value for `{}`");
    assert_snapshot!(text("return '{:.2f}'.format('x')"), @"tools.star:2, in tool: `f` needs a number and was given a string");
    assert_snapshot!(text("return '{:.2}'.format(5)"), @"tools.star:2, in tool: decimals need a letter: `:.2f`");
    assert_snapshot!(text("return '{:.1d}'.format(True)"), @"tools.star:2, in tool: decimals need a letter: `:.1f`");
    assert_snapshot!(text("return '{:.3x}'.format(255)"), @"tools.star:2, in tool: decimals need a letter: `:.3f`");
    assert_snapshot!(text("return '%c' % 'ab'"), @"tools.star:2, in tool: `c` needs one character or its code, and was given a string");
    assert_snapshot!(text("return '%*d' % ('a', 1)"), @"tools.star:2, in tool: `*` in `%*d` needs a whole number and was given a string");
    assert_snapshot!(text("return '%*d' % 1"), @"tools.star:2, in tool: `%*d` has more places than values");
    assert_snapshot!(text("return '%*d' % (2000, 1)"), @"tools.star:2, in tool: a width or a number of digits is at most 1000");
    assert_snapshot!(text("return {} | 3"), @"tools.star:2, in tool: `|` joins two dicts, and its right side is of type int");
    assert_snapshot!(text("d = {}\n  d |= 3"), @"tools.star:3, in tool: `|=` joins two dicts, and its right side is of type int");
    assert_snapshot!(text("return sum(['a'])"), @"tools.star:2, in tool: `sum` adds numbers, not values of type string");
    assert_snapshot!(text("return set([1])"), @"tools.star:1, in tool: the answer of `tool` holds a set, which is no JSON: `sorted(...)` makes a list of it");
}

#[test]
fn texts_and_sums_are_kept_within_bounds() {
    let hostile = [
        "return '%1000000000d' % 1",
        "return '%.1000000000f' % 1",
        "return '{:1000000000}'.format(1)",
        "x = 'a' * 900000\n  return '%s%s' % (x, x)",
        "x = 'a' * 900000\n  return f'{x}{x}'",
        "x = [1]\n  for i in range(40):\n    x = [x, x]\n  return str(x)",
        "x = [1]\n  for i in range(40):\n    x = [x, x]\n  return '{}'.format(x)",
        "a = [1]\n  b = [1]\n  for i in range(40):\n    a = [a, a]\n    b = [b, b]\n  return a == b",
        "x = list(range(900000))\n  for i in range(1000):\n    sum(x)",
        "x = 'a' * 900000\n  for i in range(1000):\n    y = '%s' % [x]",
        "x = [1]\n  x *= 1000000000\n  return len(x)",
        "x = []\n  for i in range(100):\n    x = [x]\n  return str(x)",
        "x = 'a' * 900000\n  for i in range(100000):\n    print(x)",
    ];
    for body in hostile {
        let said = answer(&format!("  {body}"), 1);
        assert!(said.starts_with("tools.star:"), "{body}: {said}");
    }
}

#[test]
fn what_is_used_up_is_said_with_its_place() {
    use insta::assert_snapshot;
    let text = |body: &str| answer(&format!("  {body}"), 1);
    assert_snapshot!(text("for i in range(1000000):\n    for j in range(1000):\n      pass"), @"tools.star:1, in tool: the call took more than 1,000,000 steps; each call of a function and each round of a loop is one");
    assert_snapshot!(text("f = lambda g, n: g(g, n + 1)\n  return f(f, 0)"), @"tools.star:2, in lambda: functions call each other more than 64 deep (called from line 2, from line 2, from line 2)");
    assert_snapshot!(text("x = []\n  for i in range(1000000):\n    x.append('a' * 10000 + str(i))"), @"tools.star:1, in tool: the call made more than 128 MiB of values");
}

#[test]
fn what_costs_the_square_of_a_source_is_not_done() {
    let started = ProcessorTime::now();
    for part in ["f(**a)\n", "a *= ", "x.update(y), ", "**a, ", "f'{", "g(**a, ", "("] {
        // Mostly no Starlark, which is found out soon.
        drop(Code::compile("tools.star", format!("x = 1\n{}", part.repeat(20_000)), &[]));
    }
    started.assert_took_at_most(20, "");
}

#[test]
fn dates_and_times_are_computed() {
    use insta::assert_snapshot;
    let text = |body: &str| answer(&format!("  return {body}"), 1);
    assert_snapshot!(text("[minutes_between('09:30', '18:05'), minutes_between('2026-03-02T23:30', ctx.now), hours_between('2026-03-01', '2026-03-02T12:00')]"), @"[515,-870,36.0]");
    assert_snapshot!(text("[minutes_between('2026-03-02T10:00:00+01:00', ctx.now), minutes_between('18:00', '09:00')]"), @"[0,-540]");
    assert_snapshot!(text("[add_minutes('23:30', 45), add_minutes('2026-03-02T23:30:00Z', 45), add_hours('2026-03-02 09:00', -10), add_minutes('2026-03-02', 90)]"), @r#"["00:15","2026-03-03T00:15:00Z","2026-03-01 23:00","2026-03-02T01:30"]"#);
    assert_snapshot!(text("[add_months('2026-01-31', 1), add_months('2024-02-29', -12), date_of(ctx.now), time_of('2026-03-02T09:30:15.5+02:00')]"), @r#"["2026-02-28","2023-02-28","2026-03-02","09:30"]"#);
    assert_snapshot!(text("[time_parts(ctx.now), time_parts('09:30').day, time_parts('09:30').minute]"), @r#"[{"year":2026,"month":3,"day":2,"hour":9,"minute":0,"second":0},null,30]"#);
    assert_snapshot!(text("minutes_between('09:30', ctx.now)"), @"refused: `09:30` and `2026-03-02T09:00:00Z` are a moment and a time of day: there is no time between them");
    assert_snapshot!(text("add_minutes('9 o\\'clock', 1)"), @"refused: `9 o'clock` is not an ISO time such as 09:30, 2026-03-02T09:30 or 2026-03-02T09:30:00Z");
    assert_snapshot!(text("add_months('2026-01-31', 2147483647)"), @"refused: 2147483647 months from 2026-01-31 is no date");
}

#[test]
fn times_are_moved_by_parts_of_an_hour() {
    use insta::assert_snapshot;
    let text = |body: &str| answer(&format!("  return {body}"), 1);
    assert_snapshot!(text("[add_hours('09:00', 1.5), add_minutes('09:00', 90.0), add_hours('2026-03-02T09:00:00Z', -0.25), add_hours('09:00', 1 / 3)]"), @r#"["10:30","10:30","2026-03-02T08:45:00Z","09:20"]"#);
    assert_snapshot!(text("[add_minutes('09:00', 0.5), add_minutes('09:00', 0.001), add_days('2026-03-02', 2.0), add_months('2026-01-31', 1.0)]"), @r#"["09:00:30","09:00","2026-03-04","2026-02-28"]"#);
    assert_snapshot!(text("add_days('2026-03-02', 1.5)"), @"tools.star:2, in tool: `add_days` needs a whole number and was given 1.5");
    assert_snapshot!(text("add_months('2026-03-02', float('nan'))"), @"tools.star:2, in tool: `add_months` needs a whole number and was given nan");
    assert_snapshot!(text("add_hours('09:00', float('nan'))"), @"tools.star:2, in tool: `add_hours` needs a number and was given nan");
    assert_snapshot!(text("add_minutes('09:00', float('inf'))"), @"tools.star:2, in tool: `add_minutes` needs a number and was given inf");
    assert_snapshot!(text("add_days('2026-03-02', 1e300)"), @"refused: 1e+300 days from 2026-03-02 is no date");
    assert_snapshot!(text("add_months('2026-03-02', -9e18)"), @"refused: -9000000000000000000 months from 2026-03-02 is no date");
    assert_snapshot!(text("add_hours('09:00', 1e300)"), @"refused: 1e+300 hours from 09:00 is no time");
    assert_snapshot!(text("add_hours('09:00', 10000000000)"), @"refused: 10000000000 hours from 09:00 is no time");
    assert_snapshot!(text("add_minutes('2026-03-02T09:00', -9e18)"), @"refused: -9000000000000000000 minutes from 2026-03-02T09:00 is no time");
}

#[test]
fn numbers_are_rounded_to_hundreds_and_never_to_a_negative_zero() {
    use insta::assert_snapshot;
    let text = |body: &str| answer(&format!("  return {body}"), 1);
    assert_snapshot!(text("[round(-0.001, 2), round(-0.4), money(-0.001), format_number(-0.2, 0), round(-1.5), money(-0.005)]"), @r#"[0.0,0.0,"0.00","0",-2.0,"-0.01"]"#);
    assert_snapshot!(text("[round(1234.5, -2), round(1250, -2), round(-1250.0, -2), round(1234.5, -4), round(5000, -4), round(5e12, -12)]"), @"[1200.0,1300.0,-1300.0,0.0,10000.0,5000000000000.0]");
    assert_snapshot!(text("[round_half_even(1250, -2), round_half_even(1350.0, -2), round_half_even(2.675, 2), format_number(1250.0, -2), round(7, -2147483648)]"), @r#"[1200.0,1400.0,2.67,"1300",0.0]"#);
    // Numbers so large that what makes decimal halves halves would be a half itself.
    assert_snapshot!(text("[money(6000000000000.0), round(6000000000000.0, 2), round(8000000.0, 8), format_number(1000.0, 12), round(600000000000000.0), round(-6000000000000.0, 2)]"), @r#"["6000000000000.00",6000000000000.0,8000000.0,"1000.000000000000",600000000000000.0,-6000000000000.0]"#);
    assert_snapshot!(text("[round(1.005, 2), round(2.675, 2), round(1250, -2), round(123456789012.345, 2), round(6000000000000.5), money(6000000000000.125)]"), @r#"[1.01,2.68,1300.0,123456789012.35,6000000000001.0,"6000000000000.13"]"#);
}

/// What one expression, or a few statements without a loop, would make.
#[test]
fn memory_is_bounded_whatever_makes_the_values() {
    let doubled = |statement: &str| format!("x = START\n  {}", format!("{statement}; ").repeat(45));
    let mut hostile = vec![
        "return len(('a' * 1000000).replace('a', 'b' * 1000000))".to_owned(),
        "return len(('a' * 1000000).replace('', 'b' * 1000000))".to_owned(),
        "return len(('a' * 1000000).join(['b'] * 1000000))".to_owned(),
        "return len(''.join(['b' * 1000000] * 1000000))".to_owned(),
        "x = ['a' * 1000000 + str(i) for i in range(900)]\n  return len(x)".to_owned(),
        "x = 'a' * 1000000\n  y = [x.upper() for i in range(990)]\n  return len(y)".to_owned(),
        "x = 'a' * 1000000\n  y = [x[i:] for i in range(990)]\n  return len(y)".to_owned(),
        "x = 'a ' * 500000\n  y = [x.split() for i in range(990)]\n  return len(y)".to_owned(),
        "x = list(range(1000000))\n  y = [list(x) for i in range(990)]\n  return len(y)".to_owned(),
        "x = list(range(1000000))\n  y = [sorted(x) for i in range(990)]\n  return len(y)".to_owned(),
        "x = list(range(1000000))\n  y = [x[1:] for i in range(990)]\n  return len(y)".to_owned(),
        "x = [range(1000000) for i in range(990)]\n  return len(x)".to_owned(),
        "x = list(range(100000))\n  return len(list(zip(*([x] * 1000))))".to_owned(),
        "x = {str(i): i for i in range(10000)}\n  y = [dict(x) for i in range(990)]\n  return len(y)".to_owned(),
        "x = {str(i): i for i in range(10000)}\n  y = [x.items() for i in range(990)]\n  return len(y)".to_owned(),
        "x = set(range(10000))\n  y = [x | x for i in range(990)]\n  return len(y)".to_owned(),
        "x = set(range(10000))\n  y = [x ^ set() for i in range(990)]\n  return len(y)".to_owned(),
        "x = {str(i): i for i in range(10000)}\n  y = [x | x for i in range(990)]\n  return len(y)".to_owned(),
        format!(
            "x = []\n  for i in range(999999):\n    x.append({{{}}})",
            (0..300).map(|i| format!("{i}: 1, ")).collect::<String>()
        ),
        "x = 9\n  for i in range(60):\n    x *= x\n  return 1".to_owned(),
        "return 1 << 100000 << 100000".to_owned(),
        "return int('9' * 1000000)".to_owned(),
        "f = 'a'.replace\n  return f('a', 'b')".to_owned(),
        "return getattr('a', 'join')(['b'])".to_owned(),
        "x = 'a' * 1000000\n  for i in range(2000):\n    world['k%d' % i] = x".to_owned(),
    ];
    let said = answer("  return ['a' * 1000000, 'a' * 1000000]", 1);
    assert_eq!(said, "tools.star:1, in tool: the answer of `tool` holds more than 1048576 bytes");
    for (start, statement) in [
        ("'ab'", "x = x + x"),
        ("'ab'", "x += x"),
        ("'ab'", "x = x.replace('a', 'ab' + x)"),
        ("'ab'", "x = x.join(['a', x, 'b'])"),
        ("'ab'", "x = f'{x}{x}'"),
        ("[1, 2]", "x = x + x"),
        ("[1, 2]", "x += x"),
        ("[1, 2]", "x.extend(x)"),
        ("(1, 2)", "x = x + x"),
        ("(1, 2)", "x *= 2"),
        ("99999999", "x *= x"),
        ("99999999", "x <<= 900"),
    ] {
        hostile.push(doubled(statement).replace("START", start));
    }
    for body in hostile {
        let said = answer(&format!("  {body}"), 1);
        assert!(said.starts_with("tools.star:"), "{body:.200}: {said:.200}");
        let code = Code::compile("tools.star", format!("def f():\n  {body}\nx = f()"), &[]);
        assert!(code.is_err(), "when it is loaded: {body:.200}");
    }
}

/// Sums over lists, comparisons and searches that are steps of their own, though Starlark counts none.
#[test]
fn time_is_bounded_whatever_takes_it() {
    let hostile = [
        "x = list(range(1000000))\n  for i in range(990000):\n    y = -1 in x",
        "x = list(range(1000000))\n  y = list(range(1000000))\n  for i in range(990000):\n    z = x == y",
        "x = 'a' * 1000000\n  for i in range(990000):\n    y = 'b' in x",
        "x = 'a' * 1000000\n  y = 'a' * 1000000\n  for i in range(990000):\n    z = x == y",
        "x = 'a' * 1000000\n  for i in range(990000):\n    y = x.find('b')",
        "x = list(range(1000000))\n  for i in range(990000):\n    y = max(x)",
        "x = list(range(1000000))\n  for i in range(990000):\n    x.insert(0, x.pop())",
        "x = list(range(1000000))\n  for i in range(990000):\n    y = any([])\n    y = any(reversed(x))",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  return {x: 1}",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  return {1: 1}[x]",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  return {}.get(x)",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  d = {}\n  d[x] = 1",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  d = {}\n  d.update([(x, 1)])",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  return x in {}",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  return set([x])",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  return set().union([x])",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  return dict([(x, 1)])",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  return {k: 1 for k in [x]}",
        "x = (1,)\n  for i in range(900000):\n    x = (x,)\n  return {x: 1}",
        "x = struct(a = 1)\n  for i in range(60):\n    x = struct(a = x, b = x)\n  return {x: 1}",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  d = {}\n  d[x] *= 1",
        "x = (1,)\n  for i in range(60):\n    x = (x, x)\n  d = {}\n  d[x] += 1",
        "f = {}.get\n  return f(1)",
        "x = [1]\n  y = [1]\n  for i in range(60):\n    x = [x, x]\n    y = [y, y]\n  return x < y",
        "x = [1]\n  y = [1]\n  for i in range(60):\n    x = [x, x]\n    y = [y, y]\n  return sorted([x, y])",
        "x = [1]\n  y = [1]\n  for i in range(60):\n    x = [x, x]\n    y = [y, y]\n  return min(x, y)",
        "x = [1]\n  y = [1]\n  for i in range(60):\n    x = [x, x]\n    y = [y, y]\n  return sorted([0, 1], key = lambda i: [x, y][i])",
        "x = [1]\n  y = [1]\n  for i in range(60):\n    x = [x, x]\n    y = [y, y]\n  return [x].index(y)",
        "x = struct(a = 1)\n  y = struct(a = 1)\n  for i in range(60):\n    x = struct(a = x, b = x)\n    y = struct(a = y, b = y)\n  return x == y",
        "x = list(range(1000000))\n  for i in range(990000):\n    y = x.index(999999)",
        "x = list(range(1000000))\n  for i in range(990000):\n    x.remove(i)\n    x.append(i)",
        "x = [1]\n  for i in range(40):\n    x = [x, x]\n  return x == [x, x]",
        "x = [1]\n  for i in range(40):\n    x = [x, x]\n  return [x] in [[x, 1], [x, x]]",
    ];
    let started = ProcessorTime::now();
    for body in hostile {
        let said = answer(&format!("  {body}"), 1);
        assert!(said.starts_with("tools.star:") || said == "false", "{body}: {said:.200}");
    }
    started.assert_took_at_most(60, "");
}

/// What keeps the values of a file calls itself for each level of them.
#[test]
fn a_file_keeps_no_deep_values() {
    for body in [
        "def f():\n  x = []\n  for i in range(90000):\n    x = [x]\n  return x\nx = f()",
        "def f():\n  x = ()\n  for i in range(90000):\n    x = (x,)\n  return x\nx = f()",
        "def f():\n  x = {}\n  for i in range(30000):\n    x = {1: x}\n  return x\nx = f()",
        "def f():\n  x = None\n  for i in range(90000):\n    x = struct(x = x)\n  return x\nx = f()",
        "def g(x):\n  return lambda: x\ndef f():\n  x = None\n  for i in range(90000):\n    x = g(x)\n  return x\nx = f()",
        "l = [[]]\nx = [l.append([l.pop()]) for i in range(90000)]\ny = 1\nz = 2",
    ] {
        // Too much, or little enough to be kept.
        drop(Code::compile("tools.star", body.to_owned(), &[]));
    }
}

#[test]
fn the_invariants_of_all_records_share_their_steps() {
    use super::{Expression, Steps};
    let expression = Expression { name: "slow", sees: &["world"], text: "len([1 for i in range(900000)]) > 0" };
    let code = Code::compile("tools.star", String::new(), &[expression]).expect("it compiles");
    let (world, steps) = (World::new(&json!({})), Steps::of_check());
    let held = (0..20).take_while(|_| code.holds("slow", &world, None, MOMENT.now, &steps).is_ok()).count();
    assert!((10..13).contains(&held) && steps.are_used_up(), "{held}");
}

#[test]
fn what_is_sorted_and_looked_up_is_as_in_starlark() {
    use insta::assert_snapshot;
    let text = |body: &str| answer(&format!("  return {body}"), 3);
    assert_snapshot!(text("[sorted([3, 1, 2]), sorted([3, 1, 2], reverse = True), sorted(['bb', 'a', 'cc', 'd'], key = len), sorted(['bb', 'a', 'cc', 'd'], key = len, reverse = True)]"), @r#"[[1,2,3],[3,2,1],["a","d","bb","cc"],["bb","cc","a","d"]]"#);
    assert_snapshot!(text("[min(3, 1), max([3, 1]), min(['bb', 'a'], key = len), max('a', 'bb', 'cc', key = len), sorted(world['items'].values(), key = lambda r: -r['n'])[0]]"), @r#"[1,3,"a","bb",{"n":2}]"#);
    assert_snapshot!(text("[[1, 2, 1].index(1, 1), [1, 2, 1].index(1, -1), ['a'].index('a', None, 9), 'abcb'.index('b', 2)]"), @"[2,2,0,3]");
    assert_snapshot!(text("[1, 2].index(3)"), @"tools.star:2, in tool: Element '3' not found in '[1, 2]'");
    assert_snapshot!(text("[1].index(1, 1, 0)"), @"tools.star:2, in tool: Element '1' not found in '[1]'");
    assert_snapshot!(text("['a'].remove('b')"), @r#"tools.star:2, in tool: Element '"b"' not found in list '["a"]'"#);
    assert_snapshot!(text("min([], key = len)"), @"tools.star:2, in tool: `min` finds nothing in an empty list");
    assert_snapshot!(text("[{(1, 'a'): 2}[(1, 'a')], {1: 2}.get((1,), 3), (1, 2) < (1, 3), [2] >= [1, 9], 1.5 <= 2, 'a' > 'b']"), @"[2,3,true,true,true,false]");
}

#[test]
fn methods_follow_each_other() {
    for (code, expected) in [
        ("'a!b'.replace('!', '?').split('?')", json!(["a", "b"])),
        ("' A '.strip().replace('A', 'b').upper()", json!("B")),
        ("'-'.join(['a', 'b']).replace('-', ' ').split(' ')", json!(["a", "b"])),
        ("'{}!'.format('a').strip('!').replace('a', 'b').join(['x', 'y'])", json!("xby")),
        ("{'ab': 1}.get('xb'.replace('x', 'a'))", json!(1)),
    ] {
        let (answer, _) = call(&format!("def tool(world, ctx):\n  return {code}"), json!({})).expect("an answer");
        assert_eq!(answer, expected, "{code}");
    }
}
