//! What a value of a persona is drawn from, as [`PersonaModel::draw`](super::PersonaModel::draw) draws it: a trait is
//! N(base, sigma) clipped to [0, 1], so that its ends may hold a share of their own; an emotion is uniform in its range.

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
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::persona::Persona;

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
    fn personas_are_drawn_from_it() {
        let model = super::super::tests::model();
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for base in [0.0, 0.3, 0.66] {
            let profile = super::super::tests::profile(base);
            let drawn: Vec<Persona> = (0..4_000).map(|_| model.draw(&profile, "", &mut rng)).collect();
            let [low, high] = [profile.emotions["stress"][0], profile.emotions["stress"][1]];
            let patience: fn(&Persona) -> f64 = |persona| persona.traits["patience"];
            let stress: fn(&Persona) -> f64 = |persona| persona.emotions["stress"];
            for (value, spread) in
                [(patience, Spread::Normal { base, sigma: model.sigma }), (stress, Spread::Uniform { low, high })]
            {
                let share = |fits: &dyn Fn(f64) -> bool| {
                    f64::from(u32::try_from(drawn.iter().filter(|one| fits(value(one))).count()).unwrap()) / 4_000.0
                };
                let [one, two] = model.breakpoints;
                let found = [share(&|v| v < one), share(&|v| v >= one && v < two), share(&|v| v >= two)];
                for (found, told) in found.into_iter().zip(spread.shares(model.breakpoints)) {
                    assert!((found - told).abs() < 0.03, "{spread:?}: {found} is not {told}");
                }
                let ends = [share(&|v| v <= 0.0), share(&|v| v >= 1.0)];
                for (found, told) in ends.into_iter().zip(spread.clipped()) {
                    assert!((found - told).abs() < 0.03, "{spread:?}: {found} at an end is not {told}");
                }
            }
        }
    }
}
