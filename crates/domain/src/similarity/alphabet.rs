//! Characters as small numbers, so that tables over them are small too.

use std::collections::HashMap;

/// A character: its place in the alphabet.
pub type Letter = u32;

/// The characters seen so far, in the order of their first appearance.
#[derive(Default)]
pub struct Alphabet(HashMap<char, Letter>);

impl Alphabet {
    pub fn letters(&mut self, text: &str) -> Vec<Letter> {
        text.chars().map(|character| self.letter(character)).collect()
    }

    fn letter(&mut self, character: char) -> Letter {
        // There are 1.1 million characters.
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(character).or_insert(next)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}
