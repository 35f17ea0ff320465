//! Dates and times in words.

use super::lexicon::CALENDAR;
use super::{Fact, Token, joined};
use crate::tools::grounding::dates::{self, Date};

/// `8 pm`, `8:30 pm`, `9 o'clock`.
pub fn afternoons(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut out: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let shift = match token.word() {
            Some("am" | "o'clock") => Some(0),
            Some("pm") => Some(720),
            _ => None,
        };
        let minutes = out.last().filter(|_| shift.is_some()).and_then(|before| match &before.fact {
            Fact::Time(minutes) => Some(*minutes),
            Fact::Number(n) => n.value().parse::<u32>().ok().filter(|hour| *hour <= 24).map(|hour| hour * 60),
            _ => None,
        });
        match (shift, minutes, out.last_mut()) {
            (Some(shift), Some(minutes), Some(before)) => {
                let noon = minutes / 60 == 12;
                before.fact = Fact::Time(match (shift, noon) {
                    (720, false) => minutes + 720,
                    (0, true) if token.word() == Some("am") => minutes - 720,
                    _ => minutes,
                });
            }
            _ => out.push(token),
        }
    }
    out
}

/// `March 2nd, 2026`, `the 2nd of March`, `Mon 2 Mar 2026`, `March 2026`, `Monday`.
pub fn textual_dates(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut out: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    let mut left = tokens.into_iter();
    loop {
        let ahead = left.as_slice();
        let begins = ahead.first().is_some_and(|token| token.may(CALENDAR) || matches!(token.fact, Fact::Number(_)));
        let date = if begins { date_at(ahead) } else { None };
        let raw = date.as_ref().map(|(_, taken)| joined(&ahead[..*taken], " "));
        let Some(token) = left.next() else { break };
        if let (Some((date, taken)), Some(raw)) = (date, raw) {
            out.push(Token { fact: Fact::Date(date), raw: raw.into(), roles: 0, ..token });
            left.by_ref().take(taken - 1).for_each(drop);
        } else {
            out.push(token);
        }
    }
    out
}

fn date_at(tokens: &[Token<'_>]) -> Option<(Vec<Date>, usize)> {
    let word = |i: usize| tokens.get(i).and_then(Token::word);
    let mut date = Date {
        weekday: word(0).filter(|w| w.len() > 3 || tokens[0].capital).and_then(dates::weekday),
        ..Date::default()
    };
    let mut at = usize::from(date.weekday.is_some());
    if let Some(Fact::Date(days)) = tokens.get(at).map(|t| &t.fact).filter(|_| at > 0) {
        return Some((days.iter().map(|day| Date { weekday: date.weekday, ..*day }).collect(), at + 1));
    }
    if at > 0 && word(at) == Some("the") {
        at += 1;
    }
    let number = |i: usize, most: u32| {
        let token = tokens.get(i)?;
        let Fact::Number(number) = &token.fact else { return None };
        number.value().parse::<u32>().ok().filter(|n| (1..=most).contains(n))
    };
    let month = |i: usize| word(i).and_then(dates::month).map(|m| (m, tokens[i].capital));
    let start = at;
    if let (Some(day), of) = (number(at, 31), usize::from(word(at + 1) == Some("of")))
        && let Some((month, capital)) = month(at + 1 + of)
        // "Only 1 may come."
        && (capital || of > 0 || word(at + 1) != Some("may"))
    {
        (date.day, date.month) = (Some(day), Some(month));
        at += 2 + of;
    } else if let Some((month, capital)) = month(at) {
        let the = usize::from(word(at + 1) == Some("the"));
        let day = number(at + 1 + the, 31);
        let year = number(at + 1, 2999).filter(|y| *y >= 1900);
        // "March" may begin a sentence as a verb, "may" is mostly none: alone they need their capital within it.
        if day.is_none() && year.is_none() && (!capital || tokens[at].opens) {
            return None;
        }
        (date.day, date.month) = (day, Some(month));
        at += 1 + if day.is_some() { 1 + the } else { 0 };
    }
    if at > start
        && let Some(year) = number(at, 2999).filter(|year| *year >= 1900)
    {
        date.year = i32::try_from(year).ok();
        at += 1;
    }
    (date != Date::default()).then_some((vec![date], if at > start { at } else { 1 }))
}
