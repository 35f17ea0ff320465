//! Atomic facts in texts: the words that can be true or false of a record.

use std::borrow::Cow;

/// Words that carry a digit: ids, dates, amounts. Lower case, without punctuation around them or separators of
/// thousands; amounts lose trailing zeros, so that 7.5 and 7.50 are one fact.
pub fn tokens(text: &str) -> impl Iterator<Item = String> + '_ {
    forms_where(text, has_digit).map(Cow::into_owned)
}

/// All words of a text, in the same form.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    forms(text).map(Cow::into_owned)
}

/// The same words, copied only where they are not written in that form.
pub fn forms(text: &str) -> impl Iterator<Item = Cow<'_, str>> + '_ {
    forms_where(text, |piece| !piece.is_empty())
}

/// Those among them that pass as they are written, with all that is written around them.
pub fn forms_where<'a>(
    text: &'a str,
    passes: impl Fn(&'a str) -> bool + 'a,
) -> impl Iterator<Item = Cow<'a, str>> + 'a {
    pieces(text).filter(move |piece| passes(piece)).map(form).filter(|word| !word.is_empty())
}

/// Whether a word is such as can be checked.
pub fn has_digit(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit())
}

/// What stands between the signs that end a word, empty pieces included.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let from = rest?;
        // By bytes, for most are letters of ASCII.
        let ends = |(at, b): (usize, u8)| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80..=0xbf => false,
            b' ' | b'\t'..=b'\r' => true,
            0xc0.. => from[at..].starts_with(ends_word),
            _ => ends_word(char::from(b)),
        };
        let end = from.bytes().enumerate().position(ends);
        let (piece, after) = from.split_at(end.unwrap_or(from.len()));
        let mut after = after.chars();
        rest = after.next().map(|_| after.as_str());
        Some(piece)
    })
}

fn ends_word(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '"' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '*' | '`' | '/' | ';' | '<' | '>' | '=' | '#')
}

/// One value as it is compared.
pub fn normal(word: &str) -> String {
    form(word).into_owned()
}

fn form(word: &str) -> Cow<'_, str> {
    // Most of a text.
    if word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    let word = lower(word.trim_matches(|c: char| !c.is_alphanumeric()));
    match amount(&word) {
        Some(amount) if amount != *word => Cow::Owned(amount),
        _ => word,
    }
}

/// Most words are written small, and then nothing is copied.
fn lower(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}

/// `1,234.50`, `198.00` or `44,17` as canonical numbers, `1234.5`, `198` and `44.17`; `None` for what is no plain amount.
fn amount(word: &str) -> Option<String> {
    let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '\u{a0}' | '\u{202f}');
    if !word.starts_with(|c: char| c.is_ascii_digit()) || !word.chars().all(part) {
        return None;
    }
    let plain = without_separators(word)?;
    let shaped = plain.bytes().all(|b| b.is_ascii_digit() || b == b'.') && plain.matches('.').count() <= 1;
    if !shaped || plain.is_empty() || (plain.len() > 1 && plain.starts_with('0') && !plain.starts_with("0.")) {
        return None;
    }
    Some(if plain.contains('.') { plain.trim_end_matches('0').trim_end_matches('.').to_owned() } else { plain })
}

/// Without separators of thousands, each of which stands before exactly three digits; a comma before one or two last
/// digits is a decimal one.
fn without_separators(word: &str) -> Option<String> {
    let chars: Vec<char> = word.chars().collect();
    let mut out = String::with_capacity(word.len());
    for (i, c) in chars.iter().enumerate() {
        let digits = chars[i + 1..].iter().take_while(|c| c.is_ascii_digit()).count();
        match c {
            ',' | '\'' | '\u{a0}' | '\u{202f}' if digits == 3 => {}
            ',' if (1..=2).contains(&digits) && i + 1 + digits == chars.len() => out.push('.'),
            ',' | '\'' | '\u{a0}' | '\u{202f}' => return None,
            c => out.push(*c),
        }
    }
    Some(out)
}

/// Whether a text states a fact: its words, one after the other, whatever the case, punctuation and form of numbers.
pub fn states(text: &str, fact: &str) -> bool {
    let fact: Vec<Cow<'_, str>> = forms(fact).collect();
    match fact.as_slice() {
        [] => false,
        [only] if has_digit(only) => forms_where(text, has_digit).any(|word| word == *only),
        [only] => forms(text).any(|word| word == *only),
        several => {
            let text: Vec<Cow<'_, str>> = forms(text).collect();
            text.windows(several.len()).any(|part| part == several)
        }
    }
}

/// Capitalised words within sentences: names, mostly. At the start of a sentence a capital says nothing.
pub fn names(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut at_start = true;
    text.split_whitespace().filter_map(move |word| {
        let opens = at_start;
        at_start = matches!(word.as_bytes().last(), Some(b'.' | b'!' | b'?' | b':'));
        let capital = || word.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_uppercase);
        let letters = || word.trim_matches(|c: char| !c.is_alphanumeric()).chars().count();
        let named = !opens && capital() && letters() > 1;
        named.then(|| normal(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_what_can_be_checked() {
        let found: Vec<_> = tokens("Your card crd_3001 (ending 4417) was charged €1,234.50 on 2026-02-11.").collect();
        assert_eq!(found, ["crd_3001", "4417", "1234.5", "2026-02-11"]);
        assert_eq!(tokens("Thanks, that is all!").count(), 0);
        assert_eq!(normal("0172"), "0172", "a leading zero is no amount");
    }

    #[test]
    fn numbers_have_one_form() {
        for (written, canonical) in
            [("1,234.50", "1234.5"), ("1'000", "1000"), ("44,17", "44.17"), ("7,5", "7.5"), ("12.00", "12"), ("0", "0")]
        {
            assert_eq!(normal(written), canonical, "{written}");
        }
        assert_eq!(normal("1,2,3"), "1,2,3", "a list is no number");
    }

    #[test]
    fn a_fact_is_stated_by_its_words() {
        for text in ["It is €1,234.50, OK?", "it is **1234.5** euros", "You get 1 234 and 1'234.50."] {
            assert!(states(text, "1234.50"), "{text}");
        }
        assert!(states("Call us until 20:00.", "20:00"));
        assert!(states("They are In  Review now", "in review"));
        for text in ["It costs 112.00.", "within 130 days", "on 2026-03-12", ""] {
            assert!(!states(text, "12.00") && !states(text, "30"), "{text}");
        }
    }

    #[test]
    fn names_are_capitalised_within_a_sentence() {
        let found: Vec<_> = names("Please ask Maria Rossi. She knows: Everything about EUR, I hear.").collect();
        assert_eq!(found, ["maria", "rossi", "eur"]);
    }
}
