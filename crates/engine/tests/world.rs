//! What patches do to a world.
#![expect(clippy::expect_used, reason = "a test may fail so; the lint exempts test functions, but not their helpers")]

use domain::patch::{self, Change, PatchOp};
use engine::World;
use engine::world::{Node, PatchError};
use proptest::prelude::*;
use serde_json::{Value, json};

fn op(value: Value) -> PatchOp {
    serde_json::from_value(value).expect("a patch operation")
}

fn apply(world: Value, ops: &[Value]) -> Result<Value, PatchError> {
    let ops: Vec<_> = ops.iter().cloned().map(op).collect();
    World::new(&world).apply(&ops).map(|w| w.to_json())
}

#[test]
fn operations_do_what_rfc_6902_says() {
    let world = || json!({"a": {"b": 1}, "l": [1, 2, 3]});
    let ok = |ops: &[Value], expected: Value| assert_eq!(apply(world(), ops), Ok(expected));
    ok(&[json!({"op": "add", "path": "/a/c", "value": 2})], json!({"a": {"b": 1, "c": 2}, "l": [1, 2, 3]}));
    ok(&[json!({"op": "add", "path": "/l/1", "value": 9})], json!({"a": {"b": 1}, "l": [1, 9, 2, 3]}));
    ok(&[json!({"op": "add", "path": "/l/-", "value": 9})], json!({"a": {"b": 1}, "l": [1, 2, 3, 9]}));
    ok(&[json!({"op": "remove", "path": "/l/0"})], json!({"a": {"b": 1}, "l": [2, 3]}));
    ok(&[json!({"op": "replace", "path": "/a/b", "value": null})], json!({"a": {"b": null}, "l": [1, 2, 3]}));
}

#[test]
fn what_does_not_apply_changes_nothing() {
    let missing = |path: &str, name: &str, value: Value| {
        let found = apply(json!({"a": 1, "l": [1]}), &[json!({"op": name, "path": path, "value": value})]);
        assert_eq!(found, Err(PatchError::Missing(path.to_owned())));
    };
    missing("/b", "replace", json!(1));
    missing("/a/b", "add", json!(1));
    missing("/l/2", "add", json!(1));
    missing("/l/00", "replace", json!(1));
    assert_eq!(apply(json!({}), &[json!({"op": "add", "path": "", "value": 1})]), Err(PatchError::Root));
    assert!(matches!(
        apply(json!({}), &[json!({"op": "add", "path": "a", "value": 1})]),
        Err(PatchError::BadPointer(_))
    ));
}

#[test]
fn equal_worlds_have_equal_hashes() {
    let hash = |v: Value| World::new(&v).hash();
    assert_eq!(hash(json!({"a": 198.0, "b": [1]})), hash(json!({"b": [1.0], "a": 198})));
    assert_eq!(hash(json!(-0.0)), hash(json!(0)));
    assert_ne!(hash(json!({"a": 1})), hash(json!({"a": "1"})));
    assert_ne!(hash(json!(0.1)), hash(json!(0.2)));
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5i64..5).prop_map(Value::from),
        (-4i32..4).prop_map(|n| json!(f64::from(n) / 2.0)),
        "[a-c/~]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-d/~]{1,2}", inner, 0..4)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

/// Worlds are objects.
fn world_value() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-d/~]{1,2}", json_value(), 0..5).prop_map(|m| Value::Object(m.into_iter().collect()))
}

proptest! {
    #[test]
    fn the_patch_between_two_worlds_leads_from_one_to_the_other(a in world_value(), b in world_value()) {
        let (a, b) = (World::new(&a), World::new(&b));
        let patched = a.apply(&a.patch_to(b.root())).expect("its own patch applies");
        prop_assert_eq!(patched.root(), b.root());
        prop_assert_eq!(patched.hash(), b.hash());
    }

    /// The browser applies patches of events, and must come to the worlds that were played.
    #[test]
    fn a_patch_does_the_same_to_plain_json(a in world_value(), b in world_value()) {
        let patch = World::new(&a).patch_to(World::new(&b).root());
        let mut plain = a.clone();
        let changes = patch::apply(&mut plain, &patch);
        prop_assert_eq!(World::new(&plain), World::new(&b));
        let known = |Change { pointer, was, .. }: &Change| was.is_none() || a.pointer(pointer) == was.as_ref();
        prop_assert!(changes.iter().all(known), "{:?}", changes);
        prop_assert_eq!(changes.is_empty(), patch.is_empty());
    }

    #[test]
    fn a_world_survives_being_written_and_read(a in world_value()) {
        let world = World::new(&a);
        let text = serde_json::to_string(world.root()).expect("json");
        let back: Node = serde_json::from_str(&text).expect("json");
        prop_assert_eq!(&back, world.root());
    }

    #[test]
    fn hashes_agree_with_equality(a in world_value(), b in world_value()) {
        let (a, b) = (World::new(&a), World::new(&b));
        prop_assert_eq!(a.hash() == b.hash(), a.root() == b.root());
    }
}
