//! Whether two values are equal: a dict that an author made and one of the world with the same entries are, whichever
//! stands first.

use std::cell::Cell;

use starlark::values::dict::DictRef;
use starlark::values::list::ListRef;
use starlark::values::structs::StructRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, Value, ValueLike};

use super::to_json::MAX_VALUES;
use super::{Collection, MAX_DEPTH};
use crate::tools::code::broken;

/// Whether they are equal, and how many bytes or values were compared where these are many.
///
/// # Errors
/// They hold too much to be compared.
pub fn equal<'v>(a: Value<'v>, b: Value<'v>, heap: Heap<'v>) -> starlark::Result<(bool, usize)> {
    // Mostly texts and numbers, which need none of this.
    if a.ptr_eq(b) || is_plain(a) || is_plain(b) {
        return Ok((a.equals(b)?, a.unpack_str().map_or(0, str::len)));
    }
    let comparison = Comparison::new(heap);
    let equal = comparison.equal(a, b, MAX_DEPTH)?;
    Ok((equal, comparison.compared()))
}

/// `value in container`, and how many bytes or values were compared where these are many.
///
/// # Errors
/// See [`equal`]; or nothing is in such a value.
pub fn contains<'v>(container: Value<'v>, value: Value<'v>, heap: Heap<'v>) -> starlark::Result<(bool, usize)> {
    let items = ListRef::from_value(container).map(ListRef::content);
    let items = items.or_else(|| TupleRef::from_value(container).map(TupleRef::content));
    let Some(items) = items else {
        return Ok((container.is_in(value)?, container.unpack_str().map_or(0, str::len)));
    };
    let (position, compared) = position(items, value, heap)?;
    Ok((position.is_some(), compared))
}

/// The place of the first item that equals a value, and how many bytes or values were compared where these are many.
///
/// # Errors
/// See [`equal`].
pub fn position<'v>(items: &[Value<'v>], value: Value<'v>, heap: Heap<'v>) -> starlark::Result<(Option<usize>, usize)> {
    if is_plain(value) {
        // All texts of a list may be as long as this one.
        let each = value.unpack_str().map_or(0, str::len) / 64 + 1;
        let compared = items.len().saturating_mul(each);
        for (i, item) in items.iter().enumerate() {
            // Nothing plain equals what is not.
            if is_plain(*item) && item.equals(value)? {
                return Ok((Some(i), compared));
            }
        }
        return Ok((None, compared));
    }
    let comparison = Comparison::new(heap);
    for (i, item) in items.iter().enumerate() {
        if comparison.equal(*item, value, MAX_DEPTH)? {
            return Ok((Some(i), comparison.compared()));
        }
    }
    Ok((None, comparison.compared()))
}

/// Whether it holds no other values, so that Starlark can compare it.
fn is_plain(value: Value<'_>) -> bool {
    value.unpack_str().is_some() || !matches!(value.get_type(), "dict" | "list" | "tuple" | "struct")
}

struct Comparison<'v> {
    /// How many values may still be compared.
    left: Cell<usize>,
    heap: Heap<'v>,
}

impl<'v> Comparison<'v> {
    const fn new(heap: Heap<'v>) -> Self {
        Self { left: Cell::new(MAX_VALUES), heap }
    }

    const fn compared(&self) -> usize {
        MAX_VALUES - self.left.get()
    }

    fn equal(&self, a: Value<'v>, b: Value<'v>, levels: usize) -> starlark::Result<bool> {
        let Some(fewer) = self.left.get().checked_sub(1).filter(|_| levels > 0) else {
            return Err(broken("the values hold too much to be compared".to_owned()));
        };
        self.left.set(fewer);
        if a.ptr_eq(b) || is_plain(a) || is_plain(b) {
            return a.equals(b);
        }
        if let (Some(a), Some(b)) = (ListRef::from_value(a), ListRef::from_value(b)) {
            return self.all_equal(a.content(), b.content(), levels);
        }
        if let (Some(a), Some(b)) = (TupleRef::from_value(a), TupleRef::from_value(b)) {
            return self.all_equal(a.content(), b.content(), levels);
        }
        if let (Some(fields), Some(others)) = (StructRef::from_value(a), StructRef::from_value(b)) {
            return Ok(fields.iter().len() == others.iter().len() && self.fields_equal(fields, b, levels)?);
        }
        match (Entries::of(a), Entries::of(b)) {
            (Some(a), Some(b)) => self.entries_equal(&a, &b, levels),
            _ => Ok(false),
        }
    }

    fn all_equal(&self, a: &[Value<'v>], b: &[Value<'v>], levels: usize) -> starlark::Result<bool> {
        if a.len() != b.len() {
            return Ok(false);
        }
        for (a, b) in a.iter().zip(b) {
            if !self.equal(*a, *b, levels - 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a struct has all these fields.
    fn fields_equal(&self, fields: StructRef<'v>, other: Value<'v>, levels: usize) -> starlark::Result<bool> {
        for (name, value) in fields.iter() {
            match other.get_attr(name.as_str(), self.heap)? {
                Some(other) if self.equal(value, other, levels - 1)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn entries_equal(&self, a: &Entries<'v>, b: &Entries<'v>, levels: usize) -> starlark::Result<bool> {
        if a.len() != b.len() {
            return Ok(false);
        }
        for (key, value) in a.all(self.heap) {
            match b.get(key, self.heap)? {
                Some(other) if self.equal(value, other, levels - 1)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

enum Entries<'v> {
    Dict(DictRef<'v>),
    Collection(&'v Collection<'v>),
}

impl<'v> Entries<'v> {
    fn of(value: Value<'v>) -> Option<Self> {
        let dict = DictRef::from_value(value).map(Self::Dict);
        dict.or_else(|| value.downcast_ref::<Collection>().map(Self::Collection))
    }

    fn len(&self) -> usize {
        match self {
            Self::Dict(dict) => dict.len(),
            Self::Collection(collection) => collection.len(),
        }
    }

    fn all(&self, heap: Heap<'v>) -> Vec<(Value<'v>, Value<'v>)> {
        match self {
            Self::Dict(dict) => dict.iter().collect(),
            Self::Collection(collection) => {
                let entries = collection.entries(heap).into_iter();
                entries.map(|(key, value)| (heap.alloc_str(&key).to_value(), value)).collect()
            }
        }
    }

    fn get(&self, key: Value<'v>, heap: Heap<'v>) -> starlark::Result<Option<Value<'v>>> {
        match self {
            Self::Dict(dict) => dict.get(key),
            Self::Collection(collection) => Ok(key.unpack_str().and_then(|key| collection.read(key, heap))),
        }
    }
}
