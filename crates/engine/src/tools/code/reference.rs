//! The world as Starlark sees it: dicts and lists whose records are read when they are asked for.
//!
//! A [`Collection`] stands for a map of the persistent world, of any size: the world itself, a collection of records, a
//! record. It acts as Starlark's own dict in all that an author can see. What is read from it is remembered, and
//! afterwards only that is compared with what was there before, so a call costs what it touches and not what the world
//! holds.

#![expect(
    unsafe_code,
    reason = "the derives implement marker traits of the starlark crate, and its iterators are unsafe"
)]

mod difference;
mod equality;
mod from_json;
mod methods;
mod to_json;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use allocative::Allocative;
use domain::patch::{Patch, PatchOp, join};
use rpds::RedBlackTreeMapSync;
use starlark::collections::SmallMap;
use starlark::environment::Methods;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::list::AllocList;
use starlark::values::{
    Heap, NoSerialize, ProvidesStaticType, StarlarkValue, Trace, Value, ValueError, ValueLike, starlark_value,
};

use crate::world::Node;

pub use equality::{contains, equal, position};
use from_json::number;
pub use from_json::of_json;
use methods::methods;
pub use to_json::{json, json_within};
use to_json::{name, node};

/// Lists and dicts within each other, in an answer or in the world.
const MAX_DEPTH: usize = 48;

type Records = RedBlackTreeMapSync<Arc<str>, Node>;

#[derive(Trace, Allocative, ProvidesStaticType, NoSerialize)]
pub struct Collection<'v> {
    #[trace(unsafe_ignore)]
    #[allocative(skip)]
    before: Records,
    touched: RefCell<TouchedValues<'v>>,
    /// The keys, while loops run over them and it must stay as it is, and how many do.
    looped: RefCell<Vec<Value<'v>>>,
    #[trace(unsafe_ignore)]
    #[allocative(skip)]
    loops: Cell<u32>,
    /// Whether its values can be read as attributes, `record.key`, too.
    #[trace(unsafe_ignore)]
    #[allocative(skip)]
    attributes: bool,
}

/// What was read or written.
#[derive(Default, Trace, Allocative)]
struct TouchedValues<'v> {
    slots: SmallMap<Key, Slot<'v>>,
    #[trace(unsafe_ignore)]
    removed: usize,
    #[trace(unsafe_ignore)]
    added: usize,
    /// Counts what was ever added: the order of new keys.
    #[trace(unsafe_ignore)]
    clock: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Trace, Allocative)]
struct Key(#[trace(unsafe_ignore)] Arc<str>);

impl std::borrow::Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Clone, Copy, Trace, Allocative)]
enum Slot<'v> {
    /// At its place among those that were there before.
    Placed(Value<'v>),
    /// After all of those, in the order of the numbers.
    Added(Value<'v>, #[trace(unsafe_ignore)] usize),
    Removed,
}

impl<'v> Slot<'v> {
    const fn value(self) -> Option<Value<'v>> {
        match self {
            Self::Placed(value) | Self::Added(value, _) => Some(value),
            Self::Removed => None,
        }
    }
}

/// What stands at a key.
enum Entry<'a, 'v> {
    /// Nobody asked for it.
    Before(&'a Node),
    Now(Value<'v>),
}

/// The world as the argument of a function.
pub fn root<'v>(world: &Node, heap: Heap<'v>) -> Value<'v> {
    alloc(world, heap)
}

/// A node as a value of its own.
pub fn alloc<'v>(node: &Node, heap: Heap<'v>) -> Value<'v> {
    alloc_with(node, heap, false)
}

/// A node whose records can be read as `record.key`, too.
pub fn alloc_with_attributes<'v>(node: &Node, heap: Heap<'v>) -> Value<'v> {
    alloc_with(node, heap, true)
}

fn alloc_with<'v>(node: &Node, heap: Heap<'v>, attributes: bool) -> Value<'v> {
    match node {
        Node::Null => Value::new_none(),
        Node::Bool(b) => Value::new_bool(*b),
        Node::Number(n) => number(n, heap),
        Node::Text(text) => heap.alloc_str(text).to_value(),
        Node::List(items) => heap.alloc(AllocList(items.iter().map(|item| alloc_with(item, heap, attributes)))),
        Node::Map(map) => heap.alloc_complex_no_freeze(Collection {
            before: map.clone(),
            touched: RefCell::default(),
            looped: RefCell::default(),
            loops: Cell::new(0),
            attributes,
        }),
    }
}

/// The field of a record whose fields are attributes.
pub fn field<'v>(value: Value<'v>, name: &str, heap: Heap<'v>) -> Option<Value<'v>> {
    value.downcast_ref::<Collection>()?.get_attr(name, heap)
}

/// What a function changed in the world it was given.
///
/// # Errors
/// It put something into the world that is no JSON.
pub fn changes(world: Value<'_>, before: &Node) -> Result<Patch, String> {
    let mut made = difference::PatchBuilder::default();
    difference::diff(before, world, "", MAX_DEPTH, &mut made)?;
    Ok(made.patch)
}

impl<'v> Collection<'v> {
    fn read(&self, key: &str, heap: Heap<'v>) -> Option<Value<'v>> {
        if let Some(slot) = self.touched.borrow().slots.get(key) {
            return slot.value();
        }
        let (key, node) = self.before.get_key_value(key)?;
        Some(self.place(key, node, heap))
    }

    /// Reads what nobody asked for yet.
    fn place(&self, key: &Arc<str>, node: &Node, heap: Heap<'v>) -> Value<'v> {
        let value = alloc_with(node, heap, self.attributes);
        self.touched.borrow_mut().slots.insert(Key(key.clone()), Slot::Placed(value));
        value
    }

    fn write(&self, key: &str, value: Value<'v>) -> starlark::Result<()> {
        self.may_change()?;
        let mut touched = self.touched.borrow_mut();
        let TouchedValues { slots, added, clock, .. } = &mut *touched;
        if let Some(slot) = slots.get_mut(key) {
            *slot = match slot {
                Slot::Placed(_) => Slot::Placed(value),
                Slot::Added(_, place) => Slot::Added(value, *place),
                Slot::Removed => {
                    (*added, *clock) = (*added + 1, *clock + 1);
                    Slot::Added(value, *clock)
                }
            };
            return Ok(());
        }
        let (key, slot) = match self.before.get_key_value(key) {
            Some((key, _)) => (key.clone(), Slot::Placed(value)),
            None => {
                (*added, *clock) = (*added + 1, *clock + 1);
                (Arc::from(key), Slot::Added(value, *clock))
            }
        };
        slots.insert(Key(key), slot);
        Ok(())
    }

    fn remove(&self, key: &str, heap: Heap<'v>) -> starlark::Result<Option<Value<'v>>> {
        self.may_change()?;
        let Some(value) = self.read(key, heap) else { return Ok(None) };
        let mut touched = self.touched.borrow_mut();
        let TouchedValues { slots, added, removed, .. } = &mut *touched;
        if let Some(slot) = slots.get_mut(key) {
            match slot {
                Slot::Added(..) => *added -= 1,
                Slot::Placed(_) => *removed += 1,
                Slot::Removed => {}
            }
            *slot = Slot::Removed;
        }
        Ok(Some(value))
    }

    /// # Errors
    /// A loop runs over it.
    fn may_change(&self) -> starlark::Result<()> {
        let still = self.loops.get() == 0;
        if still { Ok(()) } else { Err(starlark::Error::new_other(ValueError::MutationDuringIteration)) }
    }

    fn has(&self, key: &str) -> bool {
        match self.touched.borrow().slots.get(key) {
            Some(slot) => slot.value().is_some(),
            None => self.before.contains_key(key),
        }
    }

    fn len(&self) -> usize {
        let touched = self.touched.borrow();
        self.before.size() + touched.added - touched.removed
    }

    /// Those that were there before in order, then the new ones as they came.
    fn each<E>(&self, mut act: impl FnMut(&Arc<str>, Entry<'_, 'v>) -> Result<(), E>) -> Result<(), E> {
        let touched = self.touched.borrow();
        for (key, node) in &self.before {
            match touched.slots.get(&**key) {
                None => act(key, Entry::Before(node))?,
                Some(Slot::Placed(value)) => act(key, Entry::Now(*value))?,
                Some(Slot::Added(..) | Slot::Removed) => {}
            }
        }
        if touched.added == 0 {
            return Ok(());
        }
        let new = touched.slots.iter().filter_map(|(key, slot)| match slot {
            Slot::Added(value, place) => Some((*place, key, *value)),
            _ => None,
        });
        let mut new: Vec<_> = new.collect();
        new.sort_unstable_by_key(|(place, ..)| *place);
        new.into_iter().try_for_each(|(_, key, value)| act(&key.0, Entry::Now(value)))
    }

    fn keys(&self, heap: Heap<'v>) -> Vec<Value<'v>> {
        let mut keys = Vec::with_capacity(self.len());
        let Ok(()) = self.each(|key, _| {
            keys.push(heap.alloc_str(key).to_value());
            Ok::<(), std::convert::Infallible>(())
        });
        keys
    }

    pub fn entries(&self, heap: Heap<'v>) -> Vec<(Arc<str>, Value<'v>)> {
        let mut entries = Vec::with_capacity(self.len());
        let mut unread = Vec::new();
        let Ok(()) = self.each(|key, entry| {
            let value = match entry {
                Entry::Now(value) => value,
                Entry::Before(node) => {
                    let value = alloc_with(node, heap, self.attributes);
                    unread.push((Key(key.clone()), Slot::Placed(value)));
                    value
                }
            };
            entries.push((key.clone(), value));
            Ok::<(), std::convert::Infallible>(())
        });
        self.touched.borrow_mut().slots.extend(unread);
        entries
    }

    fn changes(&self, at: &str, levels: usize, made: &mut difference::PatchBuilder) -> Result<(), String> {
        let mut touched: Vec<(Key, Slot<'v>)> =
            self.touched.borrow().slots.iter().map(|(key, slot)| (key.clone(), *slot)).collect();
        // What is gone comes first, as everywhere where patches are made.
        touched.sort_unstable_by(|(a, one), (b, other)| {
            let stays = |slot: &Slot<'v>| slot.value().is_some();
            stays(one).cmp(&stays(other)).then_with(|| a.0.cmp(&b.0))
        });
        for (Key(key), slot) in touched {
            match (self.before.get(&key), slot.value()) {
                (Some(_), None) => made.patch.push(PatchOp::Remove { path: join(at, &key) }),
                (None, None) => {}
                (None, Some(value)) => {
                    let value = made.node(value, levels - 1)?.to_json();
                    made.patch.push(PatchOp::Add { path: join(at, &key), value });
                }
                (Some(before), Some(value)) => difference::diff_at(before, value, at, &key, levels - 1, made)?,
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
        let json = to_json::collection(self);
        match json {
            Ok(json) => write!(f, "{json}"),
            Err(reason) => f.write_str(&reason),
        }
    }
}

fn missing(key: Value<'_>) -> starlark::Error {
    starlark::Error::new_other(ValueError::KeyNotFound(key.to_repr()))
}

/// The key to write at.
fn text_of(key: Value<'_>) -> starlark::Result<&str> {
    key.unpack_str()
        .ok_or_else(|| super::broken(format!("keys of the world are texts, and {} is not one", key.to_repr())))
}

starlark::methods_static!(METHODS = methods);

#[starlark_value(type = "dict")]
impl<'v> StarlarkValue<'v> for Collection<'v> {
    fn get_methods() -> Option<&'static Methods> {
        Some(METHODS.methods())
    }

    fn to_bool(&self) -> bool {
        self.len() > 0
    }

    fn length(&self) -> starlark::Result<i32> {
        i32::try_from(self.len()).map_err(starlark::Error::new_other)
    }

    fn is_in(&self, other: Value<'v>) -> starlark::Result<bool> {
        match other.unpack_str() {
            Some(key) => Ok(self.has(key)),
            // Lists and dicts are no keys, whatever is asked.
            None => other.get_hashed().map(|_| false),
        }
    }

    fn at(&self, index: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        index.unpack_str().and_then(|key| self.read(key, heap)).ok_or_else(|| missing(index))
    }

    fn get_attr(&self, attribute: &str, heap: Heap<'v>) -> Option<Value<'v>> {
        self.attributes.then(|| self.read(attribute, heap)).flatten()
    }

    fn has_attr(&self, attribute: &str, _heap: Heap<'v>) -> bool {
        self.attributes && self.has(attribute)
    }

    fn set_at(&self, index: Value<'v>, new_value: Value<'v>) -> starlark::Result<()> {
        self.write(text_of(index)?, new_value)
    }

    fn bit_or(&self, other: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let mut made: SmallMap<Value<'v>, Value<'v>> = SmallMap::new();
        for (key, value) in self.entries(heap) {
            made.insert_hashed(heap.alloc_str(&key).to_value().get_hashed()?, value);
        }
        for (key, value) in pairs(other, heap)? {
            made.insert_hashed(key.get_hashed()?, value);
        }
        Ok(heap.alloc(AllocDict(made)))
    }

    unsafe fn iterate(&self, me: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        if self.loops.get() == 0 {
            *self.looped.borrow_mut() = self.keys(heap);
        }
        self.loops.set(self.loops.get() + 1);
        Ok(me)
    }

    unsafe fn iter_size_hint(&self, index: usize) -> (usize, Option<usize>) {
        let left = self.looped.borrow().len().saturating_sub(index);
        (left, Some(left))
    }

    unsafe fn iter_next(&self, index: usize, _heap: Heap<'v>) -> Option<Value<'v>> {
        self.looped.borrow().get(index).copied()
    }

    unsafe fn iter_stop(&self) {
        self.loops.set(self.loops.get().saturating_sub(1));
    }

    /// Where Starlark compares by itself. What an author compares comes to [`equal`].
    fn equals(&self, other: Value<'v>) -> starlark::Result<bool> {
        let own = to_json::collection(self);
        let same = own.and_then(|own| Ok(Node::from(&own) == node(other, MAX_DEPTH)?));
        Ok(same.unwrap_or(false))
    }
}

/// The entries of a dict, or of what acts as one, or of a list of pairs.
pub fn pairs<'v>(value: Value<'v>, heap: Heap<'v>) -> starlark::Result<Vec<(Value<'v>, Value<'v>)>> {
    if let Some(dict) = DictRef::from_value(value) {
        return Ok(dict.iter().collect());
    }
    if let Some(collection) = value.downcast_ref::<Collection>() {
        let entries = collection.entries(heap).into_iter();
        return Ok(entries.map(|(key, value)| (heap.alloc_str(&key).to_value(), value)).collect());
    }
    let mut pairs = Vec::new();
    for pair in value.iterate(heap)? {
        let pair: Vec<Value<'v>> = pair.iterate(heap)?.take(3).collect();
        let [key, value] = pair[..] else {
            return Err(super::broken("a dict or a list of pairs was expected, a key and a value each".to_owned()));
        };
        pairs.push((key, value));
    }
    Ok(pairs)
}

/// What acts as a dict as one of Starlark's own, for functions that know no other; everything else as it is.
pub fn plain<'v>(value: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
    if value.downcast_ref::<Collection>().is_none() {
        return Ok(value);
    }
    let mut made: SmallMap<Value<'v>, Value<'v>> = SmallMap::new();
    for (key, value) in pairs(value, heap)? {
        made.insert_hashed(key.get_hashed()?, value);
    }
    Ok(heap.alloc(AllocDict(made)))
}
