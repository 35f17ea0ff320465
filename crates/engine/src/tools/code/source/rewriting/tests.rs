use insta::assert_snapshot;

use super::*;

fn rewritten(text: &str) -> String {
    Rewriting::of("tools.star", text).map_or_else(|_| "no Starlark".to_owned(), Rewriting::done)
}

#[test]
fn calls_and_operators_become_functions() {
    assert_snapshot!(rewritten("x = '{} {}'.format(a, b)"), @"x = format_within_bounds('{} {}', a, b)");
    assert_snapshot!(rewritten("x = ('a' + b[1]).strip().format(f(c)(d).format(1), *e, **g)"), @"x = format_within_bounds(weighed(('a' + b[1])).strip(), format_within_bounds(f(c)(d), 1), *e, **plain_dict(g))");
    assert_snapshot!(rewritten("y = z.format() if a.b['c'].format else [1].format(\n  x,\n)"), @r#"
        y = format_within_bounds(z, ) if attribute_within_bounds(a.b['c'], "format") else format_within_bounds([1], 
          x,
        )
        "#);
    assert_snapshot!(rewritten("d.update(e[1], f = 2)\nd.update(f = 2)\nd.update()\nd.update({'a': g(1, 2)})"), @"
        weighed(d).update(plain_dict(e[1]), f = 2)
        weighed(d).update(f = 2)
        weighed(d).update()
        weighed(d).update(plain_dict(counted({'a': g(1, 2)})))
        ");
    assert_snapshot!(rewritten("def f(a, **k):\n  return g(lambda **l: l, 1, **k)"), @"
        def f(a, **k):
          return g(lambda **l: l, 1, **plain_dict(k))
        ");
    assert_snapshot!(rewritten("def f(a):\n  if a: a[g(\n1)] *= 2 + 3; b |= c\n  x.y %= 3 # no\n  return a"), @"
        def f(a):
          if a: a[as_key(g(
        1))] = multiply_within_bounds(a[as_key(g( 1))],  2 + 3); b = unite_into(b,  c)
          x.y = percent_within_bounds(x.y,  3) # no
          return a
        ");
}

#[test]
fn f_strings_become_calls() {
    assert_snapshot!(rewritten("x = f'{a} is {b[\"c\"]!r}'"), @r#"x = format_within_bounds("{} is {!r}", (a), (b["c"]))"#);
    assert_snapshot!(rewritten("x = f'{{}} {sum([1, 2]):.2f}{d[1:2]:>10}'"), @r#"x = format_within_bounds("{{}} {:.2f}{:>10}", (sum([1, 2])), (weighed(d)[1:2]))"#);
    assert_snapshot!(rewritten("x = f'none'\ny = f\"\"\"a\n{b}\nc \\\" d\n\"\"\".format(1)"), @r#"
        x = format_within_bounds("none")
        y = format_within_bounds(format_within_bounds("a\n{}\nc \" d\n", (
        b))

        , 1)
        "#);
    assert_snapshot!(rewritten("x = f'{f\"{a}\".format(b)} {g(**h)}'"), @r#"x = format_within_bounds("{} {}", (format_within_bounds(format_within_bounds("{}", (a)), b)), (g(**plain_dict(h))))"#);
}

#[test]
fn what_goes_through_a_value_is_counted() {
    assert_snapshot!(rewritten("x += y[1]; x += 1\nx -= 2, y.keys()\nx <<= {1: 2}.pop(1)"), @"
        x += added_within_bounds((y[1])); x += 1
        x -= added_within_bounds((2, weighed(y).keys()))
        x = shift_within_bounds(x,  counted(weighed({1: 2})).pop(1))
        ");
    assert_snapshot!(rewritten("x[a][1]['b'] = {a: {1: b}, 'c': lambda d, e: {f(d): e}, (g, h): 1}\ny = {k: v for k, v in x.get(z, 1).items()}"), @"
        x[as_key(a)][1]['b'] = counted({as_key(a): counted({1: b}), 'c': lambda d, e: counted({as_key(f(d)): e}), as_key((g, h)): 1})
        y = counted({as_key(k): v for k, v in weighed(x.get(as_key(z), 1)).items()})
        ");
    assert_snapshot!(rewritten("x = a.b.keys()[1:][0].replace('a', c.upper()).join(d).extend(e)"), @"x = extend_within_bounds(join_within_bounds(replace_within_bounds(weighed(weighed(a.b).keys())[1:][0], 'a', weighed(c).upper()), d), e)");
    assert_snapshot!(rewritten("a = x.index(y[z], 1); b.remove(c.d); e = b.index"), @r#"a = index_within_bounds(x, y[as_key(z)], 1); remove_within_bounds(b, c.d); e = attribute_within_bounds(b, "index")"#);
    assert_snapshot!(rewritten("f = [a.upper, b .join, c.get, {}, a[b[1:2]], f'{a:+=8}{b.c:*=2}']"), @r#"f = [attribute_within_bounds(a, "upper"), attribute_within_bounds(b , "join"), attribute_within_bounds(c, "get"), {}, a[as_key(weighed(b)[1:2])], format_within_bounds("{:+=8}{:*=2}", (a), (b.c))]"#);
}

#[test]
fn what_is_no_starlark_is_left_to_the_parser() {
    assert_snapshot!(rewritten("x = (1"), @"no Starlark");
    assert_snapshot!(rewritten("x = '"), @"no Starlark");
}
