//! Names as numbers.

use std::collections::HashMap;
use std::sync::Arc;

/// Each name once, numbered from 0 in the order in which they came.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    numbers: HashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
}

impl Symbols {
    /// The number of a name, given now if it has none.
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let name: Arc<str> = name.into();
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.numbers.insert(Arc::clone(&name), number);
        self.names.push(name);
        number
    }

    /// `None` if nothing was ever named so.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// Empty if no name has the number.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", AsRef::as_ref)
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
