//! Numbers and times as people read them.

use chrono::{DateTime, Utc};

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
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
    let mut size = n as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!([0.0, 0.012, 0.5, 1.0].map(percent), ["0 %", "1.2 %", "50 %", "100 %"]);
        assert_eq!([0.0, 0.0123, 12.5].map(money), ["0.00", "0.0123", "12.50"]);
        assert_eq!([12, 2048, 12_345_678].map(bytes), ["12 B", "2.0 KiB", "11.8 MiB"]);
        assert_eq!([0.4, 185.0, 7800.0].map(duration), ["0 s", "3 min 5 s", "2 h 10 min"]);
    }

    #[test]
    fn thousands_are_set_apart() {
        let all = [0, 7, 999, 1_000, 50_000, 1_234_567, -1_000].map(count);
        assert_eq!(all, ["0", "7", "999", "1,000", "50,000", "1,234,567", "-1,000"]);
    }
}
