//! The moments of numbers that come one at a time.

use super::distribution::Moments;

/// Source: B. P. Welford, "Note on a method for calculating corrected sums of squares and products", Technometrics 4(3),
/// 1962.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunningMoments {
    n: u64,
    mean: f64,
    squares: f64,
}

impl RunningMoments {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn add(&mut self, value: f64) {
        self.n += 1;
        let distance = value - self.mean;
        self.mean += distance / self.n as f64;
        self.squares += distance * (value - self.mean);
    }

    /// `None` if there were no numbers.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn moments(&self) -> Option<Moments> {
        let Self { n, mean, squares } = *self;
        (n > 0).then(|| Moments { n, mean, variance: (n > 1).then(|| squares / (n - 1) as f64) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_all_numbers_at_once() {
        let values = [3_u32, 3, 7, 0, 12];
        let mut running = RunningMoments::default();
        assert_eq!(running.moments(), None);
        values.iter().for_each(|value| running.add(f64::from(*value)));
        let (found, expected) = (running.moments(), Moments::of(values.iter().map(|value| (*value, 1))));
        let (found, expected) = (found.expect("there are some"), expected.expect("there are some"));
        assert!((found.mean - expected.mean).abs() < 1e-12 && found.n == expected.n);
        let [found, expected] = [found, expected].map(|moments| moments.variance.expect("of five"));
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }
}
