//! What somebody has read and heard, and whether the ids, amounts and dates of a text come from there.
//!
//! People compute with what they know: an amount may be the sum or the difference of two known ones, a known one times or
//! divided by a small number, a percentage of one, or the total of the same field in a list; a date may lie a known number
//! of days, weeks or months from a known one. Counts and ways of speaking ("2 cards", "within 30 days") are no facts about
//! records and are let pass, and so are times of day.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use chrono::{Months, NaiveDate};
use serde_json::Value;

use super::dates::Date;
use super::numbers::{Number, Unit};
use super::reading::{Fact, Token, read};

/// The source of what was not heard and follows from what was.
const COMPUTED: &str = "what was known, by computing";

/// Amounts of one text that are added up at most; more would fit any sum.
const MOST_PARTS: i64 = 31;

/// A fact that a text states, and who it was heard from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated {
    /// As it was written.
    pub fact: String,
    /// `None`: from nobody.
    pub source: Option<String>,
}

#[derive(Default)]
pub struct Heard {
    /// What many have heard before.
    before: Option<Arc<Heard>>,
    /// Names of the sources, in the order in which they were heard.
    sources: Vec<String>,
    /// Hundredths -> source.
    amounts: HashMap<i64, usize>,
    dates: Vec<(Date, usize)>,
    codes: HashMap<String, usize>,
    /// Whole numbers that may count days, weeks or months.
    counts: Vec<i64>,
    /// Letters and digits alone: parts of what is written in groups.
    plain: Vec<(String, usize)>,
}

impl Heard {
    /// Who has heard what all of these have heard.
    pub fn after(before: Arc<Self>) -> Self {
        Self { before: Some(before), ..Self::default() }
    }

    /// From the newest on.
    fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |heard| heard.before.as_deref())
    }

    /// Takes in a text; one that is JSON also by its totals.
    pub fn hear(&mut self, source: &str, text: &str) {
        let n = self.sources.len();
        self.sources.push(source.to_owned());
        for token in read(text) {
            self.add(&token, n);
        }
        self.plain.push((plain(text), n));
        if let Ok(answer @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
            let mut totals = BTreeMap::new();
            fields(&answer, "", &mut totals);
            for total in totals.values() {
                self.amounts.entry(total.abs()).or_insert(n);
            }
        }
    }

    fn add(&mut self, token: &Token, source: usize) {
        match &token.fact {
            Fact::Number(number) => {
                for amount in number.readings.iter().filter_map(|reading| hundredths(reading)) {
                    self.amounts.entry(amount.abs()).or_insert(source);
                    if amount % 100 == 0 && (1..=400).contains(&(amount / 100)) {
                        self.counts.push(amount / 100);
                    }
                }
            }
            Fact::Date(days) => self.dates.extend(days.iter().map(|day| (*day, source))),
            Fact::Code(code) => drop(self.codes.entry(plain(code)).or_insert(source)),
            Fact::Word(_) | Fact::Time(_) => {}
        }
    }

    /// Whether everything that a text states was heard as it stands, nothing computed.
    pub fn holds(&self, text: &str) -> bool {
        self.stated(text).iter().all(|stated| stated.source.as_ref().is_some_and(|source| source != COMPUTED))
    }

    /// The ids, amounts and dates of a text.
    pub fn stated(&self, text: &str) -> Vec<Stated> {
        let tokens = read(text);
        let said = tokens.iter().filter(|token| token.raw != "24/7");
        let stated = said.filter_map(|token| {
            let source = match &token.fact {
                Fact::Number(number) if is_amount(token, number) => self.amount(token, number),
                Fact::Date(days) if days.iter().any(|day| day.month.is_some()) => self.date(days),
                Fact::Code(code) if is_id(code) => self.code(code),
                _ => return None,
            };
            Some(Stated { fact: token.raw.clone(), source })
        });
        stated.collect()
    }

    fn name(&self, source: usize) -> String {
        self.sources.get(source).cloned().unwrap_or_default()
    }

    fn amount(&self, token: &Token, number: &Number) -> Option<String> {
        let readings: Vec<i64> =
            number.readings.iter().filter_map(|reading| hundredths(reading)).map(i64::abs).collect();
        let known = |heard: &Self| {
            let found = readings.iter().find_map(|amount| heard.amounts.get(amount));
            found.map(|n| heard.name(*n))
        };
        let part = || number.unit.is_none().then(|| self.part(&token.raw)).flatten();
        self.all()
            .find_map(known)
            .or_else(part)
            .or_else(|| readings.iter().any(|amount| self.computes(*amount)).then(|| COMPUTED.to_owned()))
    }

    fn computes(&self, said: i64) -> bool {
        let known = |amount: i64| self.all().any(|heard| heard.amounts.contains_key(&amount));
        let amounts = || self.all().flat_map(|heard| heard.amounts.keys().copied());
        amounts().any(|a| {
            let parts = known(said - a) || known(said + a);
            let multiple = a > 0 && said % a == 0 && said / a <= MOST_PARTS;
            let share = said > 0 && (2..=12).any(|n| (a - said * n).abs() < n);
            // A known percentage of a known amount, rounded to the cent.
            let percent = || amounts().any(|p| p <= 10_000 && (a * p / 10_000 - said).abs() <= 1);
            parts || multiple || share || percent()
        })
    }

    fn date(&self, said: &[Date]) -> Option<String> {
        let fits = |known: Date| said.iter().any(|said| said.fits(known));
        let known = |heard: &Self| heard.dates.iter().find(|(known, _)| fits(*known)).map(|(_, n)| heard.name(*n));
        self.all().find_map(known).or_else(|| {
            let counts = || self.all().flat_map(|heard| &heard.counts);
            let days = self.all().flat_map(|heard| &heard.dates).filter_map(|(known, _)| known.calendar());
            let mut reached = days.flat_map(|from| counts().flat_map(move |n| shifts(from, *n)));
            reached.any(|day| fits(day.into())).then(|| COMPUTED.to_owned())
        })
    }

    fn code(&self, code: &str) -> Option<String> {
        let plain = plain(code);
        let known = |heard: &Self| heard.codes.get(&plain).map(|n| heard.name(*n));
        self.all().find_map(known).or_else(|| self.part(&plain))
    }

    /// Four or more characters of what was written: the last digits of a card, a number of a phone in groups.
    fn part(&self, raw: &str) -> Option<String> {
        let part = plain(raw);
        let whole = part.len() >= 4 && raw.chars().all(|c| c.is_alphanumeric() || c == '_');
        let holds = |heard: &Self| {
            let found = heard.plain.iter().find(|(text, _)| text.contains(&part));
            found.map(|(_, n)| heard.name(*n))
        };
        whole.then(|| self.all().find_map(holds)).flatten()
    }
}

/// Amounts have cents, a currency or three digits. Whatever is counted in days, minutes or pieces is none.
fn is_amount(token: &Token, number: &Number) -> bool {
    let digits = token.raw.bytes().filter(u8::is_ascii_digit).count();
    let cents = hundredths(number.value()).is_some_and(|amount| amount % 100 != 0);
    match &number.unit {
        Some(Unit::Money(_)) => true,
        Some(Unit::Measure(..)) => false,
        Some(Unit::Percent) => cents,
        None => !token.spelled && (cents || digits >= 3),
    }
}

/// Two digits make no id: "4G", "A4", "1st".
fn is_id(code: &str) -> bool {
    code.contains('@') || code.bytes().filter(u8::is_ascii_digit).count() > 2
}

fn hundredths(value: &str) -> Option<i64> {
    let amount: f64 = value.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "checked right before")]
    (amount.abs() < 1e13).then(|| (amount * 100.0).round() as i64)
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Sums of each numeric field over an answer: the total of a list of payments.
fn fields(value: &Value, name: &str, totals: &mut BTreeMap<String, i64>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| fields(item, name, totals)),
        Value::Object(map) => map.iter().for_each(|(key, value)| fields(value, key, totals)),
        Value::Number(number) => {
            if let Some(amount) = hundredths(&number.to_string()) {
                let total = totals.entry(name.to_owned()).or_default();
                *total = total.saturating_add(amount);
            }
        }
        _ => {}
    }
}

/// Days that lie so many days, weeks or months before or after one.
fn shifts(from: NaiveDate, n: i64) -> Vec<NaiveDate> {
    let days = [n, -n, n * 7, -n * 7];
    let days = days.into_iter().filter_map(|days| from.checked_add_signed(chrono::TimeDelta::days(days)));
    let months = u32::try_from(n).ok().map(Months::new).into_iter();
    let months = months.flat_map(|n| [from.checked_add_months(n), from.checked_sub_months(n)]).flatten();
    days.chain(months).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard() -> Heard {
        let mut heard = Heard::default();
        heard
            .hear("its instructions", "A dispute is decided within 10 days. Abroad costs 1.75 %. Today is 2026-03-02.");
        heard.hear("the user", "It is about 44.17 EUR, card ending 4417, phone 07700 900115.");
        heard.hear(
            "call_1",
            r#"{"items": [{"id": "txn_9001", "amount": -44.17, "booked": "2026-02-11"}, {"id": "txn_9002", "amount": -12.5}], "iban": "DE12 3456 7890"}"#,
        );
        heard
    }

    fn unknown(text: &str) -> Vec<String> {
        heard().stated(text).into_iter().filter(|s| s.source.is_none()).map(|s| s.fact).collect()
    }

    #[test]
    fn what_was_heard_may_be_said_in_any_form() {
        for text in [
            "€44.17 on February 11th, 2026 with txn_9001, card ending in 4417.",
            "Call 07700900115 or the account ending 7890.",
            "That is 56.67 in total, or 31.67 less, twice that is 88.34.",
            "You will hear by March 12, 2026. We work 24/7, in 4G, within 3 days or 120 minutes.",
            "1.75 % of 44.17 EUR are 0.77 EUR.",
        ] {
            assert_eq!(unknown(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_comes_from_nowhere_is_found() {
        for (text, fact) in [
            ("It was 44.71 EUR.", "44.71"),
            ("See txn_9003.", "txn_9003"),
            ("On 2026-02-12.", "2026-02-12"),
            ("On 13 February 2026.", "13 february 2026"),
            ("Your code is 99812.", "99812"),
            ("Write to help@example.com.", "help@example.com"),
            ("The fee is 731 EUR.", "731"),
        ] {
            assert_eq!(unknown(text), [fact], "{text}");
        }
    }

    #[test]
    fn sources_are_named() {
        let stated = heard().stated("txn_9002 over 12.50, 44.17 and 56.67");
        let sources: Vec<_> = stated.iter().map(|s| s.source.as_deref().unwrap_or("nobody")).collect();
        assert_eq!(sources, ["call_1", "call_1", "the user", "call_1"]);
    }
}
