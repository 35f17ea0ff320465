//! Student's distribution.

/// The value below which lies so much of the distribution, for a share above one half.
pub fn quantile(share: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while below(high, freedom) < share && high < 1e12 {
        high *= 2.0;
    }
    // Each step halves the distance: after these nothing is left of it.
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if below(middle, freedom) < share { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// How much of the distribution lies below a value that is not negative.
fn below(value: f64, freedom: f64) -> f64 {
    1.0 - 0.5 * incomplete_beta(freedom / (freedom + value * value), freedom / 2.0, 0.5)
}

/// The regularised incomplete beta function, as a continued fraction by Lentz's method.
///
/// Source: W. H. Press and others, "Numerical Recipes", third edition, 2007, section 6.4; DLMF 8.17.22.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges fast on this side only; the function is symmetric.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

#[expect(clippy::many_single_char_names, reason = "the letters of the source")]
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let kept = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / kept(1.0 - (a + b) * x / (a + 1.0)));
    let mut result = d;
    for i in 1..10_000_i32 {
        let m = f64::from(i);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = result;
        for term in [even, odd] {
            d = 1.0 / kept(1.0 + term * d);
            c = kept(1.0 + term / c);
            result *= c * d;
        }
        if (result - before).abs() <= 1e-16 * result.abs() {
            break;
        }
    }
    result
}

/// Lanczos' approximation, for values above 0.
///
/// Source: C. Lanczos, "A precision approximation of the gamma function", SIAM Journal on Numerical Analysis 1, 1964;
/// coefficients for g = 7 and n = 9.
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (std::f64::consts::PI / (std::f64::consts::PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let (mut sum, mut i) = (0.999_999_999_999_809_9, 0.0);
    for coefficient in COEFFICIENTS {
        i += 1.0;
        sum += coefficient / (x + i);
    }
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}
