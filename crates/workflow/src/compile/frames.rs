//! The names of the lists of steps that are being read.

use indexmap::IndexMap;

use super::Compiler;
use crate::plan::{Place, Ref};
use crate::types::Type;

/// Words of Starlark and of templates, and what every expression is given.
pub const RESERVED: [&str; 39] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "ctx", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "load", "nonlocal", "not",
    "or", "pass", "raise", "return", "try", "while", "with", "yield", "loop", "self", "None", "True", "False",
];

/// The names of one list of steps.
pub struct Frame {
    /// Inputs, the item of a map, the state of a loop.
    bindings: IndexMap<String, Type>,
    /// The steps that were read, with their places.
    steps: IndexMap<String, (usize, Type)>,
    /// Names within its maps and loops, and why they are not visible.
    pub elsewhere: Vec<(String, String)>,
}

impl Frame {
    pub fn new(bindings: impl IntoIterator<Item = (String, Type)>) -> Self {
        Self { bindings: bindings.into_iter().collect(), steps: IndexMap::new(), elsewhere: Vec::new() }
    }

    pub fn values(&self) -> impl Iterator<Item = (String, Type)> {
        let steps = self.steps.iter().map(|(name, (_, of))| (name, of));
        self.bindings.iter().chain(steps).map(|(name, of)| (name.clone(), of.clone()))
    }

    pub fn bindings(&self) -> Vec<String> {
        self.bindings.keys().cloned().collect()
    }

    pub fn add_step(&mut self, name: &str, place: usize, of: Type) {
        self.steps.insert(name.to_owned(), (place, of));
    }

    fn find(&self, name: &str) -> Option<Place> {
        let step = self.steps.get(name).map(|(place, _)| Place::Step(*place));
        step.or_else(|| self.bindings.get_index_of(name).map(Place::Binding))
    }
}

impl Compiler<'_> {
    /// Where a name stands, seen from the innermost list.
    pub fn reference(&self, name: &str) -> Option<Ref> {
        let frames = self.frames.iter().rev().enumerate();
        frames.into_iter().find_map(|(up, frame)| Some(Ref { up, place: frame.find(name)? }))
    }

    /// A name that expressions can use, and that nothing around it has.
    pub fn check_name(&mut self, name: &str, pointer: &str) {
        let mut letters = name.chars();
        let starts = letters.next().is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_uppercase() || c == '_');
        if !starts || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_') || name.len() > 64 {
            let message = "is no name: expected a letter, then letters, digits and `_`, at most 64";
            self.problem(pointer, message);
        } else if RESERVED.contains(&name) {
            self.problem(pointer, format!("`{name}` is a word of the language; choose another name"));
        } else if self.reference(name).is_some() {
            self.problem(pointer, format!("the name `{name}` is used already around it; choose another one"));
        }
    }
}
