//! Words that change what stands beside them. Few words do, so most are known by first letter and length to be none.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::tools::grounding::{dates, numbers};

/// What a word may do to its neighbours.
pub type Roles = u8;
/// It is part of a number in words.
pub const NUMBER: Roles = 1;
/// It says which half of the day is meant.
pub const NOON: Roles = 2;
/// A month or a day of the week.
pub const CALENDAR: Roles = 4;
/// It says what a number counts.
pub const UNIT: Roles = 8;

struct Lexicon {
    /// By first letter: the lengths that words have, one bit each.
    lengths: [u32; 26],
    words: HashMap<&'static str, Roles>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon { lengths: [0; 26], words: HashMap::new() };
    let roles = [
        (NUMBER, numbers::words().collect::<Vec<_>>()),
        (NOON, vec!["am", "pm", "o'clock"]),
        (CALENDAR, dates::words().collect()),
        (UNIT, numbers::units().chain(["cents"]).collect()),
    ];
    for (role, words) in roles {
        for word in words {
            *lexicon.words.entry(word).or_default() |= role;
            if let Some(letter) = letter(word) {
                lexicon.lengths[letter] |= 1 << word.len();
            }
        }
    }
    lexicon
});

fn letter(word: &str) -> Option<usize> {
    let first = *word.as_bytes().first()?;
    first.is_ascii_lowercase().then(|| usize::from(first - b'a'))
}

/// What a word, in lower case, does to its neighbours.
pub fn roles(word: &str) -> Roles {
    let lexicon = &*LEXICON;
    let possible =
        letter(word).is_none_or(|letter| word.len() < 32 && lexicon.lengths[letter] & (1 << word.len()) != 0);
    if possible { lexicon.words.get(word).copied().unwrap_or_default() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_roles() {
        for (word, expected) in [
            ("seven", NUMBER),
            ("pm", NOON),
            ("sat", CALENDAR),
            ("second", UNIT),
            ("€", UNIT),
            ("cents", UNIT),
            ("the", 0),
        ] {
            assert_eq!(roles(word), expected, "{word}");
        }
        assert!(numbers::words().all(|word| roles(word) & NUMBER != 0));
        assert!(numbers::units().all(|word| roles(word) & UNIT != 0 && numbers::unit(word).is_some()));
        assert!(dates::words().all(|word| dates::month(word).or(dates::weekday(word)).is_some()));
    }
}
