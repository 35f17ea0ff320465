//! What follows from what was heard: an amount may be a sum, a difference, a multiple, a share, a percentage or a rounding
//! of known ones; a date may lie a known period from a known one.

use chrono::{Datelike, Months, NaiveDate, TimeDelta, Weekday};

use super::{Heard, readings};
use crate::tools::grounding::reading::{Fact, Token};

/// A known amount may be multiplied and divided so often: days of a month, instalments of a year.
const MOST_PARTS: i64 = 31;
/// Known amounts that are computed with. With more, any sum would fit.
const MOST_AMOUNTS: usize = 400;
/// Longest period, in days, weeks or months.
const LONGEST: i64 = 400;

impl Heard {
    /// Whether a fact follows from what was heard, or for an amount from those before it in the same text.
    pub(super) fn computes(&self, token: &Token<'_>, before: &[i64]) -> bool {
        match &token.fact {
            Fact::Number(number) => readings(number).any(|said| self.computes_amount(said, before)),
            Fact::Date(days) => {
                let from = self.all().flat_map(|heard| &heard.dates).filter_map(|(known, _)| known.calendar());
                let mut reached = from.flat_map(|from| self.periods().flat_map(move |n| shifts(from, n)));
                reached.any(|day| days.iter().any(|said| said.fits(day.into())))
            }
            _ => false,
        }
    }

    fn periods(&self) -> impl Iterator<Item = i64> + '_ {
        self.all().flat_map(|heard| heard.periods.iter().copied()).filter(|n| (1..=LONGEST).contains(n))
    }

    fn computes_amount(&self, said: i64, before: &[i64]) -> bool {
        let all = before.iter().chain(self.all().flat_map(|heard| &heard.sums)).copied();
        let mut amounts: Vec<i64> = all.filter(|amount| *amount > 0).take(MOST_AMOUNTS).collect();
        amounts.sort_unstable();
        amounts.dedup();
        let known = |amount: i64| amounts.binary_search(&amount).is_ok();
        let rates: Vec<i64> = self.all().flat_map(|heard| &heard.rates).copied().take(MOST_AMOUNTS).collect();
        // The total of what the text has just listed.
        let listed = (2..=before.len()).any(|n| before[before.len() - n..].iter().sum::<i64>() == said);
        listed
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

/// Days that lie so many days, working days, weeks or months before or after one.
fn shifts(from: NaiveDate, n: i64) -> Vec<NaiveDate> {
    let days = [n, -n, n * 7, -n * 7];
    let days = days.into_iter().filter_map(|days| from.checked_add_signed(TimeDelta::days(days)));
    let months = u32::try_from(n).ok().map(Months::new).into_iter();
    let months = months.flat_map(|n| [from.checked_add_months(n), from.checked_sub_months(n)]).flatten();
    days.chain(months).chain(working_days(from, n)).collect()
}

fn working_days(from: NaiveDate, n: i64) -> Option<NaiveDate> {
    let mut left = usize::try_from(n).ok()?;
    let works = |day: &NaiveDate| !matches!(day.weekday(), Weekday::Sat | Weekday::Sun);
    let mut day = from;
    while left > 0 {
        day = day.succ_opt()?;
        left -= usize::from(works(&day));
    }
    Some(day)
}
