//! The world as Starlark sees it: dicts and lists whose records are read when they are asked for.
//!
//! A [`Collection`] stands for a map of the persistent world whose values are maps or lists themselves: the world, a
//! collection of records. It acts as a dict; what is read from it becomes ordinary Starlark dicts and lists, which the
//! author may change in place. Afterwards only what was read or written is compared with what was there before, so a
//! call costs what it touches and not what the world holds.

#![expect(unsafe_code, reason = "the derives implement marker traits of the starlark crate")]
#![expect(clippy::unnecessary_wraps, reason = "the macro asks for fallible functions")]

mod difference;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use allocative::Allocative;
use domain::patch::{Patch, PatchOp, join};
use rpds::RedBlackTreeMapSync;
use serde_json::{Number, Value as Json};
use starlark::collections::SmallMap;
use starlark::environment::{Methods, MethodsBuilder};
use starlark::starlark_module;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::float::UnpackFloat;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::none::NoneType;
use starlark::values::structs::StructRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{
    Heap, NoSerialize, ProvidesStaticType, StarlarkValue, Trace, UnpackValue, Value, ValueError, ValueLike,
    starlark_value,
};

use crate::world::Node;

/// Lists and dicts within each other, in an answer or in the world.
const MAX_DEPTH: usize = 48;
/// Values in an answer, or in what is put into the world at one place.
const MAX_VALUES: usize = 1_000_000;

type Records = RedBlackTreeMapSync<Arc<str>, Node>;

#[derive(Trace, Allocative, ProvidesStaticType, NoSerialize)]
pub struct Collection<'v> {
    #[trace(unsafe_ignore)]
    #[allocative(skip)]
    before: Records,
    /// What was read or written, in that order; `None` is gone.
    touched: RefCell<SmallMap<String, Option<Value<'v>>>>,
}

/// The world as the argument of a function.
pub fn root<'v>(world: &Node, heap: Heap<'v>) -> Value<'v> {
    match world {
        Node::Map(records) => collection(records, heap),
        other => alloc(other, heap),
    }
}

fn collection<'v>(records: &Records, heap: Heap<'v>) -> Value<'v> {
    let touched = RefCell::new(SmallMap::new());
    heap.alloc_complex_no_freeze(Collection { before: records.clone(), touched })
}

/// A node as a value of its own.
pub fn alloc<'v>(node: &Node, heap: Heap<'v>) -> Value<'v> {
    match node {
        Node::Null => Value::new_none(),
        Node::Bool(b) => Value::new_bool(*b),
        Node::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(i), ..) => heap.alloc(i),
            (None, Some(u), _) => heap.alloc(u),
            (None, None, f) => heap.alloc(f.unwrap_or(f64::NAN)),
        },
        Node::Text(text) => heap.alloc_str(text).to_value(),
        Node::List(items) => heap.alloc(AllocList(items.iter().map(|item| alloc(item, heap)))),
        Node::Map(map) if holds_records(map) => collection(map, heap),
        Node::Map(map) => heap.alloc(AllocDict(map.iter().map(|(key, value)| (&**key, alloc(value, heap))))),
    }
}

/// Small maps are cheaper copied than referred to. A few records tell what all are.
fn holds_records(map: &Records) -> bool {
    const FEW: usize = 8;
    map.size() > FEW && map.values().take(FEW).all(|value| matches!(value, Node::Map(_) | Node::List(_)))
}

/// What a function made, with its keys in the author's order.
///
/// # Errors
/// What is no JSON: functions, endless nesting, numbers that are none.
pub fn json(value: Value<'_>) -> Result<Json, String> {
    convert(value, MAX_DEPTH, &Cell::new(MAX_VALUES))
}

/// `left`: how many values may still be written. Lists that are shared in Starlark are not in JSON.
fn convert(value: Value<'_>, levels: usize, left: &Cell<usize>) -> Result<Json, String> {
    if levels == 0 {
        return Err(format!("nests lists and dicts deeper than {MAX_DEPTH} levels"));
    }
    let Some(fewer) = left.get().checked_sub(1) else { return Err(format!("holds more than {MAX_VALUES} values")) };
    left.set(fewer);
    let inner = |value: Value<'_>| convert(value, levels - 1, left);
    if value.is_none() {
        Ok(Json::Null)
    } else if let Some(b) = value.unpack_bool() {
        Ok(Json::Bool(b))
    } else if let Some(text) = value.unpack_str() {
        Ok(Json::from(text))
    } else if let Some(i) = value.unpack_i32() {
        Ok(Json::from(i))
    } else if let Some(list) = ListRef::from_value(value) {
        list.iter().map(inner).collect()
    } else if let Some(tuple) = TupleRef::from_value(value) {
        tuple.iter().map(inner).collect()
    } else if let Some(dict) = DictRef::from_value(value) {
        dict.iter().map(|(key, value)| Ok((name(key)?.to_owned(), inner(value)?))).collect()
    } else if let Some(collection) = value.downcast_ref::<Collection>() {
        collection.after(levels - 1).map(|records| Node::Map(records).to_json())
    } else if let Some(fields) = StructRef::from_value(value) {
        fields.iter().map(|(key, value)| Ok((key.as_str().to_owned(), inner(value)?))).collect()
    } else {
        number(value)
    }
}

fn node(value: Value<'_>, levels: usize) -> Result<Node, String> {
    convert(value, levels, &Cell::new(MAX_VALUES)).map(|json| Node::from(&json))
}

fn name(key: Value<'_>) -> Result<&str, String> {
    key.unpack_str().ok_or_else(|| format!("has the key {}, which is no text", key.to_repr()))
}

fn number(value: Value<'_>) -> Result<Json, String> {
    let integer = || value.to_repr().parse::<Number>().ok();
    let found = match value.get_type() {
        "int" => integer(),
        "float" => UnpackFloat::unpack_value_opt(value).and_then(|f| Number::from_f64(f.0)),
        _ => None,
    };
    found.map(Json::Number).ok_or_else(|| format!("holds {}, which is no JSON", value.to_repr()))
}

/// What a function changed in the world it was given.
///
/// # Errors
/// It put something into the world that is no JSON.
pub fn changes(world: Value<'_>, before: &Node) -> Result<Patch, String> {
    let mut patch = Patch::new();
    match world.downcast_ref::<Collection>() {
        Some(collection) => collection.changes("", MAX_DEPTH, &mut patch)?,
        None => crate::world::diff(before, &node(world, MAX_DEPTH)?, "", &mut patch),
    }
    Ok(patch)
}

impl<'v> Collection<'v> {
    fn read(&self, key: &str, heap: Heap<'v>) -> Option<Value<'v>> {
        if let Some(touched) = self.touched.borrow().get(key) {
            return *touched;
        }
        let value = alloc(self.before.get(key)?, heap);
        self.touched.borrow_mut().insert(key.to_owned(), Some(value));
        Some(value)
    }

    fn write(&self, key: &str, value: Option<Value<'v>>) {
        self.touched.borrow_mut().insert(key.to_owned(), value);
    }

    fn has(&self, key: &str) -> bool {
        match self.touched.borrow().get(key) {
            Some(touched) => touched.is_some(),
            None => self.before.contains_key(key),
        }
    }

    /// Those of the world in order, then the new ones as they came.
    fn keys(&self) -> Vec<String> {
        let touched = self.touched.borrow();
        let there = self.before.keys().filter(|key| touched.get(&***key).is_none_or(Option::is_some));
        let new = touched.iter().filter(|(key, value)| value.is_some() && !self.before.contains_key(key.as_str()));
        there.map(ToString::to_string).chain(new.map(|(key, _)| key.clone())).collect()
    }

    fn entries(&self, heap: Heap<'v>) -> Vec<(String, Value<'v>)> {
        self.keys().into_iter().filter_map(|key| self.read(&key, heap).map(|value| (key, value))).collect()
    }

    fn after(&self, levels: usize) -> Result<Records, String> {
        let mut after = self.before.clone();
        for (key, value) in self.touched.borrow().iter() {
            match value {
                None => after = after.remove(key.as_str()),
                Some(value) => {
                    let value = node(*value, levels)?;
                    if after.get(key.as_str()) != Some(&value) {
                        after = after.insert(key.as_str().into(), value);
                    }
                }
            }
        }
        Ok(after)
    }

    fn changes(&self, at: &str, levels: usize, patch: &mut Patch) -> Result<(), String> {
        let mut touched: Vec<(String, Option<Value<'v>>)> =
            self.touched.borrow().iter().map(|(key, value)| (key.clone(), *value)).collect();
        touched.sort_by(|a, b| a.0.cmp(&b.0));
        for (key, value) in touched {
            let path = join(at, &key);
            match (self.before.get(key.as_str()), value) {
                (Some(_), None) => patch.push(PatchOp::Remove { path }),
                (None, None) => {}
                (None, Some(value)) => {
                    patch.push(PatchOp::Add { path, value: convert(value, levels - 1, &Cell::new(MAX_VALUES))? });
                }
                (Some(before), Some(value)) => match value.downcast_ref::<Self>() {
                    Some(inner) if inner.stands_for(before) && levels > 1 => inner.changes(&path, levels - 1, patch)?,
                    _ => difference::diff(before, value, &path, levels - 1, patch)?,
                },
            }
        }
        Ok(())
    }

    /// Whether it was read from there, and not put there from elsewhere.
    fn stands_for(&self, node: &Node) -> bool {
        matches!(node, Node::Map(map) if map.ptr_eq(&self.before))
    }
}

impl fmt::Debug for Collection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collection({} records)", self.before.size())
    }
}

impl fmt::Display for Collection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.after(MAX_DEPTH) {
            Ok(records) => write!(f, "{}", Node::Map(records).to_json()),
            Err(reason) => f.write_str(&reason),
        }
    }
}

fn key_of(index: Value<'_>) -> starlark::Result<&str> {
    index.unpack_str().ok_or_else(|| starlark::Error::new_other(ValueError::KeyNotFound(index.to_repr())))
}

starlark::methods_static!(METHODS = methods);

#[starlark_value(type = "dict")]
impl<'v> StarlarkValue<'v> for Collection<'v> {
    fn get_methods() -> Option<&'static Methods> {
        Some(METHODS.methods())
    }

    fn to_bool(&self) -> bool {
        !self.keys().is_empty()
    }

    fn length(&self) -> starlark::Result<i32> {
        i32::try_from(self.keys().len()).map_err(starlark::Error::new_other)
    }

    fn is_in(&self, other: Value<'v>) -> starlark::Result<bool> {
        Ok(other.unpack_str().is_some_and(|key| self.has(key)))
    }

    fn at(&self, index: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let missing = || starlark::Error::new_other(ValueError::KeyNotFound(index.to_repr()));
        self.read(key_of(index)?, heap).ok_or_else(missing)
    }

    fn set_at(&self, index: Value<'v>, new_value: Value<'v>) -> starlark::Result<()> {
        let text = || starlark::Error::new_other(std::io::Error::other("keys of the world are texts"));
        self.write(index.unpack_str().ok_or_else(text)?, Some(new_value));
        Ok(())
    }

    fn bit_or(&self, other: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let more = entries(other, heap)?;
        let own = self.entries(heap).into_iter().filter(|(key, _)| more.iter().all(|(other, _)| other != key));
        Ok(heap.alloc(AllocDict(own.chain(more.iter().cloned()).collect::<Vec<_>>())))
    }

    fn iterate_collect(&self, heap: Heap<'v>) -> starlark::Result<Vec<Value<'v>>> {
        Ok(self.keys().iter().map(|key| heap.alloc_str(key).to_value()).collect())
    }

    fn equals(&self, other: Value<'v>) -> starlark::Result<bool> {
        let same = self.after(MAX_DEPTH).and_then(|own| Ok(Node::Map(own) == node(other, MAX_DEPTH)?));
        Ok(same.unwrap_or(false))
    }
}

/// The methods of Starlark's dict.
#[starlark_module]
fn methods(builder: &mut MethodsBuilder) {
    fn get<'v>(
        this: Value<'v>,
        #[starlark(require = pos)] key: Value<'v>,
        #[starlark(require = pos)] default: Option<Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let found = key.unpack_str().and_then(|key| own(this).ok()?.read(key, heap));
        Ok(found.or(default).unwrap_or_else(Value::new_none))
    }

    fn keys<'v>(this: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        Ok(heap.alloc(AllocList(own(this)?.keys())))
    }

    fn values<'v>(this: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let this = own(this)?;
        Ok(heap.alloc(AllocList(this.keys().iter().filter_map(|key| this.read(key, heap)))))
    }

    fn items<'v>(this: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        Ok(heap.alloc(AllocList(own(this)?.entries(heap))))
    }

    fn pop<'v>(
        this: Value<'v>,
        #[starlark(require = pos)] key: Value<'v>,
        #[starlark(require = pos)] default: Option<Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let this = own(this)?;
        let name = key_of(key)?;
        let Some(value) = this.read(name, heap) else {
            let missing = || starlark::Error::new_other(ValueError::KeyNotFound(key.to_repr()));
            return default.ok_or_else(missing);
        };
        this.write(name, None);
        Ok(value)
    }

    fn setdefault<'v>(
        this: Value<'v>,
        #[starlark(require = pos)] key: &str,
        #[starlark(require = pos)] default: Option<Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let this = own(this)?;
        if let Some(value) = this.read(key, heap) {
            return Ok(value);
        }
        let value = default.unwrap_or_else(Value::new_none);
        this.write(key, Some(value));
        Ok(value)
    }

    fn update<'v>(
        this: Value<'v>,
        #[starlark(require = pos)] other: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<NoneType> {
        let this = own(this)?;
        for (key, value) in entries(other, heap)? {
            this.write(&key, Some(value));
        }
        Ok(NoneType)
    }

    fn clear<'v>(this: Value<'v>) -> starlark::Result<NoneType> {
        let this = own(this)?;
        for key in this.keys() {
            this.write(&key, None);
        }
        Ok(NoneType)
    }
}

fn own(value: Value<'_>) -> starlark::Result<&Collection<'_>> {
    value.downcast_ref_err::<Collection>()
}

/// The entries of a dict, or of what acts as one.
pub fn entries<'v>(value: Value<'v>, heap: Heap<'v>) -> starlark::Result<Vec<(String, Value<'v>)>> {
    match DictRef::from_value(value) {
        Some(dict) => dict.iter().map(|(key, value)| Ok((key_of(key)?.to_owned(), value))).collect(),
        None => Ok(own(value)?.entries(heap)),
    }
}

/// The same, whatever the keys are.
pub fn pairs<'v>(value: Value<'v>, heap: Heap<'v>) -> starlark::Result<Vec<(Value<'v>, Value<'v>)>> {
    match DictRef::from_value(value) {
        Some(dict) => Ok(dict.iter().collect()),
        None => {
            Ok(own(value)?.entries(heap).into_iter().map(|(key, v)| (heap.alloc_str(&key).to_value(), v)).collect())
        }
    }
}
