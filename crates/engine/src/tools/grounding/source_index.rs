//! An index of what somebody has read and heard. It says whether the ids, amounts and dates of a text come from there.
//!
//! People compute with what they know ([`computing`]). Counts and ways of speaking ("2 cards", "within 30 days", "4G"),
//! percentages and times of day are no facts about records and are let pass.

mod computing;
mod lookup;
mod text;
mod tracing;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use self::lookup::Search;
use self::text::{hundredths, is_amount, plain, readings, spaced, strings, structured};
use self::tracing::Tracing;
use super::dates::Date;
use super::numbers::Unit;
use super::reading::{self, Fact, Token};
use super::unicode::fold;
use crate::world::Node;

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
}

impl SourceText {
    /// Letters and digits alone.
    fn plain(&self) -> &str {
        self.plain.get_or_init(|| plain(&self.text))
    }
}

#[cfg(test)]
mod tests;
