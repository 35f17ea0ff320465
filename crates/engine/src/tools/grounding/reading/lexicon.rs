//! Words that change what stands beside them. Few words do, and most words share first letter and length with none of them.

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
    /// By first letter and length. Longer words stand with the longest.
    words: Vec<[Vec<(&'static str, Roles)>; LENGTHS]>,
    /// Those that begin with no small letter.
    others: Vec<(&'static str, Roles)>,
}

const LETTERS: usize = 26;
const LENGTHS: usize = 16;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon { words: (0..LETTERS).map(|_| Default::default()).collect(), others: Vec::new() };
    let roles = [
        (NUMBER, numbers::words().collect::<Vec<_>>()),
        (NOON, vec!["am", "pm", "o'clock"]),
        (CALENDAR, dates::words().collect()),
        (UNIT, numbers::units().chain(["cents"]).collect()),
        (BETWEEN, vec!["and", "business", "calendar", "h", "of", "or", "per", "point", "the", "to", "uhr", "working"]),
    ];
    for (role, words) in roles {
        for word in words {
            let known = match letter(word) {
                Some(letter) => &mut lexicon.words[letter][length(word)],
                None => &mut lexicon.others,
            };
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

fn length(word: &str) -> usize {
    word.len().min(LENGTHS - 1)
}

/// What a word, in lower case, does to its neighbours.
pub fn roles(word: &str) -> Roles {
    let lexicon = &*LEXICON;
    let known = letter(word).map_or(&lexicon.others, |letter| &lexicon.words[letter][length(word)]);
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
