//! What follows from what was heard: an amount may be a sum, a difference, a multiple, a share, a percentage or a rounding
//! of known ones; a date may lie a known period from a known one.

use std::collections::BTreeSet;

use chrono::{Datelike, Months, NaiveDate, TimeDelta, Weekday};

use super::SourceIndex;
use super::text::readings;
use crate::tools::grounding::dates::Date;
use crate::tools::grounding::numbers::Number;

/// A known amount may be multiplied and divided so often: days of a month, instalments of a year.
const MOST_PARTS: i64 = 31;
/// Known amounts that are computed with, and amounts of a list that are added up. With more, any sum would fit.
const MOST_AMOUNTS: usize = 400;
/// Longest period, in days, weeks or months.
const LONGEST: i64 = 400;
/// Known dates and periods that are computed with: every date is taken with every period. A long conversation knows 100
/// and 10.
const MOST_DATES: usize = 1_000;
const MOST_PERIODS: usize = 100;

impl SourceIndex {
    /// Whether an amount follows from what was heard, or from those before it in the same text.
    pub(super) fn computes_number(&self, number: &Number, before: &[i64]) -> bool {
        readings(number).any(|said| self.computes_amount(said, before))
    }

    /// The dates that lie a known period from a known one, each once.
    pub(super) fn reached(&self) -> Vec<Date> {
        let from = self.all().flat_map(|heard| &heard.dates).filter_map(|(known, _)| known.calendar());
        let from: BTreeSet<NaiveDate> = from.take(MOST_DATES).collect();
        let periods = self.all().flat_map(|heard| heard.periods.iter().copied());
        let periods: BTreeSet<i64> = periods.filter(|n| (1..=LONGEST).contains(n)).take(MOST_PERIODS).collect();
        let shifted = from.into_iter().flat_map(|day| periods.iter().flat_map(move |n| shifts(day, *n)));
        let mut reached: Vec<NaiveDate> = shifted.collect();
        reached.sort_unstable();
        reached.dedup();
        reached.into_iter().map(Date::from).collect()
    }

    fn computes_amount(&self, said: i64, before: &[i64]) -> bool {
        let all = before.iter().chain(self.all().flat_map(|heard| &heard.sums)).copied();
        let mut amounts: Vec<i64> = all.filter(|amount| *amount > 0).take(MOST_AMOUNTS).collect();
        amounts.sort_unstable();
        amounts.dedup();
        let known = |amount: i64| amounts.binary_search(&amount).is_ok();
        let rates: Vec<i64> = self.all().flat_map(|heard| &heard.rates).copied().take(MOST_AMOUNTS).collect();
        is_total(said, before)
            || amounts.iter().enumerate().any(|(i, a)| {
                let rounded = said % 100 == 0 && (a - said).abs() < 100;
                let multiple = said > 0 && said % a == 0 && said / a <= MOST_PARTS;
                let share = said > 0 && (2..=MOST_PARTS).chain([52, 365]).any(|n| (a - said * n).abs() < n);
                let percent = || rates.iter().any(|rate| (a.saturating_mul(*rate) / 10_000 - said).abs() <= 1);
                // Two others, or three.
                let sums =
                    || known(said - a) || known(said + a) || amounts[i..].iter().take(60).any(|b| known(said - a - b));
                rounded || multiple || share || sums() || percent()
            })
    }
}

/// Whether this is the total of what the text has just listed: of the last two amounts, three, and so on.
fn is_total(said: i64, before: &[i64]) -> bool {
    let mut total = 0;
    before.iter().rev().take(MOST_AMOUNTS).enumerate().any(|(i, amount)| {
        total += amount;
        i > 0 && total == said
    })
}

/// Days that lie so many days, working days, weeks or months before or after one.
fn shifts(from: NaiveDate, n: i64) -> Vec<NaiveDate> {
    let days = [n, -n, n * 7, -n * 7];
    let days = days.into_iter().filter_map(|days| from.checked_add_signed(TimeDelta::days(days)));
    let months = u32::try_from(n).ok().map(Months::new).into_iter();
    let months = months.flat_map(|n| [from.checked_add_months(n), from.checked_sub_months(n)]).flatten();
    days.chain(months).chain(working_days(from, n)).collect()
}

/// The day after so many Mondays to Fridays.
fn working_days(from: NaiveDate, n: i64) -> Option<NaiveDate> {
    // Five of them are a week, whatever the first day is; a handful is left to count.
    let mut day = from.checked_add_signed(TimeDelta::days(n / 5 * 7))?;
    let mut left = n % 5;
    let works = |day: &NaiveDate| !matches!(day.weekday(), Weekday::Sat | Weekday::Sun);
    // From a Saturday or Sunday, whole weeks end on the Friday before.
    while n >= 5 && left == 0 && !works(&day) {
        day = day.pred_opt()?;
    }
    while left > 0 {
        day = day.succ_opt()?;
        left -= i64::from(works(&day));
    }
    Some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_days_are_counted() {
        let day = |text: &str| text.parse::<NaiveDate>().expect("a date");
        // A Monday, and a Saturday.
        for (from, n, expected) in [
            ("2026-03-02", 1, "2026-03-03"),
            ("2026-03-02", 5, "2026-03-09"),
            ("2026-03-07", 1, "2026-03-09"),
            ("2026-03-07", 5, "2026-03-13"),
            ("2026-03-08", 10, "2026-03-20"),
            ("2026-03-07", 6, "2026-03-16"),
        ] {
            assert_eq!(working_days(day(from), n), Some(day(expected)), "{n} from {from}");
        }
    }
}
