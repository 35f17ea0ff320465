//! Numbers and times as people read them.

use chrono::{DateTime, Utc};
use domain::storage::readable_bytes;

/// `12345` is "12,345".
pub fn count(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if n < 0 { format!("-{grouped}") } else { grouped }
}

/// To the minute, in UTC: people of one project sit in many places.
pub fn time(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// A share between 0 and 1, as "12 %"; small ones with a digit more.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent != 0.0 && percent.abs() < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// In the unit of the models' prices, whatever it is. What costs less than 1 has four decimals.
pub fn money(amount: f64) -> String {
    if amount != 0.0 && amount.abs() < 1.0 { format!("{amount:.4}") } else { format!("{amount:.2}") }
}

/// `12345678` is "11.8 MiB".
pub fn bytes(n: u64) -> String {
    readable_bytes(i64::try_from(n).unwrap_or(i64::MAX))
}

/// Seconds as "42 s", "3 min 5 s", "2 h 10 min".
pub fn duration(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "nothing here lasts 300 billion years")]
    let whole = seconds.max(0.0).round() as i64;
    match whole {
        ..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Seconds of what is often over in less than one, as "0.3 ms", "42 ms", "1.25 s"; more than a minute as a duration.
pub fn seconds(seconds: f64) -> String {
    match seconds * 1_000.0 {
        ..10.0 => format!("{:.1} ms", seconds.max(0.0) * 1_000.0),
        10.0..1_000.0 => format!("{:.0} ms", seconds * 1_000.0),
        1_000.0..60_000.0 => format!("{seconds:.2} s"),
        _ => duration(seconds),
    }
}

/// To the next whole number, in groups of three digits.
#[expect(clippy::cast_possible_truncation, reason = "saturates")]
pub fn rounded(n: f64) -> String {
    count(n.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!([0.0, 0.012, 0.5, 1.0].map(percent), ["0 %", "1.2 %", "50 %", "100 %"]);
        assert_eq!([0.0, 0.0123, 12.5].map(money), ["0.00", "0.0123", "12.50"]);
        assert_eq!([0.000_26, 0.042, 1.254, 185.0].map(seconds), ["0.3 ms", "42 ms", "1.25 s", "3 min 5 s"]);
        assert_eq!(rounded(1_234.5), "1,235");
        assert_eq!([0.4, 185.0, 7800.0].map(duration), ["0 s", "3 min 5 s", "2 h 10 min"]);
    }

    #[test]
    fn thousands_are_set_apart() {
        let all = [0, 7, 999, 1_000, 50_000, 1_234_567, -1_000].map(count);
        assert_eq!(all, ["0", "7", "999", "1,000", "50,000", "1,234,567", "-1,000"]);
    }
}
