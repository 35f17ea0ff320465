//! Dates and times as values, however they are written.

use chrono::{Datelike, NaiveDate};

/// A date of which some parts may be unsaid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Date {
    pub year: Option<i32>,
    pub month: Option<u32>,
    pub day: Option<u32>,
    /// Days after Monday.
    pub weekday: Option<u32>,
}

impl Date {
    pub fn whole(year: i32, month: u32, day: u32) -> Option<Self> {
        NaiveDate::from_ymd_opt(year, month, day)?;
        Some(Self { year: Some(year), month: Some(month), day: Some(day), weekday: None })
    }

    pub fn calendar(self) -> Option<NaiveDate> {
        NaiveDate::from_ymd_opt(self.year?, self.month?, self.day?)
    }

    /// Whether `self` says nothing that is not true of `known`.
    pub fn fits(self, known: Self) -> bool {
        let same = |said: Option<u32>, known: Option<u32>| said.is_none() || said == known;
        let weekday = known.calendar().map(|day| day.weekday().num_days_from_monday()).or(known.weekday);
        (self.year.is_none() || self.year == known.year)
            && same(self.month, known.month)
            && same(self.day, known.day)
            && same(self.weekday, weekday)
    }

    pub fn shifted(self, days: i64) -> Option<Self> {
        let day = self.calendar()?.checked_add_signed(chrono::TimeDelta::days(days))?;
        Self::whole(day.year(), day.month(), day.day())
    }
}

impl From<NaiveDate> for Date {
    fn from(day: NaiveDate) -> Self {
        Self { year: Some(day.year()), month: Some(day.month()), day: Some(day.day()), weekday: None }
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

pub fn month(word: &str) -> Option<u32> {
    index(&MONTHS, word).or((word == "sept").then_some(8)).map(|i| i + 1)
}

pub fn weekday(word: &str) -> Option<u32> {
    index(&WEEKDAYS, word)
}

/// All that months and days of the week are called.
pub fn words() -> impl Iterator<Item = &'static str> {
    MONTHS.into_iter().chain(WEEKDAYS).flat_map(|name| [name, &name[..3]]).chain(["sept"])
}

/// By the whole name or its first three letters.
fn index(names: &[&str], word: &str) -> Option<u32> {
    let found = names.iter().position(|name| *name == word || (word.len() == 3 && name.starts_with(word)))?;
    u32::try_from(found).ok()
}

/// The possible readings of `2026-03-02`, `02.03.2026`, `3/2/26` or `09/27`.
pub fn written(piece: &str) -> Vec<Date> {
    let separator = piece.chars().find(|c| !c.is_ascii_digit());
    let Some(separator) = separator.filter(|c| matches!(c, '-' | '/' | '.')) else { return Vec::new() };
    let parts: Vec<&str> = piece.split(separator).collect();
    let numbers: Option<Vec<u32>> =
        parts.iter().map(|p| p.parse().ok().filter(|_| p.bytes().all(|b| b.is_ascii_digit()))).collect();
    let year = |text: &str, n: u32| match text.len() {
        4 => i32::try_from(n).ok(),
        2 => i32::try_from(2000 + n).ok(),
        _ => None,
    };
    match numbers.as_deref() {
        Some([a, b, c]) if parts[0].len() == 4 => {
            i32::try_from(*a).ok().and_then(|y| Date::whole(y, *b, *c)).into_iter().collect()
        }
        Some([a, b, c]) if parts[0].len() <= 2 && parts[1].len() <= 2 => {
            let Some(y) = year(parts[2], *c) else { return Vec::new() };
            let mut readings: Vec<Date> = Date::whole(y, *b, *a).into_iter().collect();
            // With points the day comes first everywhere.
            if separator != '.' && a != b {
                readings.extend(Date::whole(y, *a, *b));
            }
            readings
        }
        Some([y, m]) if separator == '-' && parts[0].len() == 4 && parts[1].len() == 2 && (1..=12).contains(m) => {
            year(parts[0], *y).map(|y| Date { year: Some(y), month: Some(*m), ..Date::default() }).into_iter().collect()
        }
        Some([m, y]) if separator == '/' && parts[0].len() == 2 && (1..=12).contains(m) => {
            year(parts[1], *y).map(|y| Date { year: Some(y), month: Some(*m), ..Date::default() }).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// `20:00`, `8:30` as minutes of the day; an afternoon is told by the word that follows.
pub fn clock(piece: &str) -> Option<u32> {
    let mut parts = piece.split(':');
    let (hour, minute) = (parts.next()?, parts.next()?);
    let second = parts.next().unwrap_or("00");
    let seconds: f64 = second.trim_end_matches(|c: char| c.is_alphabetic()).parse().ok()?;
    let fits = parts.next().is_none() && (1..=2).contains(&hour.len()) && minute.len() == 2 && seconds < 60.0;
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    (fits && hour < 25 && minute < 60).then_some(hour * 60 + minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_any_usual_form() {
        let day = Date::whole(2026, 3, 2).expect("a day");
        for text in ["2026-03-02", "02.03.2026", "2.3.26", "02/03/2026", "3/2/2026", "2026/03/02"] {
            assert!(written(text).iter().any(|d| d.fits(day)), "{text}");
        }
        assert!(written("03/26").iter().all(|d| d.fits(day)) && written("1.75").is_empty());
        assert!(Date { weekday: Some(0), ..day }.fits(day) && !Date { weekday: Some(1), ..day }.fits(day));
    }
}
