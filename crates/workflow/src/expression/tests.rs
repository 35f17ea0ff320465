use serde_json::json;

use super::*;

fn scope() -> Scope {
    let of = |spec| Type::declared(&spec).unwrap();
    let values = [
        ("prompt", of(json!("text"))),
        ("claims", Type::stream(Type::Text)),
        ("checked", of(json!("list<any>"))),
        ("docs", Type::list(of(json!({"id": "text", "text": "text"})))),
        ("best", of(json!({"ids": "list<number>"})).or_none()),
        ("verdict", of(json!({"factuality": "boolean", "why": "text?"}))),
        ("n", Type::Number),
        ("nothing", Type::Null),
    ];
    Scope {
        values: values.map(|(name, of)| (name.to_owned(), of)).into(),
        functions: vec!["agree".into()],
        elsewhere: vec![("inner".into(), "it is a step of the map `found`".into())],
        ..Scope::default()
    }
}

fn said(text: &str) -> String {
    let found = infer(text, &scope(), &[]);
    match &found.problems[..] {
        [] => format!("{} [{}]", found.of, found.names.join(", ")),
        problems => problems.join("; "),
    }
}

#[test]
fn types_follow_from_the_names() {
    for (text, expected) in [
        ("prompt", "text [prompt]"),
        ("len(claims) == 0", "boolean [claims]"),
        ("[d.text for d in docs]", "list<text> [docs]"),
        ("[docs[i] for i in range(3) if i < len(docs)][:3]", "list<{id: text, text: text}> [docs]"),
        ("all([c.verdict.factuality for c in checked])", "boolean [checked]"),
        ("docs[0].id.upper().split('a')", "list<text> [docs]"),
        ("{'a': n, 'b': [prompt]}", "{a: number, b: list<text>} [n, prompt]"),
        ("agree(docs, n)", "any [docs, n]"),
        ("best.ids if best != None else [1]", "list<number> [best]"),
        ("best.ids if best else [1]", "list<number> [best]"),
        ("[2] if not best else best.ids", "list<number> [best]"),
        ("best and best.ids", "any [best]"),
        ("best == None or len(best.ids) > 1", "boolean [best]"),
        ("f'{prompt} {n}'", "text [prompt, n]"),
        ("verdict.why or ''", "text [verdict]"),
        ("(lambda x: x + n)(1)", "any [n]"),
        ("{'a': n} | {'b': prompt, 'a': prompt}", "{a: text, b: text} [n, prompt]"),
        ("docs[0] | {'id': n}", "{id: number, text: text} [docs, n]"),
        ("checked[0] | {'id': n}", "any [checked, n]"),
        ("n | 1", "number [n]"),
        ("prompt.split(None)[0].replace(prompt, '', n).count('a', 1)", "number [prompt, n]"),
        ("prompt.replace(*checked)", "text [prompt, checked]"),
        ("', '.join(claims) + ', '.join(checked) + ', '.join(verdict)", "text [claims, checked, verdict]"),
        ("prompt.startswith(('a', 'b')) or verdict.factuality", "boolean [prompt, verdict]"),
        ("checked[0] + verdict.factuality", "any [checked, verdict]"),
        ("n - 1", "number [n]"),
        ("'%s: %s' % (prompt, n)", "text [prompt, n]"),
        ("None or n", "any [n]"),
        ("nothing.x if nothing != None else n", "any [nothing, n]"),
        ("best.ids if best else [best for best in checked]", "list<any> [best, checked]"),
    ] {
        assert_eq!(said(text), expected, "{text}");
    }
}

#[test]
fn mistakes_are_found_before_anything_is_played() {
    for (text, expected) in [
        (
            "promt",
            "there is no `promt` here (did you mean `prompt`?); known: prompt, claims, checked, docs, best, verdict, n, nothing, agree",
        ),
        ("inner", "`inner` cannot be used here: it is a step of the map `found`"),
        ("docs[0].txt", "there is no `txt` in {id: text, text: text} (did you mean `text`?)"),
        ("best.ids", "`best` may be None here; say what holds then, such as `... if best != None else ...`"),
        (
            "verdict.why.upper()",
            "`verdict.why` may be None here; say what holds then, such as `... if verdict.why != None else ...`",
        ),
        ("nothing.x", "a None has no `x`"),
        (
            "[len(best) for best in [best]]",
            "`best` may be None here; say what holds then, such as `... if best != None else ...`",
        ),
        ("prompt + n", "it adds a text and a number"),
        ("n.upper()", "a number has no method `upper`"),
        ("prompt.uper()", "a text has no method `uper`"),
        ("len(n)", "`len` takes a list, an object or a text, and gets a number"),
        ("[x for x in n]", "a number has no items to go through"),
        ("', '.join(best.ids if best else [1])", "`join` takes a list of texts, and gets a list<number>"),
        ("', '.join([d.id for d in docs] + [None])", "`join` takes a list of texts, and gets a list<text?>"),
        ("', '.join(None)", "`join` takes a list of texts, and gets a None"),
        (
            "prompt.startswith(verdict.why)",
            "`verdict.why` may be None here; say what holds then, such as `... if verdict.why != None else ...`",
        ),
        ("prompt.replace('a', n)", "`replace` takes a text, and gets a number"),
        ("'It is ' + verdict.factuality", "it adds a text and a boolean"),
        ("prompt + None", "it adds a text and a None"),
        ("docs + verdict", "it adds a list<{id: text, text: text}> and a {factuality: boolean, why: text?}"),
        ("n < verdict.factuality", "it compares a number and a boolean"),
        ("claims.append(1)", "a value cannot be changed by `append`; make a new one, such as `items + [item]`"),
    ] {
        assert_eq!(said(text), expected, "{text}");
    }
    assert!(said("1 +").starts_with("`1 +`: "), "{}", said("1 +"));
    assert!(said("x = 1").starts_with("`x = 1`: "), "{}", said("x = 1"));
    assert!(said(&"(".repeat(5_000)).contains("..."), "a hostile one");
}

#[test]
fn a_plain_path_is_known_as_one() {
    let path = |text: &str| infer(text, &scope(), &[]).path.map(|path| path.join("/"));
    assert_eq!(path("verdict.factuality").as_deref(), Some("verdict/factuality"));
    assert_eq!(path("verdict['why']").as_deref(), Some("verdict/why"));
    assert_eq!((path("n + 1"), path("agree")), (None, None));
}

#[test]
fn an_item_at_a_place_may_be_asked_for() {
    let values = [("words".to_owned(), Type::list(Type::Text.or_none()))].into();
    let scope = Scope { values, ..Scope::default() };
    let said = |text: &str| {
        let found = infer(text, &scope, &[]);
        if found.problems.is_empty() { found.of.to_string() } else { found.problems.join("; ") }
    };
    let missing = "`words[0]` may be None here; say what holds then, such as `... if words[0] != None else ...`";
    for (text, expected) in [
        ("words[0].upper() if words[0] != None else '?'", "text"),
        ("words[0].upper() if words[0] else '?'", "text"),
        ("words[0].upper()", missing),
        ("words[0].upper() if words[1] != None else '?'", missing),
        ("[words[0].upper() for words in [words] if words[0]]", "list<text>"),
        ("words[0] and [words[0].upper() for words in [words]]", missing),
    ] {
        assert_eq!(said(text), expected, "{text}");
    }
    assert_eq!(infer("words[0]", &scope, &[]).path, None);
}
