//! Intervals of 95 % confidence.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::distribution::Moments;
use super::student;

/// Of the normal distribution, for 95 % in the middle.
const Z: f64 = 1.959_963_984_540_054;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// A share of all, with the interval in which it lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Rate {
    /// How many of how many.
    pub count: u64,
    pub of: u64,
    /// From 0 to 1.
    pub rate: f64,
    /// Wilson's, of 95 % confidence.
    pub interval: Interval,
}

/// Wilson's score interval. `None` of nothing.
///
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
/// Statistical Association 22(158), 1927.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub fn wilson(count: u64, of: u64) -> Option<Rate> {
    if of == 0 {
        return None;
    }
    let (n, rate) = (of as f64, count as f64 / of as f64);
    let scale = 1.0 + Z * Z / n;
    let middle = (rate + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
    // At the ends the interval is exact; what is computed is nearly so.
    let low = if count == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if count == of { 1.0 } else { (middle + half).min(1.0) };
    Some(Rate { count, of, rate, interval: Interval { low, high } })
}

/// Student's interval of a mean. `None` of a single number.
///
/// Source: Student, "The probable error of a mean", Biometrika 6(1), 1908.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub fn of_mean(moments: &Moments) -> Option<Interval> {
    let n = moments.n as f64;
    let half = student::quantile(0.975, n - 1.0) * (moments.variance? / n).sqrt();
    Some(Interval { low: moments.mean - half, high: moments.mean + half })
}

/// How much larger the second rate is, by Newcombe's hybrid score interval (his method 10).
///
/// Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven
/// methods", Statistics in Medicine 17(8), 1998.
pub fn difference_of_rates(one: &Rate, other: &Rate) -> (f64, Interval) {
    let difference = other.rate - one.rate;
    let below = (other.rate - other.interval.low).hypot(one.interval.high - one.rate);
    let above = (other.interval.high - other.rate).hypot(one.rate - one.interval.low);
    (difference, Interval { low: difference - below, high: difference + above })
}

/// How much larger the second mean is, by Welch's interval, whose variances may differ. `None` for fewer than two numbers
/// on a side.
///
/// Source: B. L. Welch, "The generalization of 'Student's' problem when several different population variances are
/// involved", Biometrika 34, 1947; degrees of freedom by F. E. Satterthwaite, Biometrics Bulletin 2(6), 1946.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub fn difference_of_means(one: &Moments, other: &Moments) -> Option<(f64, Interval)> {
    let difference = other.mean - one.mean;
    let share = |moments: &Moments| Some((moments.variance? / moments.n as f64, (moments.n - 1) as f64));
    let ((a, freedom_a), (b, freedom_b)) = (share(one)?, share(other)?);
    let error = a + b;
    if error <= 0.0 {
        return Some((difference, Interval { low: difference, high: difference }));
    }
    let freedom = error * error / (a * a / freedom_a + b * b / freedom_b);
    let half = student::quantile(0.975, freedom) * error.sqrt();
    Some((difference, Interval { low: difference - half, high: difference + half }))
}
