//! Names of steps and states, from whatever nodes are called.

use std::collections::HashSet;

use crate::compile::RESERVED;

/// What the input of the draft is called.
pub const INPUT: &str = "message";
/// Names of Starlark and of Jinja that mean something else where a step could be meant, and the input of the draft.
const TAKEN: [&str; 8] = ["true", "false", "none", "range", "dict", "namespace", "debug", INPUT];
/// Room for what is put before and behind a name: names have at most 64 letters.
const LONGEST: usize = 40;

/// The names that were given. Each is given once: what is within a loop may not be called like something around it.
pub struct Names(HashSet<String>);

impl Names {
    pub fn new() -> Self {
        Self(RESERVED.iter().chain(&TAKEN).map(|name| (*name).to_owned()).collect())
    }

    /// This name, or one like it that is still free.
    pub fn give(&mut self, wanted: &str) -> String {
        let is_free = |name: &String| !self.0.contains(name);
        let numbered = || (2..=u32::MAX).map(|number| format!("{wanted}_{number}")).find(is_free).unwrap_or_default();
        let free = if self.0.contains(wanted) { numbered() } else { wanted.to_owned() };
        self.0.insert(free.clone());
        free
    }
}

/// A text as a name: lower-case letters, digits and `_`. Files are called so, too, and not all disks tell `A` from `a`.
pub fn identifier(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        if name.len() < LONGEST && !(c == '_' && (name.is_empty() || name.ends_with('_'))) {
            name.push(c);
        }
    }
    let name = name.trim_end_matches('_');
    match name.chars().next() {
        None => "step".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("step_{name}"),
        Some(_) => name.to_owned(),
    }
}
