//! The methods of Starlark's dict, for a [`Collection`].

use starlark::collections::SmallMap;
use starlark::environment::MethodsBuilder;
use starlark::starlark_module;
use starlark::values::list::AllocList;
use starlark::values::none::NoneType;
use starlark::values::{Heap, Value, ValueLike};

use super::{Collection, missing, pairs, text_of};

#[starlark_module]
pub fn methods(builder: &mut MethodsBuilder) {
    fn get<'v>(
        this: Value<'v>,
        #[starlark(require = pos)] key: Value<'v>,
        #[starlark(require = pos)] default: Option<Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let this = own(this)?;
        let found = match key.unpack_str() {
            Some(key) => this.read(key, heap),
            None => key.get_hashed().map(|_| None)?,
        };
        Ok(found.or(default).unwrap_or_else(Value::new_none))
    }

    fn keys<'v>(this: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        Ok(heap.alloc(AllocList(own(this)?.keys(heap))))
    }

    fn values<'v>(this: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        Ok(heap.alloc(AllocList(own(this)?.entries(heap).into_iter().map(|(_, value)| value))))
    }

    fn items<'v>(this: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let entries = own(this)?.entries(heap);
        Ok(heap.alloc(AllocList(entries.iter().map(|(key, value)| (&**key, *value)))))
    }

    fn pop<'v>(
        this: Value<'v>,
        #[starlark(require = pos)] key: Value<'v>,
        default: Option<Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let this = own(this)?;
        let found = match key.unpack_str() {
            Some(key) => this.remove(key, heap)?,
            None => key.get_hashed().map(|_| None)?,
        };
        found.or(default).ok_or_else(|| missing(key))
    }

    /// The first entry, as Starlark has it.
    fn popitem<'v>(this: Value<'v>, heap: Heap<'v>) -> starlark::Result<(Value<'v>, Value<'v>)> {
        let this = own(this)?;
        let Err(first) = this.each(|key, _| Err(key.clone())) else {
            return Err(super::super::broken("`popitem` finds nothing in an empty dict".to_owned()));
        };
        let value = this.remove(&first, heap)?.unwrap_or_else(Value::new_none);
        Ok((heap.alloc_str(&first).to_value(), value))
    }

    fn setdefault<'v>(
        this: Value<'v>,
        #[starlark(require = pos)] key: Value<'v>,
        #[starlark(require = pos)] default: Option<Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let this = own(this)?;
        let key = text_of(key)?;
        this.may_change()?;
        if let Some(value) = this.read(key, heap) {
            return Ok(value);
        }
        let value = default.unwrap_or_else(Value::new_none);
        this.write(key, value)?;
        Ok(value)
    }

    fn update<'v>(
        this: Value<'v>,
        #[starlark(require = pos)] other: Option<Value<'v>>,
        #[starlark(kwargs)] named: SmallMap<String, Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<NoneType> {
        let this = own(this)?;
        this.may_change()?;
        for (key, value) in other.map_or_else(|| Ok(Vec::new()), |other| pairs(other, heap))? {
            this.write(text_of(key)?, value)?;
        }
        for (key, value) in named {
            this.write(&key, value)?;
        }
        Ok(NoneType)
    }

    fn clear<'v>(this: Value<'v>, heap: Heap<'v>) -> starlark::Result<NoneType> {
        let this = own(this)?;
        this.may_change()?;
        for (key, _) in this.entries(heap) {
            this.remove(&key, heap)?;
        }
        Ok(NoneType)
    }
}

fn own(value: Value<'_>) -> starlark::Result<&Collection<'_>> {
    value.downcast_ref_err::<Collection>()
}
