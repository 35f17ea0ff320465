//! Dates and times for tools: ISO 8601 texts in, ISO 8601 texts out. A text that is none fails the call as `fail` does:
//! mostly it is the agent who wrote it.

use chrono::{Datelike, FixedOffset, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike};
use starlark::ErrorKind;
use starlark::environment::GlobalsBuilder;
use starlark::starlark_module;
use starlark::values::float::UnpackFloat;
use starlark::values::structs::AllocStruct;
use starlark::values::{Heap, Value};

use super::{broken, numbers};

#[starlark_module]
pub fn functions(builder: &mut GlobalsBuilder) {
    /// Whole days from one ISO date to another; a time of day does not count.
    fn days_between(start: &str, end: &str) -> starlark::Result<i32> {
        let days = (date(end)? - date(start)?).num_days();
        i32::try_from(days).map_err(starlark::Error::new_other)
    }

    /// The date so many days after an ISO date, or before it.
    fn add_days(start: &str, days: UnpackFloat) -> starlark::Result<String> {
        let (day, by) = (date(start)?, whole_number(days.0, "days")?);
        let shifted = by.and_then(TimeDelta::try_days).and_then(|by| day.checked_add_signed(by));
        let none = || refused(format!("{} days from {start} is no date", written(days.0)));
        shifted.map(|day| day.to_string()).ok_or_else(none)
    }

    /// The date so many months after an ISO date, or before it; the last day of a month that is too short.
    fn add_months(start: &str, months: UnpackFloat) -> starlark::Result<String> {
        let (day, by) = (date(start)?, whole_number(months.0, "months")?);
        let by = by.and_then(|by| u32::try_from(by.unsigned_abs()).ok()).map(Months::new);
        let shifted =
            by.and_then(|by| if months.0 < 0.0 { day.checked_sub_months(by) } else { day.checked_add_months(by) });
        let none = || refused(format!("{} months from {start} is no date", written(months.0)));
        shifted.map(|day| day.to_string()).ok_or_else(none)
    }

    /// The day of the week of an ISO date: `Monday` to `Sunday`.
    fn weekday(day: &str) -> starlark::Result<String> {
        Ok(date(day)?.format("%A").to_string())
    }

    /// Whole minutes from one time to another, of day (`09:30`) or of a date (`2026-03-02T09:30`).
    fn minutes_between(start: &str, end: &str) -> starlark::Result<i32> {
        let minutes = between(start, end)?.num_seconds().div_euclid(60);
        i32::try_from(minutes).map_err(starlark::Error::new_other)
    }

    /// Hours from one time to another: 1.5 for an hour and a half.
    #[expect(clippy::cast_precision_loss, reason = "seconds between dates are small")]
    fn hours_between(start: &str, end: &str) -> starlark::Result<f64> {
        Ok(between(start, end)?.num_seconds() as f64 / 3600.0)
    }

    /// The time so many minutes later, or earlier, written as it was given. A time of day goes on past midnight.
    fn add_minutes(start: &str, minutes: UnpackFloat) -> starlark::Result<String> {
        shifted(start, minutes.0, "minutes", 60.0)
    }

    /// The time so many hours later, or earlier: 1.5 for an hour and a half.
    fn add_hours(start: &str, hours: UnpackFloat) -> starlark::Result<String> {
        shifted(start, hours.0, "hours", 3600.0)
    }

    /// The date of a moment: `2026-03-02` of `2026-03-02T09:30:00Z`.
    fn date_of(moment: &str) -> starlark::Result<String> {
        Ok(date(moment)?.to_string())
    }

    /// The time of day of a moment: `09:30` of `2026-03-02T09:30:00Z`.
    fn time_of(moment: &str) -> starlark::Result<String> {
        Ok(Point::parse(moment)?.at.format("%H:%M").to_string())
    }

    /// A date, a time or a moment in numbers: `year`, `month` and `day` (`None` for a time), `hour`, `minute`, `second`.
    fn time_parts<'v>(text: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let point = Point::parse(text)?;
        let number = |number: u32| heap.alloc(number);
        let of_date = |number: u32| if point.dated { heap.alloc(number) } else { Value::new_none() };
        let year = if point.dated { heap.alloc(point.at.year()) } else { Value::new_none() };
        Ok(heap.alloc(AllocStruct([
            ("year", year),
            ("month", of_date(point.at.month())),
            ("day", of_date(point.at.day())),
            ("hour", number(point.at.hour())),
            ("minute", number(point.at.minute())),
            ("second", number(point.at.second())),
        ])))
    }
}

fn date(text: &str) -> starlark::Result<NaiveDate> {
    let day = text.get(..10).unwrap_or(text);
    day.parse().map_err(|_| refused(format!("`{text}` is not an ISO date such as 2026-03-02")))
}

/// An error that is an answer, as `fail` makes it.
fn refused(reason: String) -> starlark::Error {
    starlark::Error::new_kind(ErrorKind::Fail(anyhow::Error::msg(reason)))
}

/// A number of days or months. `None` if it is larger than any calendar.
///
/// # Errors
/// It is no whole number: the author has to say which way to round.
fn whole_number(x: f64, unit: &str) -> starlark::Result<Option<i64>> {
    if x.fract() == 0.0 {
        Ok(numbers::whole(x))
    } else {
        Err(broken(format!("`add_{unit}` needs a whole number and was given {}", written(x))))
    }
}

/// A number for a message: an integer without `.0`.
fn written(x: f64) -> String {
    numbers::whole(x).map_or_else(|| numbers::repr(x), |whole| whole.to_string())
}

/// The time so many units later, each of so many seconds, to the nearest second.
fn shifted(start: &str, by: f64, unit: &str, seconds: f64) -> starlark::Result<String> {
    let point = Point::parse(start)?;
    if !by.is_finite() {
        return Err(broken(format!("`add_{unit}` needs a number and was given {}", written(by))));
    }
    let delta = numbers::whole((by * seconds).round()).and_then(TimeDelta::try_seconds);
    let later = delta.and_then(|delta| point.plus(delta));
    later.ok_or_else(|| refused(format!("{} {unit} from {start} is no time", written(by))))
}

fn between(start: &str, end: &str) -> starlark::Result<TimeDelta> {
    let (from, to) = (Point::parse(start)?, Point::parse(end)?);
    if from.dated != to.dated {
        return Err(refused(format!(
            "`{start}` and `{end}` are a moment and a time of day: there is no time between them"
        )));
    }
    // Where one names no zone, it is that of the other.
    let zone =
        |point: &Point| point.zone.map_or(TimeDelta::zero(), |zone| TimeDelta::seconds(zone.local_minus_utc().into()));
    let shift = if from.zone.is_some() && to.zone.is_some() { zone(&from) - zone(&to) } else { TimeDelta::zero() };
    Ok(to.at - from.at + shift)
}

/// A moment or a time of day, and how it was written.
struct Point {
    at: NaiveDateTime,
    dated: bool,
    /// What is between date and time.
    separator: char,
    seconds: bool,
    /// As it was written, and what it means.
    zone_text: String,
    zone: Option<FixedOffset>,
}

impl Point {
    fn parse(text: &str) -> starlark::Result<Self> {
        Self::read(text).ok_or_else(|| {
            refused(format!("`{text}` is not an ISO time such as 09:30, 2026-03-02T09:30 or 2026-03-02T09:30:00Z"))
        })
    }

    fn read(text: &str) -> Option<Self> {
        let day: Option<NaiveDate> = text.get(..10).and_then(|day| day.parse().ok());
        let rest = if day.is_some() { text.get(10..)? } else { text };
        let separator = rest.chars().next().filter(|c| day.is_some() && matches!(c, 'T' | 't' | ' '));
        if day.is_some() && separator.is_none() && !rest.is_empty() {
            return None;
        }
        let rest = rest.strip_prefix(['T', 't', ' ']).filter(|_| separator.is_some()).unwrap_or(rest);
        let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
        let (clock, zone_text) = rest.split_at(zone_at);
        let zone = match zone_text {
            "" => None,
            "Z" | "z" => FixedOffset::east_opt(0),
            offset => Some(offset.parse().ok()?),
        };
        let time = match clock {
            "" if day.is_some() && separator.is_none() => NaiveTime::MIN,
            clock => NaiveTime::parse_from_str(clock, "%H:%M:%S%.f")
                .or_else(|_| NaiveTime::parse_from_str(clock, "%H:%M"))
                .ok()?,
        };
        Some(Self {
            at: day.unwrap_or_default().and_time(time),
            dated: day.is_some(),
            separator: separator.unwrap_or('T'),
            seconds: clock.matches(':').count() > 1,
            zone_text: zone_text.to_owned(),
            zone,
        })
    }

    /// `None` if no calendar reaches so far.
    fn plus(self, by: TimeDelta) -> Option<String> {
        let at = self.at.checked_add_signed(by)?;
        // Seconds that were added are shown, also if there were none before.
        let clock = if self.seconds || at.second() != 0 { at.format("%H:%M:%S") } else { at.format("%H:%M") };
        let day = if self.dated { format!("{}{}", at.date(), self.separator) } else { String::new() };
        Some(format!("{day}{clock}{}", self.zone_text))
    }
}
