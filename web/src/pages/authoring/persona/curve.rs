//! The distributions that personas are drawn from, as curves and shares.
//!
//! A trait is N(base, sigma) clipped to [0, 1], so its ends may hold a share of their own; an emotion is uniform in its
//! range (`domain::persona::PersonaModel::draw`).

use std::fmt::Write;

pub const WIDTH: f64 = 100.0;
pub const HEIGHT: f64 = 24.0;
/// Points of a curve.
const POINTS: u32 = 80;

/// What a number is drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    Normal { base: f64, sigma: f64 },
    Uniform { low: f64, high: f64 },
}

impl Spread {
    /// The share of values below a bound, before they are clipped.
    pub fn below(self, bound: f64) -> f64 {
        match self {
            Self::Normal { base, sigma } if sigma <= 0.0 => share(base < bound),
            Self::Normal { base, sigma } => normal((bound - base) / sigma),
            Self::Uniform { low, high } if high <= low => share(low < bound),
            Self::Uniform { low, high } => ((bound - low) / (high - low)).clamp(0.0, 1.0),
        }
    }

    /// Shares of low, medium and high values, by the model's breakpoints.
    pub fn shares(self, [low, high]: [f64; 2]) -> [f64; 3] {
        let (low, high) = (self.below(low), self.below(high));
        [low, high - low, 1.0 - high]
    }

    /// The outline of the density, filled down to the ground: an SVG path within [`WIDTH`] and [`HEIGHT`]. The highest
    /// point is as high as the picture: it shows a shape, and narrow curves are seen as well as wide ones.
    pub fn path(self) -> String {
        let density = |x: f64| match self {
            Self::Normal { base, sigma } => (-0.5 * ((x - base) / sigma.max(0.004)).powi(2)).exp(),
            Self::Uniform { low, high } => share(x >= low - 0.007 && x <= high.max(low) + 0.007),
        };
        let mut path = format!("M0 {HEIGHT}");
        for i in 0..=POINTS {
            let x = f64::from(i) / f64::from(POINTS);
            let _ = write!(path, "L{:.1} {:.1}", x * WIDTH, HEIGHT * (1.0 - 0.95 * density(x)));
        }
        let _ = write!(path, "L{WIDTH} {HEIGHT}Z");
        path
    }

    /// The shares that clipping puts at exactly 0 and exactly 1.
    pub fn clipped(self) -> [f64; 2] {
        match self {
            Self::Normal { .. } => [self.below(0.0), 1.0 - self.below(1.0)],
            Self::Uniform { .. } => [0.0, 0.0],
        }
    }

    pub fn middle(self) -> f64 {
        match self {
            Self::Normal { base, .. } => base,
            Self::Uniform { low, high } => f64::midpoint(low, high),
        }
    }
}

/// All or nothing.
fn share(all: bool) -> f64 {
    if all { 1.0 } else { 0.0 }
}

/// The cumulative standard normal distribution, by Abramowitz and Stegun 26.2.17; the error is below 1e-7.
fn normal(z: f64) -> f64 {
    const B: [f64; 5] = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let sum = B.iter().rev().fold(0.0, |sum, b| (sum + b) * t);
    let tail = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() * sum;
    if z > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(shares: [f64; 3]) -> [String; 3] {
        shares.map(|share| format!("{:.1}", share * 100.0))
    }

    #[test]
    fn shares_are_those_of_the_distribution() {
        let normal = Spread::Normal { base: 0.35, sigma: 0.1 };
        assert_eq!(percent(normal.shares([0.35, 0.55])), ["50.0", "47.7", "2.3"]);
        let uniform = Spread::Uniform { low: 0.2, high: 0.6 };
        assert_eq!(percent(uniform.shares([0.35, 0.7])), ["37.5", "62.5", "0.0"]);
        let point = Spread::Uniform { low: 0.4, high: 0.4 };
        assert_eq!(percent(point.shares([0.35, 0.7])), ["0.0", "100.0", "0.0"]);
    }

    #[test]
    fn what_is_clipped_stands_at_the_ends() {
        let [zero, one] = Spread::Normal { base: 0.0, sigma: 0.1 }.clipped();
        assert!((zero - 0.5).abs() < 1e-6 && one < 1e-6);
    }

    #[test]
    fn a_path_stays_in_the_picture() {
        for spread in [Spread::Normal { base: 0.9, sigma: 0.0 }, Spread::Uniform { low: 0.0, high: 1.0 }] {
            let path = spread.path();
            assert!(path.starts_with("M0 24L0.0 ") && path.ends_with("L100 24Z") && !path.contains("NaN"), "{path}");
        }
    }
}
