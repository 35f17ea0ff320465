//! A text as a row of facts and words.

mod calendar;
mod classify;
mod lexicon;
mod reader;
mod runs;
mod spelled;
mod units;

use std::borrow::Cow;

use super::dates::Date;
use super::numbers::Number;
use super::unicode::fold;
use calendar::{afternoons, textual_dates};
use lexicon::{CALENDAR, NOON, NUMBER, Roles, UNIT};
use reader::Reader;
use runs::runs;
use spelled::spelled;
use units::units;

#[derive(Debug, Clone, PartialEq)]
pub enum Fact<'a> {
    Word(Cow<'a, str>),
    Number(Number),
    /// All readings of it.
    Date(Vec<Date>),
    /// Minutes of the day.
    Time(u32),
    /// What carries a digit, an underscore or an at sign and is none of the above: ids, numbers of phones, addresses.
    Code(Cow<'a, str>),
}

/// A part of a text. It lives as long as the text, for most words stand there as they are compared.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each says another thing about how the word stands in its text")]
pub struct Token<'a> {
    pub fact: Fact<'a>,
    /// As it was written, in lower case, without punctuation around it.
    pub raw: Cow<'a, str>,
    pub capital: bool,
    /// It opens a sentence, where a capital says nothing.
    pub opens: bool,
    pub sentence: usize,
    /// A number in words.
    pub spelled: bool,
    /// A colon stands before it.
    pub colon: bool,
    /// Nothing but blanks stands between it and the token before.
    pub joined: bool,
    /// What it may do to its neighbours; nothing unless it is a word.
    roles: Roles,
}

impl Fact<'_> {
    /// Whether both are words, or numbers, or dates.
    pub const fn is_like(&self, other: &Fact<'_>) -> bool {
        matches!(
            (self, other),
            (Self::Word(_), Fact::Word(_))
                | (Self::Number(_), Fact::Number(_))
                | (Self::Date(_), Fact::Date(_))
                | (Self::Time(_), Fact::Time(_))
                | (Self::Code(_), Fact::Code(_))
        )
    }

    pub fn into_owned(self) -> Fact<'static> {
        match self {
            Self::Word(word) => Fact::Word(Cow::Owned(word.into_owned())),
            Self::Number(number) => Fact::Number(number),
            Self::Date(days) => Fact::Date(days),
            Self::Time(minutes) => Fact::Time(minutes),
            Self::Code(code) => Fact::Code(Cow::Owned(code.into_owned())),
        }
    }
}

impl Token<'_> {
    /// A value that is a number, without a text around it.
    pub fn of_number(number: Number, raw: String) -> Token<'static> {
        Token {
            fact: Fact::Number(number),
            raw: Cow::Owned(raw),
            capital: false,
            opens: true,
            sentence: 0,
            spelled: false,
            colon: false,
            joined: false,
            roles: 0,
        }
    }

    /// A word that states nothing.
    pub fn of_word(text: &str) -> Token<'static> {
        let token = Self::of_number(Number::plain(""), text.to_owned());
        Token { fact: Fact::Word(Cow::Owned(text.to_owned())), ..token }
    }

    pub fn into_owned(self) -> Token<'static> {
        Token { fact: self.fact.into_owned(), raw: Cow::Owned(self.raw.into_owned()), ..self }
    }

    pub fn word(&self) -> Option<&str> {
        match &self.fact {
            Fact::Word(word) => Some(word),
            _ => None,
        }
    }

    /// A form in which rows of tokens are compared.
    pub fn key(&self) -> String {
        match &self.fact {
            Fact::Word(word) | Fact::Code(word) => word.to_string(),
            Fact::Number(number) => number.value().to_owned(),
            Fact::Date(_) | Fact::Time(_) => self.raw.to_string(),
        }
    }

    fn integer(&self) -> bool {
        let digits = self.raw.strip_prefix('+').unwrap_or(&self.raw);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    }

    const fn may(&self, role: Roles) -> bool {
        self.roles & role != 0
    }
}

/// A step of reading, and the tokens that need it.
type Step = (for<'t, 'a> fn(&'t Token<'a>) -> bool, for<'a> fn(Vec<Token<'a>>) -> Vec<Token<'a>>);

/// Most texts need few of the steps.
const STEPS: [Step; 5] = [
    (|t| t.may(NUMBER), spelled),
    (|t| t.may(NOON), afternoons),
    (|t| t.may(CALENDAR), textual_dates),
    (|t| t.joined && t.raw.starts_with(|c: char| c.is_ascii_digit()), runs),
    (|t| t.may(UNIT), units),
];

/// Reads a text.
pub fn read(text: &str) -> Vec<Token<'static>> {
    tokens(&fold(text)).into_iter().map(Token::into_owned).collect()
}

/// Reads a text that was folded.
fn tokens(folded: &str) -> Vec<Token<'_>> {
    finished(Reader::of_all(folded.len() / 5 + 1), folded)
}

/// Reads what a text that was folded states. Of words that state nothing and do nothing to their neighbours, which are
/// most of a text, there is only the first of several in a row.
pub fn facts(folded: &str) -> Vec<Token<'_>> {
    finished(Reader::of_few(folded.len() / 32 + 1), folded)
}

/// Whether a text is a name of a field or a state, in small letters: it states nothing.
pub fn is_mere_name(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') && lexicon::roles(text) == 0
}

fn finished<'a>(reader: Reader<'a>, folded: &'a str) -> Vec<Token<'a>> {
    let mut tokens = reader.read(folded);
    for (needed, step) in STEPS {
        if tokens.iter().any(needed) {
            tokens = step(tokens);
        }
    }
    tokens
}

fn joined(tokens: &[Token<'_>], between: &str) -> String {
    tokens.iter().map(|token| &*token.raw).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::lexicon::BETWEEN;
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown: Vec<String> = read(text)
            .iter()
            .map(|t| match &t.fact {
                Fact::Word(word) => word.to_string(),
                Fact::Number(n) => format!("<{}{}>", n.value(), if n.unit.is_some() { "u" } else { "" }),
                Fact::Date(days) => {
                    let d = days[0];
                    let part = |n: Option<u32>| n.map_or("?".into(), |n| n.to_string());
                    format!("[{}-{}-{}]", d.year.map_or("?".into(), |y| y.to_string()), part(d.month), part(d.day))
                }
                Fact::Time(minutes) => format!("@{minutes}"),
                Fact::Code(code) => format!("#{code}"),
            })
            .collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn texts_are_read_as_values() {
        check("You paid €1,234.50 on March 2nd, 2026.", "you paid <1234.5u> on [2026-3-2]");
        check("It is 1.234,50 EUR, or EUR 7.", "it is <1234.5u> or <7u>");
        check("Monday, 2 March at 8 pm", "[?-3-2] at @1200");
        check("forty-one euros and sixteen cents", "<41.16u>");
        check("Call +999 555 0190 or four one one six", "call #9995550190 or #4116");
        check("Only 1 may come on 1 May", "only <1> may come on [?-5-1]");
        check("within 60 days, 1.75 %", "within <60u> days <1.75u>");
        check("crd_3001 was in_review at 2026-03-02T09:00:00Z", "#crd_3001 was #in_review at [2026-3-2] @540");
        check(
            "You may ask on Friday: the 1 234,50 € are non-refundable",
            "you may ask on [?-?-?] the <1234.5u> are non refundable",
        );
    }

    #[test]
    fn mere_names_state_nothing() {
        for text in ["order_id", "in_review", "status", ""] {
            assert!(is_mere_name(text), "{text}");
        }
        for text in ["may", "seven", "usd", "crd_3001", "Mara", "a b", "a@b", "e.g"] {
            assert!(!is_mere_name(text), "{text}");
        }
    }

    #[test]
    fn words_that_are_left_out_change_nothing_else() {
        for text in [
            "Please send forty-one euros and sixteen cents to my other account on the 2nd of March, not before 8 pm.",
            "Well now, it costs EUR 1,234.50 or 7 per night for the five working days that you asked for, crd_3001.",
            "call the number +999 555 0190 of somebody else: four one one six. \u{20ac}12 is what I paid there, it's 5%",
            "one point five or so, and two hundred of them; they cost me 10-20 euros a week \u{2013} on Monday May 4",
        ] {
            let folded = fold(text);
            let facts = |tokens: Vec<Token<'_>>| -> Vec<Token<'static>> {
                tokens.into_iter().filter(|t| t.word().is_none() || t.roles > BETWEEN).map(Token::into_owned).collect()
            };
            assert_eq!(facts(super::facts(&folded)), facts(tokens(&folded)), "{text}");
            assert!(super::facts(&folded).len() < tokens(&folded).len(), "{text}");
        }
    }
}
