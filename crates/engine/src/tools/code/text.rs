//! Values as text: `str`, `repr` and all that is made of them. As Starlark writes them, with numbers as Python does, and
//! never longer than one step may make.

use starlark::values::dict::DictRef;
use starlark::values::float::UnpackFloat;
use starlark::values::list::ListRef;
use starlark::values::string::StarlarkStr;
use starlark::values::structs::StructRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, UnpackValue, Value, ValueLike};

use super::numbers;
use super::reference::Collection;
use crate::limits::MOST_ITEMS;

/// Lists and dicts within each other.
const MAX_DEPTH: usize = 64;

/// A text that is being written.
pub struct Text<'v> {
    heap: Heap<'v>,
    written: String,
    /// What holds the value that is being written: a list may hold itself.
    within: Vec<Value<'v>>,
}

/// As `str` has it: texts as they are.
///
/// # Errors
/// It would be too long.
pub fn str_of<'v>(value: Value<'v>, heap: Heap<'v>) -> Result<String, String> {
    let mut text = Text::new(heap);
    text.str(value)?;
    Ok(text.written)
}

/// As `repr` has it: texts in quotes.
///
/// # Errors
/// It would be too long.
pub fn repr_of<'v>(value: Value<'v>, heap: Heap<'v>) -> Result<String, String> {
    let mut text = Text::new(heap);
    text.repr(value)?;
    Ok(text.written)
}

impl<'v> Text<'v> {
    pub const fn new(heap: Heap<'v>) -> Self {
        Self { heap, written: String::new(), within: Vec::new() }
    }

    pub fn str(&mut self, value: Value<'v>) -> Result<(), String> {
        match value.unpack_str() {
            Some(text) => self.push(text),
            None => self.repr(value),
        }
    }

    pub fn repr(&mut self, value: Value<'v>) -> Result<(), String> {
        if let Some(text) = value.unpack_str() {
            return self.push(&StarlarkStr::repr(text));
        }
        if value.get_type() == "float" {
            let number = UnpackFloat::unpack_value_opt(value).map(|float| numbers::repr(float.0));
            return self.push(&number.unwrap_or_default());
        }
        self.nested(value)
    }

    pub fn push(&mut self, text: &str) -> Result<(), String> {
        if self.written.len() + text.len() > MOST_ITEMS {
            return Err(format!("the text would be longer than {MOST_ITEMS} bytes"));
        }
        self.written.push_str(text);
        Ok(())
    }

    pub fn into_string(self) -> String {
        self.written
    }

    fn nested(&mut self, value: Value<'v>) -> Result<(), String> {
        if self.within.iter().any(|outer| outer.ptr_eq(value)) {
            return self.push(if value.get_type() == "dict" { "{...}" } else { "[...]" });
        }
        if self.within.len() == MAX_DEPTH {
            return Err(format!("the text nests lists and dicts deeper than {MAX_DEPTH} levels"));
        }
        self.within.push(value);
        if let Some(list) = ListRef::from_value(value) {
            self.items("[", list.iter(), "]")?;
        } else if let Some(tuple) = TupleRef::from_value(value) {
            self.items("(", tuple.iter(), if tuple.len() == 1 { ",)" } else { ")" })?;
        } else if let Some(dict) = DictRef::from_value(value) {
            self.dict(dict.iter())?;
        } else if let Some(collection) = value.downcast_ref::<Collection<'v>>() {
            let (entries, heap) = (collection.entries(self.heap), self.heap);
            self.dict(entries.iter().map(|(key, value)| (heap.alloc_str(key).to_value(), *value)))?;
        } else if let Some(fields) = StructRef::from_value(value) {
            self.fields(&fields)?;
        } else if value.get_type() == "set" {
            let items: Vec<Value<'v>> = value.iterate(self.heap).map_err(|e| e.to_string())?.collect();
            self.items("set([", items.into_iter(), "])")?;
        } else {
            self.push(&value.to_repr())?;
        }
        self.within.pop();
        Ok(())
    }

    fn items(&mut self, open: &str, items: impl Iterator<Item = Value<'v>>, close: &str) -> Result<(), String> {
        self.push(open)?;
        for (i, item) in items.enumerate() {
            self.push(if i > 0 { ", " } else { "" })?;
            self.repr(item)?;
        }
        self.push(close)
    }

    fn dict(&mut self, entries: impl Iterator<Item = (Value<'v>, Value<'v>)>) -> Result<(), String> {
        self.push("{")?;
        for (i, (key, value)) in entries.enumerate() {
            self.push(if i > 0 { ", " } else { "" })?;
            self.repr(key)?;
            self.push(": ")?;
            self.repr(value)?;
        }
        self.push("}")
    }

    fn fields(&mut self, fields: &StructRef<'v>) -> Result<(), String> {
        self.push("struct(")?;
        for (i, (name, value)) in fields.iter().enumerate() {
            self.push(if i > 0 { ", " } else { "" })?;
            self.push(name.as_str())?;
            self.push("=")?;
            self.repr(value)?;
        }
        self.push(")")
    }
}
