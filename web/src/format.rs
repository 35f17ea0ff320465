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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let all = [0, 7, 999, 1_000, 50_000, 1_234_567, -1_000].map(count);
        assert_eq!(all, ["0", "7", "999", "1,000", "50,000", "1,234,567", "-1,000"]);
    }
}
