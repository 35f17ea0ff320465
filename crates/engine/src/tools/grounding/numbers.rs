//! Numbers as values, however they are written.

/// What a number counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unit {
    Money(&'static str),
    Percent,
    /// A base unit and how many of it make one of the unit written: weeks are seven days.
    Measure(&'static str, u32),
}

/// A number as it stands in a text. A form such as `1.500` can be read in two ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    pub readings: Vec<String>,
    pub unit: Option<Unit>,
}

impl Number {
    pub fn plain(value: impl Into<String>) -> Self {
        Self { readings: vec![value.into()], unit: None }
    }

    pub fn value(&self) -> &str {
        self.readings.first().map_or("", String::as_str)
    }

    /// Whether both may be the same value, units left aside.
    pub fn equals(&self, other: &Self) -> bool {
        self.readings.iter().any(|reading| other.readings.contains(reading))
    }

    /// The value in base units, if it is whole.
    pub fn in_base(&self) -> Option<(u64, &'static str)> {
        match &self.unit {
            Some(Unit::Measure(base, factor)) => {
                self.value().parse::<u64>().ok()?.checked_mul(u64::from(*factor)).map(|value| (value, *base))
            }
            _ => None,
        }
    }
}

/// Units, by all that they are called.
const UNITS: [(&[&str], Unit); 22] = [
    (&["€", "eur", "euro", "euros"], Unit::Money("eur")),
    (&["$", "usd", "dollar", "dollars"], Unit::Money("usd")),
    (&["£", "gbp", "pound", "pounds"], Unit::Money("gbp")),
    (&["¥", "jpy", "yen"], Unit::Money("jpy")),
    (&["chf", "franc", "francs"], Unit::Money("chf")),
    (&["%", "percent", "pct"], Unit::Percent),
    (&["second", "seconds", "secs"], Unit::Measure("second", 1)),
    (&["minute", "minutes", "min", "mins"], Unit::Measure("minute", 1)),
    (&["hour", "hours", "hrs"], Unit::Measure("minute", 60)),
    (&["day", "days"], Unit::Measure("day", 1)),
    (&["week", "weeks"], Unit::Measure("day", 7)),
    (&["month", "months"], Unit::Measure("month", 1)),
    (&["year", "years"], Unit::Measure("month", 12)),
    (&["night", "nights"], Unit::Measure("night", 1)),
    (&["mb", "megabyte", "megabytes"], Unit::Measure("mb", 1)),
    (&["gb", "gigabyte", "gigabytes"], Unit::Measure("gb", 1)),
    (&["tb", "terabyte", "terabytes"], Unit::Measure("tb", 1)),
    (&["mbps", "mbit/s", "mbit"], Unit::Measure("mbps", 1)),
    (&["gbps"], Unit::Measure("gbps", 1)),
    (&["kg", "kilogram", "kilograms", "kilos"], Unit::Measure("kg", 1)),
    (&["km", "kilometre", "kilometres", "kilometers"], Unit::Measure("km", 1)),
    (&["cm"], Unit::Measure("cm", 1)),
];

/// The unit that a word names.
pub fn unit(word: &str) -> Option<Unit> {
    let word = word.trim_end_matches('.');
    UNITS.iter().find(|(names, _)| names.contains(&word)).map(|(_, unit)| unit.clone())
}

/// All that units are called.
pub fn units() -> impl Iterator<Item = &'static str> {
    UNITS.iter().flat_map(|(names, _)| names.iter().copied())
}

/// The readings of `1,234.50`, `1.234,50`, `1'000`, `-7.5`; none for what is no plain number.
pub fn amount(piece: &str) -> Option<Vec<String>> {
    let (sign, digits) = match piece.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", piece.strip_prefix('+').unwrap_or(piece)),
    };
    let shaped = digits.starts_with(|c: char| c.is_ascii_digit()) && digits.ends_with(|c: char| c.is_ascii_digit());
    if !shaped || !digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | ' ')) {
        return None;
    }
    if let Some((whole, part)) = unambiguous(digits) {
        return joined(whole, part).map(|value| vec![format!("{sign}{value}")]);
    }
    let mut readings = Vec::new();
    for decimal in ['.', ','] {
        let mut halves = digits.splitn(2, decimal);
        let (whole, part) = (halves.next().unwrap_or_default(), halves.next());
        if let Some(value) = grouped(whole, decimal).and_then(|whole| joined(&whole, part)) {
            let value = format!("{sign}{value}");
            if !readings.contains(&value) {
                readings.push(value);
            }
        }
    }
    (!readings.is_empty()).then_some(readings)
}

/// Digits alone, or a point among them that cannot set thousands apart: most numbers are written so.
fn unambiguous(digits: &str) -> Option<(&str, Option<&str>)> {
    let number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    match digits.split_once('.') {
        None => number(digits).then_some((digits, None)),
        Some((whole, part)) => (part.len() != 3 && number(whole) && number(part)).then_some((whole, Some(part))),
    }
}

/// The digits of a whole number whose thousands are set apart by one kind of separator.
fn grouped(whole: &str, decimal: char) -> Option<String> {
    let separators: Vec<char> = whole.chars().filter(|c| !c.is_ascii_digit()).collect();
    let Some(first) = separators.first() else { return Some(whole.to_owned()) };
    let groups: Vec<&str> = whole.split(*first).collect();
    let fits = *first != decimal
        && separators.iter().all(|c| c == first)
        && groups.first().is_some_and(|g| (1..=3).contains(&g.len()) && !g.starts_with('0'))
        && groups.iter().skip(1).all(|g| g.len() == 3);
    fits.then(|| groups.concat())
}

fn joined(whole: &str, part: Option<&str>) -> Option<String> {
    // A leading zero makes a code of it, not an amount.
    if whole.len() > 1 && whole.starts_with('0') {
        return None;
    }
    match part {
        None => Some(whole.to_owned()),
        Some(part) if !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) => {
            let part = part.trim_end_matches('0');
            Some(if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") })
        }
        Some(_) => None,
    }
}

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const LARGE: [(&str, u64); 4] = [("dozen", 12), ("hundred", 100), ("thousand", 1000), ("million", 1_000_000)];

/// All words that numbers are spelled with.
pub fn words() -> impl Iterator<Item = &'static str> {
    SMALL.into_iter().chain(TENS).chain(LARGE.map(|(word, _)| word))
}

/// The value of a word below a hundred, or the factor of `hundred`, `thousand` and `million`.
fn word(word: &str) -> Option<u64> {
    let small = SMALL.iter().position(|w| *w == word).map(|i| i as u64);
    let tens = || TENS.iter().position(|w| *w == word).map(|i| 20 + 10 * i as u64);
    small.or_else(tens).or_else(|| LARGE.iter().find(|(w, _)| *w == word).map(|(_, value)| *value))
}

/// The number that a row of words spells, and how many of the words it takes: `one hundred and twenty five`.
pub fn spelled(words: &[&str]) -> Option<(String, usize)> {
    let (mut total, mut current, mut taken) = (0u64, 0u64, 0);
    let mut last = u64::MAX;
    for (i, text) in words.iter().enumerate() {
        if *text == "and" && (taken > 0 && last >= 100) && words.get(i + 1).is_some_and(|w| word(w).is_some()) {
            continue;
        }
        let Some(value) = word(text) else { break };
        match value {
            100 => current = current.max(1).saturating_mul(100),
            1000 | 1_000_000 => {
                total = total.saturating_add(current.max(1).saturating_mul(value));
                current = 0;
            }
            // "four one" is no number; neither is "twenty thirty".
            small if taken > 0 && !(last >= 100 || ((20..100).contains(&last) && (1..10).contains(&small))) => break,
            small => current += small,
        }
        last = value;
        taken = i + 1;
    }
    (taken > 0).then(|| ((total + current).to_string(), taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_one_value() {
        let first = |text| amount(text).map(|r| r.join("|"));
        for (text, value) in [
            ("1,234.50", "1234.5"),
            ("1.234,50", "1234.5"),
            ("1'000", "1000"),
            ("41.15", "41.15"),
            ("-7,5", "-7.5"),
            ("1.500", "1.5|1500"),
            ("12.00", "12"),
            ("1 234,50", "1234.5"),
        ] {
            assert_eq!(first(text).as_deref(), Some(value), "{text}");
        }
        assert_eq!((first("0172"), first("1,2,3"), first("1.2.3.4")), (None, None, None));
    }

    #[test]
    fn words_spell_numbers() {
        let read = |text: &str| spelled(&text.split(' ').collect::<Vec<_>>());
        assert_eq!(read("one hundred and twenty five euros"), Some(("125".into(), 5)));
        assert_eq!(read("two thousand three hundred ten"), Some(("2310".into(), 5)));
        assert_eq!(read("four one"), Some(("4".into(), 1)));
        assert_eq!(read("cards"), None);
    }
}
