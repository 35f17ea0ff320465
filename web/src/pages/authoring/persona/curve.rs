//! The distributions that personas are drawn from, as curves.

use std::fmt::Write;

use domain::persona::Spread;

pub const WIDTH: f64 = 100.0;
pub const HEIGHT: f64 = 24.0;
/// Points of a curve.
const POINTS: u32 = 80;

/// The outline of the density, filled down to the ground: an SVG path within [`WIDTH`] and [`HEIGHT`]. The highest
/// point is as high as the picture: it shows a shape, and narrow curves are seen as well as wide ones.
pub fn path(spread: Spread) -> String {
    let density = |x: f64| match spread {
        Spread::Normal { base, sigma } => (-0.5 * ((x - base) / sigma.max(0.004)).powi(2)).exp(),
        Spread::Uniform { low, high } => {
            if x >= low - 0.007 && x <= high.max(low) + 0.007 {
                1.0
            } else {
                0.0
            }
        }
    };
    let mut path = format!("M0 {HEIGHT}");
    for i in 0..=POINTS {
        let x = f64::from(i) / f64::from(POINTS);
        let _ = write!(path, "L{:.1} {:.1}", x * WIDTH, HEIGHT * (1.0 - 0.95 * density(x)));
    }
    let _ = write!(path, "L{WIDTH} {HEIGHT}Z");
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_the_picture() {
        for spread in [Spread::Normal { base: 0.9, sigma: 0.0 }, Spread::Uniform { low: 0.0, high: 1.0 }] {
            let path = path(spread);
            assert!(path.starts_with("M0 24L0.0 ") && path.ends_with("L100 24Z") && !path.contains("NaN"), "{path}");
        }
    }
}
