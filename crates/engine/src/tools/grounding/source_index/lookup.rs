//! Looks for a fact in what was heard.

use std::cell::Cell;

use super::SourceIndex;
use super::text::{is_fact, plain, readings};
use crate::tools::grounding::reading::{self, Fact, Token};
use crate::tools::grounding::unicode::fold;

/// Bytes of what was heard in which parts of facts are looked for, for one text: 100 facts in all that a long conversation
/// says take 20 MB.
const MOST_SEARCHED: usize = 256 << 20;

impl SourceIndex {
    pub(super) fn known(&self, token: &Token<'_>, search: &Search) -> Option<String> {
        match &token.fact {
            Fact::Number(number) => {
                let amounts: Vec<i64> = readings(number).collect();
                let known = |heard: &Self| {
                    let found = amounts.iter().find_map(|amount| heard.amounts.get(amount));
                    found.map(|n| heard.name(*n))
                };
                let part = || number.unit.is_none().then(|| self.part(&token.raw, search)).flatten();
                self.all().find_map(known).or_else(part)
            }
            Fact::Date(days) => self.all().find_map(|heard| {
                let found = heard.dates.iter().find(|(known, _)| days.iter().any(|said| said.fits(*known)));
                found.map(|(_, n)| heard.name(*n))
            }),
            Fact::Code(code) => {
                let plain = plain(code.trim_start_matches(['x', '*']));
                let known = |heard: &Self| heard.codes.get(&plain).map(|n| heard.name(*n));
                self.all().find_map(known).or_else(|| self.part(&plain, search))
            }
            Fact::Word(_) | Fact::Time(_) => None,
        }
    }

    /// One token may hold several facts: a range, a date such as `11-Feb-2026`, a phone number in groups.
    pub(super) fn in_parts(&self, token: &Token<'_>, search: &Search) -> Option<String> {
        let Fact::Code(code) = &token.fact else { return None };
        let parts: Vec<&str> =
            code.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '@' | '.' | ':')).collect();
        if parts.len() < 2 {
            return None;
        }
        // With commas, so that they are not one number.
        let listed = parts.join(", ");
        let folded = fold(&listed);
        let tokens = reading::facts(&folded);
        let facts = tokens.iter().enumerate().filter(|(i, t)| is_fact(t, tokens.get(i + 1).and_then(Token::word)));
        let mut sources = facts.map(|(_, part)| self.known(part, search));
        let first = sources.next().unwrap_or_else(|| Some("no record: it is a way of speaking".to_owned()))?;
        sources.all(|source| source.is_some()).then_some(first)
    }

    /// Four or more characters of what was written: the last digits of a card, a number of a phone in groups.
    fn part(&self, raw: &str, search: &Search) -> Option<String> {
        let part = plain(raw);
        let whole = part.len() >= 4 && raw.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '+'));
        let holds = |heard: &Self| {
            let found = heard.written.iter().find(|written| search.finds(&part, written.plain()));
            found.map(|written| heard.name(written.source))
        };
        whole.then(|| self.all().find_map(holds)).flatten()
    }
}

/// How much was searched for the facts of one text.
#[derive(Default)]
pub(super) struct Search {
    bytes: Cell<usize>,
}

impl Search {
    /// Whether a part is in a text. Not found once too much was searched: such a text has no end of facts.
    fn finds(&self, part: &str, text: &str) -> bool {
        self.bytes.set(self.bytes.get().saturating_add(text.len()));
        self.bytes.get() <= MOST_SEARCHED && text.contains(part)
    }
}
