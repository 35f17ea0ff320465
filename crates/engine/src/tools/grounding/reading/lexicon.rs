//! Words that change what stands beside them. Few words do, so most are known by first letter and length to be none.

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
/// It may stand between the parts of a number, a date or an amount, or says that a number is an hour.
pub const BETWEEN: Roles = 16;

struct Lexicon {
    /// By first letter: the lengths that words have, one bit each.
    lengths: [u32; LETTERS],
    /// By first letter; what begins with none stands at the end.
    words: [Vec<(&'static str, Roles)>; LETTERS + 1],
}

const LETTERS: usize = 26;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon { lengths: [0; LETTERS], words: Default::default() };
    let roles = [
        (NUMBER, numbers::words().collect::<Vec<_>>()),
        (NOON, vec!["am", "pm", "o'clock"]),
        (CALENDAR, dates::words().collect()),
        (UNIT, numbers::units().chain(["cents"]).collect()),
        (BETWEEN, vec!["and", "business", "calendar", "h", "of", "or", "per", "point", "the", "to", "uhr", "working"]),
    ];
    for (role, words) in roles {
        for word in words {
            let letter = letter(word);
            if let Some(letter) = letter {
                lexicon.lengths[letter] |= 1 << word.len();
            }
            let known = &mut lexicon.words[letter.unwrap_or(LETTERS)];
            match known.iter_mut().find(|(other, _)| *other == word) {
                Some((_, roles)) => *roles |= role,
                None => known.push((word, role)),
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
    let letter = letter(word);
    if letter.is_some_and(|letter| word.len() >= 32 || lexicon.lengths[letter] & (1 << word.len()) == 0) {
        return 0;
    }
    let known = &lexicon.words[letter.unwrap_or(LETTERS)];
    known.iter().find(|(other, _)| *other == word).map_or(0, |(_, roles)| *roles)
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
            ("the", BETWEEN),
            ("table", 0),
        ] {
            assert_eq!(roles(word), expected, "{word}");
        }
        assert!(numbers::words().all(|word| roles(word) & NUMBER != 0));
        assert!(numbers::units().all(|word| roles(word) & UNIT != 0 && numbers::unit(word).is_some()));
        assert!(dates::words().all(|word| dates::month(word).or(dates::weekday(word)).is_some()));
    }
}
