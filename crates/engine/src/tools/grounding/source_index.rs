//! An index of what somebody has read and heard. It says whether the ids, amounts and dates of a text come from there.
//!
//! People compute with what they know ([`computing`]). Counts and ways of speaking ("2 cards", "within 30 days", "4G"),
//! percentages and times of day are no facts about records and are let pass.

mod computing;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::dates::Date;
use super::numbers::{Number, Unit};
use super::reading::{self, Fact, Token};
use super::unicode::fold;
use crate::world::Node;

/// The source of what was not heard and follows from what was.
const COMPUTED: &str = "what was known, by computing";
/// Facts of one text that are computed after; a text with more that come from nowhere is no text.
const MOST_COMPUTED: usize = 50;
/// Amounts that one speaker may compute in a conversation: the rows of a plan of payments. Whoever states more hopes that one of them
/// is right.
const MOST_COMPUTED_AMOUNTS: usize = 32;
/// Facts of one text that are traced. What a text states beyond that comes from nowhere: answers of agents state up to 100.
const MOST_FACTS: usize = 1_000;
/// Bytes of what was heard in which parts of facts are looked for, for one text: 100 facts in all that a long conversation
/// says take 20 MB.
const MOST_SEARCHED: usize = 256 << 20;

/// A fact that a text states, and who it was heard from.
#[derive(Debug, Clone)]
pub struct StatedFact {
    /// As it was written.
    pub fact: String,
    /// `None`: from nobody.
    pub source: Option<String>,
    token: Token<'static>,
}

/// A text that was heard.
struct SourceText {
    text: String,
    source: usize,
    plain: OnceLock<String>,
}

#[derive(Default)]
pub struct SourceIndex {
    /// What many have heard before.
    before: Option<Arc<SourceIndex>>,
    /// Names of the sources, in the order in which they were heard.
    sources: Vec<String>,
    /// Hundredths -> source.
    amounts: HashMap<i64, usize>,
    /// Those that people compute with: money, and what records hold. Counts are none.
    sums: Vec<i64>,
    /// Percentages, in hundredths.
    rates: Vec<i64>,
    dates: Vec<(Date, usize)>,
    codes: HashMap<String, usize>,
    /// Days, weeks and months that were counted somewhere.
    periods: Vec<i64>,
    /// Amounts that were computed in its own words.
    computed: usize,
    /// All of it: parts of what is written in groups are looked for there.
    written: Vec<SourceText>,
}

impl SourceIndex {
    /// Who has heard what all of these have heard.
    pub fn after(before: Arc<Self>) -> Self {
        Self { before: Some(before), ..Self::default() }
    }

    /// From the newest on.
    fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |heard| heard.before.as_deref())
    }

    /// Takes in a text; one that is JSON by its values, and by their totals.
    pub fn hear(&mut self, source: &str, text: &str) {
        let n = self.source(source);
        let Some(answer) = structured(text) else { return self.text(text, n) };
        let mut totals = HashMap::new();
        self.value("", &answer, n, &mut totals);
        for total in totals.into_values() {
            self.amounts.entry(total).or_insert(n);
            self.sums.push(total);
        }
    }

    /// Takes in records.
    pub fn see(&mut self, source: &str, node: &Node) {
        let n = self.source(source);
        self.node(node, n);
    }

    fn source(&mut self, name: &str) -> usize {
        self.sources.push(name.to_owned());
        self.sources.len() - 1
    }

    fn node(&mut self, node: &Node, n: usize) {
        match node {
            Node::Null | Node::Bool(_) => {}
            Node::Number(number) => self.text(&number.to_string(), n),
            Node::Text(text) => self.text(text, n),
            Node::List(list) => list.iter().for_each(|item| self.node(item, n)),
            Node::Map(map) => map.iter().for_each(|(key, value)| {
                self.text(key, n);
                self.node(value, n);
            }),
        }
    }

    fn value(&mut self, name: &str, value: &Value, n: usize, totals: &mut HashMap<String, i64>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.value(name, item, n, totals)),
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                self.text(key, n);
                self.value(key, value, n, totals);
            }),
            Value::Number(number) => {
                let number = number.to_string();
                self.text(&number, n);
                let Some(amount) = hundredths(&number) else { return };
                self.sums.push(amount.abs());
                let total = totals.entry(name.to_owned()).or_default();
                *total = total.saturating_add(amount.abs());
                let counted = ["day", "week", "month"].iter().any(|unit| name.contains(unit));
                self.periods.extend((counted && amount % 100 == 0).then_some(amount / 100));
            }
            Value::String(text) => self.text(text, n),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn text(&mut self, text: &str, n: usize) {
        // Most of what records hold.
        if reading::is_mere_name(text) {
            return self.write(text, n);
        }
        self.take_in(text, &reading::facts(&fold(&spaced(text))), n);
    }

    fn take_in(&mut self, text: &str, tokens: &[Token<'_>], n: usize) {
        for token in tokens {
            match &token.fact {
                Fact::Number(number) => {
                    let money = matches!(number.unit, Some(Unit::Money(_))) || is_amount(&token.raw);
                    for amount in readings(number) {
                        match number.unit {
                            Some(Unit::Measure("day" | "month", _)) if amount % 100 == 0 => {
                                self.periods.push(amount / 100);
                            }
                            Some(Unit::Percent) => self.rates.push(amount),
                            _ => {}
                        }
                        self.amounts.entry(amount).or_insert(n);
                        self.sums.extend(money.then_some(amount));
                    }
                }
                Fact::Date(days) => self.dates.extend(days.iter().map(|day| (*day, n))),
                Fact::Code(code) => drop(self.codes.entry(plain(code)).or_insert(n)),
                Fact::Word(_) | Fact::Time(_) => {}
            }
        }
        self.write(text, n);
    }

    fn write(&mut self, text: &str, n: usize) {
        self.written.push(SourceText { text: text.to_owned(), source: n, plain: OnceLock::new() });
    }

    /// Who said a fact just so; nothing is computed.
    pub fn said(&self, stated: &StatedFact) -> Option<String> {
        self.known(&stated.token, &Search::default())
    }

    /// The ids, amounts and dates of a text. What stands in it may be computed with further on.
    pub fn stated(&self, text: &str) -> Vec<StatedFact> {
        self.traced(text).found()
    }

    fn traced(&self, text: &str) -> Tracing<'_> {
        let mut tracing = Tracing::of(self);
        let mut state = |text: &str| tracing.state(&reading::facts(&fold(&spaced(text))));
        match structured(text) {
            Some(words) => strings(&words, &mut state),
            None => state(text),
        }
        tracing
    }

    /// The same of words that are then heard themselves. Most are read only once.
    pub fn speak(&mut self, source: &str, text: &str) -> Vec<StatedFact> {
        if structured(text).is_some() {
            let tracing = self.traced(text);
            let (computed, all) = (tracing.computed.len(), tracing.found());
            self.computed += computed;
            self.hear(source, text);
            return all;
        }
        let spaced = spaced(text);
        let folded = fold(&spaced);
        let read = reading::facts(&folded);
        let mut tracing = Tracing::of(self);
        tracing.state(&read);
        let (computed, all) = (tracing.computed.len(), tracing.found());
        self.computed += computed;
        let n = self.source(source);
        self.take_in(text, &read, n);
        all
    }

    fn name(&self, source: usize) -> String {
        self.sources.get(source).cloned().unwrap_or_default()
    }

    fn known(&self, token: &Token<'_>, search: &Search) -> Option<String> {
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

    /// What is written together may be several facts: a range, a date such as `11-Feb-2026`, a phone number in groups.
    fn in_parts(&self, token: &Token<'_>, search: &Search) -> Option<String> {
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
struct Search {
    bytes: Cell<usize>,
}

impl Search {
    /// Whether a part is in a text. Not found once too much was searched: such a text has no end of facts.
    fn finds(&self, part: &str, text: &str) -> bool {
        self.bytes.set(self.bytes.get().saturating_add(text.len()));
        self.bytes.get() <= MOST_SEARCHED && text.contains(part)
    }
}

/// The facts of one text, traced one after another.
struct Tracing<'a> {
    heard: &'a SourceIndex,
    all: Vec<StatedFact>,
    /// Of those, how many come from nowhere.
    unknown: usize,
    /// Facts beyond [`MOST_FACTS`].
    untraced: usize,
    amounts: Vec<i64>,
    /// Those that were not heard and follow from what was.
    computed: BTreeSet<i64>,
    /// What dates follow from those that were heard; made when it is first needed.
    reached: OnceCell<Vec<Date>>,
    search: Search,
}

impl<'a> Tracing<'a> {
    fn of(heard: &'a SourceIndex) -> Self {
        let (reached, search) = (OnceCell::new(), Search::default());
        let computed = BTreeSet::new();
        Self { heard, all: Vec::new(), unknown: 0, untraced: 0, amounts: Vec::new(), computed, reached, search }
    }

    fn state(&mut self, tokens: &[Token<'_>]) {
        for (i, token) in tokens.iter().enumerate() {
            let next = tokens.get(i + 1).and_then(Token::word);
            if !is_fact(token, next) {
                continue;
            }
            if self.all.len() == MOST_FACTS {
                self.untraced += 1;
                continue;
            }
            let (heard, search) = (self.heard, &self.search);
            let source = heard.known(token, search).or_else(|| heard.in_parts(token, search));
            let source = source.or_else(|| self.computes(token).then(|| COMPUTED.to_owned()));
            if let Fact::Number(number) = &token.fact {
                let amount = number.readings.first().and_then(|reading| hundredths(reading));
                self.amounts.extend(amount.map(i64::abs));
            }
            self.unknown += usize::from(source.is_none());
            self.all.push(StatedFact { fact: token.raw.to_string(), source, token: token.clone().into_owned() });
        }
    }

    fn computes(&mut self, token: &Token<'_>) -> bool {
        match &token.fact {
            _ if self.unknown >= MOST_COMPUTED => false,
            Fact::Number(number) => {
                let amount = readings(number).next().unwrap_or_default();
                if self.computed.contains(&amount) {
                    return true;
                }
                let is_room = self.heard.computed + self.computed.len() < MOST_COMPUTED_AMOUNTS;
                let computes = is_room && self.heard.computes_number(number, &self.amounts);
                self.computed.extend(computes.then_some(amount));
                computes
            }
            Fact::Date(days) => {
                let reached = self.reached.get_or_init(|| self.heard.reached());
                reached.iter().any(|day| days.iter().any(|said| said.fits(*day)))
            }
            _ => false,
        }
    }

    fn found(mut self) -> Vec<StatedFact> {
        if self.untraced > 0 {
            let fact = format!("{} more facts than the {MOST_FACTS} that are traced", self.untraced);
            let token = Token::of_word(&fact);
            self.all.push(StatedFact { fact, source: None, token });
        }
        self.all
    }
}

impl SourceText {
    /// Letters and digits alone.
    fn plain(&self) -> &str {
        self.plain.get_or_init(|| plain(&self.text))
    }
}

/// The JSON that a text is, if it holds more than one value.
fn structured(text: &str) -> Option<Value> {
    text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(text).ok())?
}

/// Whether a token is an id, an amount or a date. `next` is the word after it.
fn is_fact(token: &Token<'_>, next: Option<&str>) -> bool {
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
fn is_amount(raw: &str) -> bool {
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

fn readings(number: &Number) -> impl Iterator<Item = i64> + '_ {
    number.readings.iter().filter_map(|reading| hundredths(reading)).map(i64::abs)
}

fn hundredths(value: &str) -> Option<i64> {
    let amount: f64 = value.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "checked right before")]
    (amount.abs() < 1e10).then(|| (amount * 100.0).round() as i64)
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `US$44.17`, `EUR44.17` and `€10-€20` as people read them.
fn spaced(text: &str) -> Cow<'_, str> {
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
fn strings<'a>(value: &'a Value, see: &mut impl FnMut(&'a str)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, see)),
        Value::Object(map) => map.values().for_each(|value| strings(value, see)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
