//! What a piece of a text is: a word, a number, a date, a time or an id.

use std::borrow::Cow;

use super::Fact;
use crate::tools::grounding::dates;
use crate::tools::grounding::numbers::{self, Number};

/// Takes what a piece of a text states, one after the other: the fact, and how it was written.
pub type FactSink<'o, 'a> = &'o mut dyn FnMut(Fact<'a>, Cow<'a, str>);

pub fn classify<'a>(text: &'a str, out: FactSink<'_, 'a>) {
    // Most of a text.
    if text.bytes().all(|b| b.is_ascii_lowercase()) {
        return out(Fact::Word(text.into()), text.into());
    }
    if text.contains('@') {
        return out(Fact::Code(text.into()), text.into());
    }
    let days = dates::written(text);
    if !days.is_empty() {
        return out(Fact::Date(days), text.into());
    }
    if let Some((day, time)) = text.split_once('t')
        && let (days, Some(minutes)) = (dates::written(day), dates::clock(time))
        && !days.is_empty()
    {
        out(Fact::Date(days), day.into());
        return out(Fact::Time(minutes), time.into());
    }
    if let Some(minutes) = dates::clock(text) {
        return out(Fact::Time(minutes), text.into());
    }
    if let Some(digits) = text.strip_prefix('+').filter(|d| d.len() > 6 && d.bytes().all(|b| b.is_ascii_digit())) {
        return out(Fact::Code(digits.into()), text.into());
    }
    if let Some(readings) = numbers::amount(text) {
        return out(Fact::Number(Number { readings, unit: None }), text.into());
    }
    if !text.chars().any(char::is_numeric) {
        return words(text, out);
    }
    if text.contains('/') {
        return text.split('/').filter(|part| !part.is_empty()).for_each(|part| classify(part, out));
    }
    with_letters(text, out);
}

/// Digits and letters in one: `5th`, `10am`, `20gb`, a range, or else an id.
fn with_letters<'a>(text: &'a str, out: FactSink<'_, 'a>) {
    let split = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (head, tail) = text.split_at(split);
    let amount = numbers::amount(head.trim_end_matches('-'));
    if let Some(readings) = amount.filter(|_| tail.chars().all(|c| c.is_alphabetic() || c == '-' || c == '.')) {
        let number = Fact::Number(Number { readings, unit: None });
        let raw = head.trim_end_matches('-').into();
        match tail {
            "st" | "nd" | "rd" | "th" | "x" => return out(number, raw),
            "am" | "pm" | "a.m" | "p.m" => {
                out(number, raw);
                return out(Fact::Word(tail.replace('.', "").into()), tail.into());
            }
            _ if numbers::unit(tail).is_some() || head.ends_with('-') => {
                out(number, raw);
                return words(tail, out);
            }
            _ => {}
        }
    }
    if let Some((time, half)) = text.split_at_checked(text.len().saturating_sub(2))
        && let (Some(minutes), "am" | "pm") = (dates::clock(time), half)
    {
        out(Fact::Time(minutes), time.into());
        return out(Fact::Word(half.into()), half.into());
    }
    // A range.
    let parts: Vec<&str> = text.split('-').filter(|part| !part.is_empty()).collect();
    if parts.len() == 2
        && parts[0] != parts[1]
        && parts.iter().all(|part| numbers::amount(part).is_some() || dates::clock(part).is_some())
    {
        return parts.into_iter().for_each(|part| classify(part, out));
    }
    out(Fact::Code(text.into()), text.into());
}

fn words<'a>(text: &'a str, out: FactSink<'_, 'a>) {
    if text.contains('_') {
        return out(Fact::Code(text.into()), text.into());
    }
    match plain_words(text) {
        Cow::Borrowed(text) => parts(text, out),
        Cow::Owned(text) => parts(&text, &mut |fact, raw| out(fact.into_owned(), Cow::Owned(raw.into_owned()))),
    }
}

/// Without the ending of a possessor, and with one way of writing e-mail.
fn plain_words(text: &str) -> Cow<'_, str> {
    match text.strip_suffix("'s").unwrap_or(text) {
        simple if !simple.contains("'s") && !simple.contains("e-mail") => Cow::Borrowed(simple),
        _ => Cow::Owned(text.replace("'s", "").replace("e-mail", "email")),
    }
}

fn parts<'a>(text: &'a str, out: FactSink<'_, 'a>) {
    if text.contains('.') {
        let plain = text.replace('.', "");
        return if ["am", "pm", "eg", "ie"].contains(&plain.as_str()) {
            out(Fact::Word(plain.clone().into()), plain.into());
        } else {
            out(Fact::Code(text.into()), text.into());
        };
    }
    // "€" and "%" are words of their own here.
    let parts = text.split(['-', '/', '&', '+', ',']).filter(|part| !part.is_empty());
    parts.for_each(|part| out(Fact::Word(part.into()), part.into()));
}
