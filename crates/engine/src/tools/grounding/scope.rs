//! What may be said at one place of an answer.

use super::dates::Date;
use super::numbers::{Number, Unit};
use super::reading::Fact;
use super::records::{Facts, Field, Index, unit_fits};
use super::words;

pub struct Scope<'a> {
    pub index: &'a Index,
    /// The records spoken of, the nearest first.
    pub focus: Vec<usize>,
    pub within: Vec<usize>,
    /// What may be said whatever is spoken of.
    pub always: &'a Facts,
}

impl<'a> Scope<'a> {
    pub fn new(index: &'a Index, focus: Vec<usize>, always: &'a Facts) -> Self {
        let within = index.scope(&focus);
        Self { index, focus, within, always }
    }

    fn facts(&self) -> impl Iterator<Item = &'a Facts> + '_ {
        self.within.iter().map(|i| &self.index.records[*i].facts).chain([self.always])
    }

    pub fn fields(&self) -> impl Iterator<Item = &'a Field> + '_ {
        self.within.iter().flat_map(|i| &self.index.records[*i].fields)
    }

    pub fn has_word(&self, word: &str) -> bool {
        self.facts().any(|f| f.words.contains(word))
    }

    /// A word in any of its forms, or one that says the same.
    pub fn has_stem(&self, stem: &str) -> bool {
        let has = |stem: &str| self.facts().any(|f| f.stems.contains(stem));
        has(stem) || words::synonyms(stem).iter().any(|other| has(other))
    }

    pub fn has_code(&self, code: &str) -> bool {
        self.facts().any(|f| f.codes.contains(code))
    }

    /// The end of an id that is known as a whole.
    pub fn has_ending(&self, end: &str) -> bool {
        end.len() >= 3 && self.facts().any(|f| f.codes.iter().any(|code| code.ends_with(end)))
    }

    pub fn has_pair(&self, first: &str, second: &str) -> bool {
        let has = |a: &str, b: &str| self.facts().any(|f| f.pairs.contains(&(a.to_owned(), b.to_owned())));
        has(first, second) || has(second, first)
    }

    pub fn has_number(&self, said: &Number) -> bool {
        let same = |known: &Number, path: &[String]| {
            let converted = said.in_base().is_some() && said.in_base() == known.in_base();
            converted || (said.equals(known) && unit_fits(said, known, path))
        };
        let currency = match &said.unit {
            Some(Unit::Money(name)) => self.has_currency(name),
            _ => true,
        };
        currency && self.facts().any(|f| f.numbers.iter().any(|(known, path, _)| same(known, path)))
    }

    /// In a text, where it may stand under the name of another field.
    pub fn has_number_in_text(&self, said: &Number) -> bool {
        self.facts().any(|f| {
            f.numbers.iter().any(|(known, path, text)| {
                *text
                    && said.equals(known)
                    && (said.unit == known.unit || (known.unit.is_none() && unit_fits(said, known, path)))
            })
        })
    }

    fn has_currency(&self, name: &'static str) -> bool {
        let words: &[&str] = match name {
            "eur" => &["eur", "euro", "euros", "€"],
            "usd" => &["usd", "dollar", "dollars", "$"],
            "gbp" => &["gbp", "pound", "pounds", "£"],
            "jpy" => &["jpy", "yen", "¥"],
            _ => &["chf", "franc", "francs"],
        };
        self.facts().any(|f| {
            words.iter().any(|w| f.words.contains(*w))
                || f.numbers.iter().any(|(n, ..)| n.unit == Some(Unit::Money(name)))
        })
    }

    pub fn has_date(&self, said: &[Date]) -> bool {
        let known = |day: &Date| self.facts().any(|f| f.dates.iter().any(|known| day.fits(*known)));
        said.iter().any(known)
    }

    pub fn has_time(&self, minutes: u32) -> bool {
        self.facts().any(|f| f.times.contains(&minutes))
    }

    pub fn has_fact(&self, fact: &Fact, raw: &str) -> bool {
        match fact {
            Fact::Word(word) => self.has_word(word) || self.has_stem(&words::stem(word)),
            Fact::Number(number) => {
                self.has_number(number) || (raw.len() > 3 && number.unit.is_none() && self.has_code(raw))
            }
            Fact::Date(days) => self.has_date(days),
            Fact::Time(minutes) => self.has_time(*minutes),
            Fact::Code(code) => self.has_code(code),
        }
    }
}
