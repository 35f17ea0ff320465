//! Numbers of bytes, as people read and write them.

const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];

/// `12345678` is "11.8 MiB".
pub fn readable_bytes(n: i64) -> String {
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

/// The same without rounding, for a form: `3 << 20` is "3 MiB", and `12345678` stays as it is.
pub fn exact_bytes(n: i64) -> String {
    let unit = (1..=UNITS.len()).rev().find(|power| n > 0 && n % (1 << (10 * power)) == 0);
    unit.map_or_else(|| n.to_string(), |power| format!("{} {}", n >> (10 * power), UNITS[power - 1]))
}

/// "1.5 GiB", "200MiB", "12345": what [`readable_bytes`] writes, and plain numbers of bytes.
///
/// # Errors
/// What would be right.
pub fn parse_bytes(text: &str) -> Result<i64, String> {
    let wrong = || format!("expected a size like 500 MiB or 1.5 GiB, not `{text}`");
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let unit = unit.trim();
    let power = match unit {
        "" | "B" => 0,
        unit => 1 + UNITS.iter().position(|known| known.eq_ignore_ascii_case(unit)).ok_or_else(wrong)?,
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = number * 1024_f64.powi(i32::try_from(power).unwrap_or_default());
    #[expect(clippy::cast_possible_truncation, reason = "a size beyond what can be counted saturates")]
    Ok(bytes.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!([12, 2048, 12_345_678, 200 << 30].map(readable_bytes), ["12 B", "2.0 KiB", "11.8 MiB", "200.0 GiB"]);
    }

    #[test]
    fn sizes_in_forms_lose_nothing() {
        for (bytes, text) in [(0, "0"), (1, "1"), (12_345_678, "12345678"), (3 << 20, "3 MiB"), (200 << 30, "200 GiB")]
        {
            assert_eq!((exact_bytes(bytes).as_str(), parse_bytes(text)), (text, Ok(bytes)));
        }
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("12345", 12345),
            ("12 B", 12),
            ("1.5 GiB", 3 << 29),
            ("200MiB", 200 << 20),
            (" 2 tib ", 2 << 40),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "x", "-1", "1 GB", "1.2.3", "GiB", "5 apples"] {
            assert_eq!(parse_bytes(wrong), Err(format!("expected a size like 500 MiB or 1.5 GiB, not `{wrong}`")));
        }
    }
}
