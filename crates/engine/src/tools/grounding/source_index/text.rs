//! Which tokens of a text are facts, and how amounts and letters are normalised before they are compared.

use std::borrow::Cow;

use serde_json::Value;

use crate::tools::grounding::numbers::{Number, Unit};
use crate::tools::grounding::reading::{Fact, Token};

/// The JSON that a text is, if it holds more than one value.
pub(super) fn structured(text: &str) -> Option<Value> {
    text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(text).ok())?
}

/// Whether a token is an id, an amount or a date. `next` is the word after it.
pub(super) fn is_fact(token: &Token<'_>, next: Option<&str>) -> bool {
    match &token.fact {
        Fact::Number(number) => {
            let time = matches!(next, Some("am" | "pm" | "o'clock" | "uhr" | "h"));
            match &number.unit {
                Some(Unit::Money(_)) => true,
                Some(Unit::Measure(..) | Unit::Percent) => false,
                None => !time && !token.spelled && is_amount(&token.raw),
            }
        }
        // `10/12` is a month or a share.
        Fact::Date(days) => {
            days.iter().any(|day| day.month.is_some() && (day.day.is_some() || !token.raw.contains('/')))
        }
        Fact::Code(code) => is_id(code),
        Fact::Word(_) | Fact::Time(_) => false,
    }
}

/// Cents make an amount, and four digits a number of something, unless they are a year.
pub(super) fn is_amount(raw: &str) -> bool {
    let digits: String = raw.chars().filter(char::is_ascii_digit).collect();
    let cents = raw.rsplit_once(['.', ',']).is_some_and(|(_, cents)| cents.len() == 2);
    let year = digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20")) && digits.len() == raw.len();
    cents || (digits.len() >= 4 && !year)
}

/// Two digits make no id: "4G", "A4", "1st". Nor do times and versions: "10am-12pm", "1.2.3".
fn is_id(code: &str) -> bool {
    let digits = code.bytes().filter(u8::is_ascii_digit).count();
    let time = code.contains("am") || code.contains("pm");
    let clock = time && code.chars().all(|c| c.is_ascii_digit() || "apm:.-\u{2013} ".contains(c));
    let version = code.starts_with("802.11") || code.chars().all(|c| c.is_ascii_digit() || c == '.');
    code.contains('@') || (digits > 2 && !clock && !version)
}

pub(super) fn readings(number: &Number) -> impl Iterator<Item = i64> + '_ {
    number.readings.iter().filter_map(|reading| hundredths(reading)).map(i64::abs)
}

pub(super) fn hundredths(value: &str) -> Option<i64> {
    let amount: f64 = value.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "checked right before")]
    (amount.abs() < 1e10).then(|| (amount * 100.0).round() as i64)
}

pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `US$44.17`, `EUR44.17` and `€10-€20` as people read them.
pub(super) fn spaced(text: &str) -> Cow<'_, str> {
    const SIGNS: [char; 4] = ['€', '$', '£', '¥'];
    const NAMES: [&str; 5] = ["EUR", "USD", "GBP", "CHF", "JPY"];
    // Most texts have nothing to part. Without a way out of the loops, many bytes are looked at in one step.
    let bytes = text.as_bytes();
    let odd = bytes.iter().fold(0, |found, b| found | u8::from(*b == b'$') | u8::from(!b.is_ascii())) != 0;
    let name = |(a, b): (&u8, &u8)| u8::from(a.is_ascii_uppercase()) & u8::from(b.is_ascii_digit());
    let named = bytes.iter().zip(bytes.iter().skip(1)).map(name).fold(0, |found, name| found | name) != 0;
    let signed = || odd && text.contains(SIGNS);
    if !named && !signed() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (i, c) in text.char_indices() {
        let rest = &text[i..];
        let before = out.chars().next_back();
        // A sign before an amount ends what stands before it.
        if SIGNS.contains(&c) && before.is_some_and(|b| b.is_alphabetic() || matches!(b, '-' | '\u{2013}')) {
            out.push(' ');
        }
        if c.is_ascii_digit() && NAMES.iter().any(|name| out.ends_with(name)) {
            out.push(' ');
        }
        // A range from sign to sign.
        if matches!(c, '-' | '\u{2013}')
            && before.is_some_and(|b| b.is_ascii_digit())
            && rest.chars().nth(1).is_some_and(|next| SIGNS.contains(&next))
        {
            out.push(' ');
        }
        out.push(c);
    }
    Cow::Owned(out)
}

/// The texts within a value.
pub(super) fn strings<'a>(value: &'a Value, see: &mut impl FnMut(&'a str)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, see)),
        Value::Object(map) => map.values().for_each(|value| strings(value, see)),
        _ => {}
    }
}
