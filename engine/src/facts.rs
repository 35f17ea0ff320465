//! Atomic facts in texts: the words that can be true or false of a record.

/// Words that carry a digit: ids, dates, amounts. Lower case, without punctuation around them or separators of
/// thousands; amounts lose trailing zeros, so that 7.5 and 7.50 are one fact.
pub fn tokens(text: &str) -> impl Iterator<Item = String> + '_ {
    words(text).filter(|word| word.bytes().any(|b| b.is_ascii_digit()))
}

/// All words of a text, in the same form.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '*' | '`' | '/' | ';' | '<' | '>' | '=' | '#'
            )
    })
    .map(normal)
    .filter(|word| !word.is_empty())
}

/// One value as it is compared.
pub fn normal(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    amount(&word).unwrap_or(word)
}

/// `1,234.50` or `198.00` as canonical numbers, `1234.5` and `198`; `None` for what is no plain amount.
fn amount(word: &str) -> Option<String> {
    let plain: String = word.chars().filter(|c| !matches!(c, ',' | '\'' | '\u{a0}' | '\u{202f}')).collect();
    let shaped = plain.bytes().all(|b| b.is_ascii_digit() || b == b'.') && plain.matches('.').count() <= 1;
    if !shaped || plain.is_empty() || (plain.len() > 1 && plain.starts_with('0') && !plain.starts_with("0.")) {
        return None;
    }
    Some(if plain.contains('.') { plain.trim_end_matches('0').trim_end_matches('.').to_owned() } else { plain })
}

/// A text as `told` facts are compared: lower case, single spaces, no separators of thousands.
pub fn comparable(text: &str) -> String {
    let chars: Vec<char> = text.to_lowercase().chars().collect();
    let digit = |i: usize| chars.get(i).is_some_and(char::is_ascii_digit);
    let mut out = String::with_capacity(text.len());
    for (i, c) in chars.iter().enumerate() {
        let separator = matches!(c, ',' | '\'' | '\u{a0}' | '\u{202f}')
            && i > 0
            && digit(i - 1)
            && (1..=3).all(|k| digit(i + k))
            && !digit(i + 4);
        if separator || (c.is_whitespace() && out.ends_with(' ')) {
            continue;
        }
        out.push(if c.is_whitespace() { ' ' } else { *c });
    }
    out.trim().to_owned()
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
    fn told_texts_ignore_case_spaces_and_thousands() {
        assert_eq!(comparable("It is  €1,234.50, OK"), "it is €1234.50, ok");
        assert_eq!(comparable("1'000 and 1,2,3"), "1000 and 1,2,3");
    }
}
