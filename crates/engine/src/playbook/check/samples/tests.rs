use super::*;

#[test]
fn required_only_and_all() {
    let schema = json!({
        "type": "object", "required": ["id", "kind", "lines"],
        "properties": {
            "id": {"type": "string", "minLength": 8},
            "kind": {"enum": ["late", "lost"]},
            "lines": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/line"}},
            "amount": {"type": "number", "exclusiveMinimum": 20},
            "count": {"type": ["null", "integer"], "maximum": 0},
            "on": {"type": "string", "format": "date"}
        },
        "$defs": {"line": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}, "sure": {"type": "boolean"}}}}
    });
    assert_eq!(
        calls(&schema),
        [
            json!({"id": "samplexx", "kind": "late", "lines": [{"text": "sample"}]}),
            json!({
                "id": "samplexx", "kind": "late", "lines": [{"text": "sample", "sure": true}],
                "amount": 21.0, "count": 0, "on": "2026-03-02"
            }),
        ]
    );
    assert_eq!(calls(&json!({"type": "object"})), [json!({})], "the same call is made once");
}

#[test]
fn a_pattern_is_fitted() {
    let schema = json!({
        "type": "object", "required": ["id"],
        "properties": {"id": {"type": "string", "pattern": "^ord_[0-9a-z]{4,16}$"}}
    });
    assert_eq!(calls(&schema), [json!({"id": "ord_1111"})]);
}

#[test]
fn texts_are_those_of_the_record() {
    let mut files = crate::testing::files();
    let edit = |files: &mut std::collections::BTreeMap<String, String>, name: &str, from: &str, to: &str| {
        let text = files.get_mut(name).expect("a file of the shop");
        assert!(text.contains(from), "{name} does not hold {from}");
        *text = text.replacen(from, to, 1);
    };
    let parameters = "{article_id: {type: string}, title: {type: string}, text: {enum: [long]}, lang: {type: string}}";
    edit(&mut files, "playbook.yaml", "{query: {type: string}}", parameters);
    edit(&mut files, "playbook.yaml", "required: [query]", "required: [title]");
    let sources = crate::playbook::Sources { folder: "playbooks/shop", files: &files };
    let playbook = crate::playbook::compile(&sources).expect("the shop compiles");
    let tool = playbook.tool("find_article").expect("a tool of the shop");
    assert_eq!(
        calls_as_recorded(tool, &playbook.base),
        [
            json!({"title": "Refunds"}),
            json!({"article_id": "a_1", "title": "Refunds", "text": "long", "lang": "sample"}),
        ]
    );
}

#[test]
fn a_schema_that_holds_itself_ends() {
    let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
    assert_eq!(calls(&schema).len(), 2);
    let endless = json!({"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}});
    assert_eq!(calls(&endless), [json!({})]);
}

/// With the values within it.
fn count(value: &Value) -> usize {
    let map = value.as_object().into_iter().flat_map(Map::values);
    1 + map.chain(value.as_array().into_iter().flatten()).map(count).sum::<usize>()
}

#[test]
fn a_schema_that_holds_itself_in_each_property_is_sampled_in_part() {
    let properties: Map<String, Value> = (1..=50).map(|i| (format!("a{i:02}"), json!({"$ref": "#"}))).collect();
    let found = calls(&json!({"type": "object", "properties": properties}));
    assert_eq!(found.iter().map(count).collect::<Vec<_>>(), [1, 2_000]);
    assert_eq!(found[1].as_object().map(Map::len), Some(50));
    // What the schema gives is counted, too. What is optional is left out then.
    let given = |list: usize, text: usize| {
        json!({
            "type": "object", "required": ["id"],
            "properties": {
                "list": {"type": "array", "default": vec![1; list]},
                "text": {"type": "string", "default": "x".repeat(text)},
                "id": {"type": "string"}
            }
        })
    };
    let all = json!({"list": [1, 1], "text": "xxx", "id": "sample"});
    assert_eq!(calls(&given(2, 3)), [json!({"id": "sample"}), all]);
    assert_eq!(calls(&given(5_000, 500_000)), [json!({"id": "sample"})]);
    let items = json!({"type": "array", "minItems": 3, "items": {"type": "array", "default": vec![1; 900]}});
    let lists = json!({"type": "object", "properties": {"lists": items}});
    assert_eq!(calls(&lists), [json!({})]);
}

#[test]
fn what_is_required_is_found_deep_down() {
    let holds = |name: &str| json!({"type": "object", "required": ["of"], "properties": {"of": {"anyOf": [{"$ref": format!("#/$defs/{name}")}, {"type": "null"}]}}});
    let schema = json!({
        "$defs": {
            "order": holds("line"), "line": holds("article"), "article": holds("maker"), "maker": holds("place"),
            "place": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}}
        },
        "type": "object", "required": ["order"], "properties": {"order": {"$ref": "#/$defs/order"}}
    });
    assert_eq!(calls(&schema)[0], json!({"order": {"of": {"of": {"of": {"of": {"city": "sample"}}}}}}));
}

#[test]
fn the_parts_of_an_object_are_put_together() {
    let base = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "note": {"type": "string"}}});
    let schema = json!({
        "$defs": {"base": base}, "type": "object", "$ref": "#/$defs/base",
        "required": ["kind"], "properties": {"kind": {"type": "string"}},
        "allOf": [
            {"required": ["a"], "properties": {"a": {"type": "integer"}}},
            {"required": ["b"], "properties": {"b": {"type": "boolean"}}}
        ],
        "anyOf": [{"required": ["c"], "properties": {"c": {"const": 3}}}, {"required": ["d"]}],
        "oneOf": [{"properties": {"kind": {"const": "bill"}}}, {"properties": {"kind": {"const": "card"}}}]
    });
    assert_eq!(
        calls(&schema),
        [
            json!({"kind": "bill", "id": "sample", "a": 1, "b": true, "c": 3}),
            json!({"kind": "bill", "id": "sample", "note": "sample", "a": 1, "b": true, "c": 3}),
        ]
    );
    let one_of_two = json!({
        "type": "object", "properties": {"mail": {"type": "string"}, "phone": {"type": "string"}},
        "anyOf": [{"required": ["phone"]}, {"required": ["mail"]}]
    });
    let both = json!({"mail": "sample", "phone": "sample"});
    assert_eq!(calls(&one_of_two), [json!({"phone": "sample"}), both]);
}

#[test]
fn multiples_and_lengths_are_fitted() {
    for (schema, expected) in [
        (json!({"type": "integer", "multipleOf": 5}), json!(5)),
        (json!({"type": "integer", "multipleOf": 5, "minimum": 12}), json!(15)),
        (json!({"type": "integer", "multipleOf": 5, "minimum": 15}), json!(15)),
        (json!({"type": "integer", "multipleOf": 5, "maximum": -2}), json!(-5)),
        (json!({"type": "integer", "multipleOf": 10, "maximum": 9}), json!(0)),
        (json!({"type": "number", "multipleOf": 0.25, "minimum": 1.1}), json!(1.25)),
        (json!({"type": "number", "multipleOf": 100}), json!(100.0)),
        (json!({"type": "number", "multipleOf": 0.5, "maximum": 0.75}), json!(0.5)),
        (json!({"type": "string", "pattern": "^[a-z]+$", "minLength": 4}), json!("aaaa")),
        (json!({"type": "string", "pattern": "^ord_[0-9]{2,}$", "minLength": 8}), json!("ord_1111")),
        (json!({"type": "string", "pattern": "^.*$", "minLength": 2}), json!("aa")),
    ] {
        let call = json!({"type": "object", "required": ["x"], "properties": {"x": schema}});
        assert_eq!(calls(&call), [json!({"x": expected})], "{schema}");
    }
}
