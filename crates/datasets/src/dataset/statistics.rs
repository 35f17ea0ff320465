//! Statistics of a column, gathered while its values pass by, in memory that does not grow with them.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use domain::dataset::{ColumnStatistics, Histogram, NumberStatistics, ValueCount};
use serde_json::Value;

/// Different values that are counted.
const MOST_DISTINCT: usize = 10_000;
/// Different values that are told with their counts, and how long each may be in bytes.
const MOST_VALUES: usize = 50;
const LONGEST_VALUE: usize = 100;
const BINS: usize = 32;

#[derive(Debug)]
pub struct Collector {
    /// Values that are not null.
    present: u64,
    distinct: HashSet<u64>,
    /// `None`: there are too many, or they are too long.
    values: Option<HashMap<String, u64>>,
    numbers: Numbers,
    lengths: Numbers,
}

impl Default for Collector {
    fn default() -> Self {
        Self {
            present: 0,
            distinct: HashSet::new(),
            values: Some(HashMap::new()),
            numbers: Numbers::default(),
            lengths: Numbers::default(),
        }
    }
}

impl Collector {
    /// Counts a value that is not null.
    #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^52")]
    pub fn add(&mut self, value: &Value) {
        self.present += 1;
        match value {
            Value::String(text) => {
                self.lengths.add(text.chars().count() as f64);
                self.count(text);
            }
            Value::Array(items) => {
                self.lengths.add(items.len() as f64);
                self.count(&value.to_string());
            }
            other => {
                if let Some(number) = other.as_f64() {
                    self.numbers.add(number);
                }
                self.count(&other.to_string());
            }
        }
    }

    fn count(&mut self, text: &str) {
        if self.distinct.len() <= MOST_DISTINCT {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            self.distinct.insert(hasher.finish());
        }
        let Some(values) = &mut self.values else { return };
        let room = text.len() <= LONGEST_VALUE && values.len() < MOST_VALUES;
        match values.get_mut(text) {
            Some(count) => *count += 1,
            None if room => {
                values.insert(text.to_owned(), 1);
            }
            None => self.values = None,
        }
    }

    /// `rows`: of the whole dataset.
    pub fn finish(self, rows: u64) -> ColumnStatistics {
        let values = self.values.unwrap_or_default().into_iter();
        let mut values: Vec<ValueCount> = values.map(|(value, count)| ValueCount { value, count }).collect();
        values.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
        ColumnStatistics {
            nulls: rows - self.present,
            distinct: self.distinct.len().min(MOST_DISTINCT) as u64,
            distinct_at_least: self.distinct.len() > MOST_DISTINCT,
            values,
            numbers: self.numbers.finish(),
            lengths: self.lengths.finish(),
        }
    }
}

/// Numbers, counted in bins whose range doubles when a number is outside of it.
#[derive(Debug, Default)]
struct Numbers {
    count: u64,
    min: f64,
    max: f64,
    sum: f64,
    /// The first ones, which tell the first range.
    first: Vec<f64>,
    bins: Option<Bins>,
}

const FIRST: usize = 1_024;

#[derive(Debug)]
struct Bins {
    from: f64,
    width: f64,
    counts: [u64; BINS],
}

impl Numbers {
    fn add(&mut self, number: f64) {
        if self.count == 0 {
            (self.min, self.max) = (number, number);
        }
        self.count += 1;
        self.min = self.min.min(number);
        self.max = self.max.max(number);
        self.sum += number;
        match &mut self.bins {
            Some(bins) => bins.add(number),
            None => {
                self.first.push(number);
                if self.first.len() == FIRST {
                    self.bins = Some(Bins::of(&std::mem::take(&mut self.first), self.min, self.max));
                }
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    fn finish(self) -> Option<NumberStatistics> {
        let bins = self.bins.or_else(|| (self.count > 0).then(|| Bins::of(&self.first, self.min, self.max)))?;
        let mean = self.sum / self.count as f64;
        // Numbers at the ends of what a float holds have no sum.
        let mean = if mean.is_finite() { mean } else { f64::midpoint(self.min, self.max) };
        Some(NumberStatistics { count: self.count, min: self.min, max: self.max, mean, histogram: bins.finish() })
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are few bins")]
impl Bins {
    fn of(numbers: &[f64], min: f64, max: f64) -> Self {
        let width = max / BINS as f64 - min / BINS as f64;
        let width = if width > 0.0 { width } else { (min.abs() * f64::EPSILON).max(1.0) };
        // What is whole is counted in bins of whole width.
        let whole = numbers.iter().all(|number| number.fract() == 0.0) && max - min < 2f64.powi(52);
        let width = if whole { ((max - min + 1.0) / BINS as f64).ceil() } else { width };
        let mut bins = Self { from: min, width, counts: [0; BINS] };
        numbers.iter().for_each(|number| bins.add(*number));
        bins
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is made to be within the bins")]
    fn add(&mut self, number: f64) {
        let half = BINS / 2;
        while number > self.to() && self.to().is_finite() {
            for i in 0..half {
                self.counts[i] = self.counts[2 * i] + self.counts[2 * i + 1];
            }
            self.counts[half..].fill(0);
            self.width *= 2.0;
        }
        while number < self.from && (self.from - self.width * BINS as f64).is_finite() {
            for i in (half..BINS).rev() {
                let low = 2 * (i - half);
                self.counts[i] = self.counts[low] + self.counts[low + 1];
            }
            self.counts[..half].fill(0);
            self.from -= self.width * BINS as f64;
            self.width *= 2.0;
        }
        let place = ((number - self.from) / self.width).floor().clamp(0.0, (BINS - 1) as f64);
        self.counts[place as usize] += 1;
    }

    fn to(&self) -> f64 {
        self.from + self.width * BINS as f64
    }

    /// Empty bins at the ends tell nothing.
    fn finish(self) -> Histogram {
        let first = self.counts.iter().position(|count| *count > 0).unwrap_or(0);
        let end = self.counts.iter().rposition(|count| *count > 0).map_or(1, |last| last + 1);
        let [from, to] = [first, end].map(|border| (self.from + self.width * border as f64).clamp(f64::MIN, f64::MAX));
        Histogram { from, to, counts: self.counts[first..end].to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(values: impl IntoIterator<Item = Value>) -> ColumnStatistics {
        let mut collector = Collector::default();
        let mut rows = 0;
        for value in values {
            rows += 1;
            if !value.is_null() {
                collector.add(&value);
            }
        }
        collector.finish(rows)
    }

    #[test]
    fn few_values_are_counted_one_by_one() {
        let found = of([json!("b"), json!("a"), Value::Null, json!("b")]);
        let counts: Vec<_> = found.values.iter().map(|value| (value.value.as_str(), value.count)).collect();
        assert_eq!(counts, [("b", 2), ("a", 1)]);
        assert_eq!((found.nulls, found.distinct, found.distinct_at_least), (1, 2, false));
        let lengths = found.lengths.unwrap();
        assert_eq!((lengths.count, lengths.min, lengths.max, lengths.mean), (3, 1.0, 1.0, 1.0));
        assert_eq!((lengths.histogram.from, lengths.histogram.to, lengths.histogram.counts), (1.0, 2.0, vec![3]));
        assert!(found.numbers.is_none());
    }

    #[test]
    fn many_values_are_counted_in_bins_whatever_their_order() {
        for order in [(0..20_000).collect::<Vec<i64>>(), (0..20_000).rev().collect()] {
            let found = of(order.into_iter().map(Value::from));
            assert_eq!((found.distinct, found.distinct_at_least, found.values.len()), (10_000, true, 0));
            let numbers = found.numbers.unwrap();
            assert_eq!((numbers.count, numbers.min, numbers.max, numbers.mean), (20_000, 0.0, 19_999.0, 9_999.5));
            assert_eq!(numbers.histogram.counts.iter().sum::<u64>(), 20_000);
            let inner = &numbers.histogram.counts[1..numbers.histogram.counts.len() - 1];
            // A number at the border of two bins may be rounded into either.
            assert!(inner.iter().all(|count| count.abs_diff(1_024) <= 1), "{:?}", numbers.histogram);
        }
    }

    #[test]
    fn numbers_at_the_ends_of_their_range_are_counted() {
        let many = (0..2_000).map(|i| json!(f64::from(i) / 7.0)).chain([json!(f64::MAX), json!(f64::MIN)]);
        let numbers = of(many).numbers.unwrap();
        assert_eq!((numbers.min, numbers.max, numbers.count), (f64::MIN, f64::MAX, 2_002));
        assert!(numbers.mean.is_finite() && numbers.histogram.to.is_finite() && numbers.histogram.from.is_finite());
        assert_eq!(numbers.histogram.counts.iter().sum::<u64>(), 2_002);
        let one = of([json!(1e300)]).numbers.unwrap();
        assert_eq!((one.mean, one.histogram.counts), (1e300, vec![1]));
    }
}
