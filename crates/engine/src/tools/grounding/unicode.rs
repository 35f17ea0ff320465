//! One way of writing each character, so that what looks alike is compared alike.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// Where the decimal digits of other scripts begin.
const ZEROS: [u32; 22] = [
    0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0de6, 0x0e50,
    0x0ed0, 0x0f20, 0x1040, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80,
];

/// Compatibility forms composed, digits of all scripts in ASCII, one dash, one blank and one apostrophe, and nothing
/// that cannot be seen.
pub fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    text.nfkc().filter(|c| !invisible(*c)).map(one_form).collect()
}

fn one_form(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}' | '\u{2019}' | '\u{02bc}' | '`' => '\'',
        '\u{201c}'..='\u{201f}' | '«' | '»' => '"',
        c if c.is_whitespace() && c != '\n' => ' ',
        c => digit(c).unwrap_or(c),
    }
}

fn digit(c: char) -> Option<char> {
    let zero = ZEROS.iter().find(|zero| (**zero..**zero + 10).contains(&(c as u32)))?;
    char::from_digit(c as u32 - zero, 10)
}

fn invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_alike() {
        assert_eq!(fold("４１．１５ ٤١ 𝟒𝟏 4\u{200b}1 1\u{202f}000 5\u{2013}7"), "41.15 41 41 41 1 000 5-7");
    }
}
