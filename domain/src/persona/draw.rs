//! Drawing a persona from a profile, and saying it in words.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Normal};

use super::{Buckets, Complexity, Persona, PersonaModel, Profile};

impl PersonaModel {
    /// Draws one person. The same generator state gives the same person on every machine.
    ///
    /// Attributes are categorical; traits are N(base, sigma) clipped to [0, 1]; emotions are uniform in the profile's
    /// range, shifted by what the intent does to people, clipped.
    pub fn draw(&self, profile: &Profile, intent: &str, rng: &mut impl Rng) -> Persona {
        let demographics =
            profile.demographics.iter().map(|(name, weights)| (name.clone(), pick(weights, rng))).collect();
        let traits = profile.traits.iter().map(|(name, base)| (name.clone(), self.around(*base, rng))).collect();
        let deltas = self.intent_deltas.get(intent);
        let emotions = profile
            .emotions
            .iter()
            .map(|(name, [low, high])| {
                let shift = deltas.and_then(|d| d.get(name)).copied().unwrap_or(0.0);
                let drawn = low + (high - low) * rng.random::<f64>();
                (name.clone(), unit(drawn + shift))
            })
            .collect();
        Persona { profile: profile.name.clone(), demographics, traits, emotions }
    }

    fn around(&self, base: f64, rng: &mut impl Rng) -> f64 {
        match Normal::new(base, self.sigma) {
            Ok(normal) => unit(normal.sample(rng)),
            Err(_) => unit(base),
        }
    }

    /// Draws a complexity by the tiers' weights.
    pub fn draw_complexity(&self, rng: &mut impl Rng) -> Complexity {
        let weights: BTreeMap<Complexity, f64> = self.complexity.iter().map(|(c, tier)| (*c, tier.weight)).collect();
        pick(&weights, rng)
    }

    /// What the person who plays this persona is told, one sentence or two a line.
    pub fn guidance(&self, persona: &Persona) -> Vec<String> {
        let demographics =
            persona.demographics.iter().filter_map(|(name, option)| self.demographics.get(name)?.get(option));
        let scales = persona
            .traits
            .iter()
            .map(|t| (t, &self.traits))
            .chain(persona.emotions.iter().map(|e| (e, &self.emotions)));
        let buckets = scales.filter_map(|((name, value), known)| Some(self.bucket(known.get(name)?, *value)));
        let value = |name: &String| persona.traits.get(name).or_else(|| persona.emotions.get(name)).copied();
        let rules = self.correlations.iter().filter(|rule| {
            rule.above.iter().all(|(name, bound)| value(name).is_some_and(|v| v > *bound))
                && rule.below.iter().all(|(name, bound)| value(name).is_some_and(|v| v < *bound))
        });
        demographics.chain(buckets).chain(rules.map(|r| &r.guidance)).cloned().collect()
    }

    fn bucket<'a>(&self, buckets: &'a Buckets, value: f64) -> &'a String {
        let [low, high] = self.breakpoints;
        if value < low {
            &buckets.low
        } else if value < high {
            &buckets.medium
        } else {
            &buckets.high
        }
    }
}

/// In [0, 1] and short enough to read: three decimals.
fn unit(value: f64) -> f64 {
    (value.clamp(0.0, 1.0) * 1000.0).round() / 1000.0
}

/// One key, with probability proportional to its weight.
fn pick<K: Clone + Default>(weights: &BTreeMap<K, f64>, rng: &mut impl Rng) -> K {
    let mut left = rng.random::<f64>() * weights.values().sum::<f64>();
    for (key, weight) in weights {
        left -= weight;
        if left < 0.0 {
            return key.clone();
        }
    }
    weights.keys().next_back().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn model() -> PersonaModel {
        let bucket =
            |n: &str| Buckets { low: format!("low {n}"), medium: format!("medium {n}"), high: format!("high {n}") };
        PersonaModel {
            sigma: 0.1,
            breakpoints: [0.35, 0.7],
            demographics: [("channel".into(), [("app".into(), "You type on a phone.".into())].into())].into(),
            traits: [("patience".into(), bucket("patience"))].into(),
            emotions: [("stress".into(), bucket("stress"))].into(),
            intent_deltas: [("dispute".into(), [("stress".into(), 0.4)].into())].into(),
            correlations: vec![super::super::Correlation {
                above: [("stress".into(), 0.7)].into(),
                below: [("patience".into(), 0.5)].into(),
                guidance: "You are about to hang up.".into(),
            }],
            complexity: [].into(),
        }
    }

    fn profile(patience: f64) -> Profile {
        Profile {
            name: "p".into(),
            description: String::new(),
            demographics: [("channel".into(), [("app".into(), 1.0)].into())].into(),
            traits: [("patience".into(), patience)].into(),
            emotions: [("stress".into(), [0.2, 0.4])].into(),
        }
    }

    #[test]
    fn traits_scatter_around_the_base_and_stay_in_the_unit_interval() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let drawn: Vec<f64> = (0..4000).map(|_| model().draw(&profile(0.5), "", &mut rng).traits["patience"]).collect();
        let within = drawn.iter().filter(|v| (**v - 0.5).abs() <= 0.2).count();
        assert!((3740..=3900).contains(&within), "95 % of a normal lie within two sigma, found {within} of 4000");
        let clipped = (0..200).map(|_| model().draw(&profile(0.99), "", &mut rng).traits["patience"]);
        assert!(clipped.into_iter().all(|v| (0.0..=1.0).contains(&v)));
    }

    #[test]
    fn intents_shift_emotions_and_rules_fire_on_both_thresholds() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let calm = model().draw(&profile(0.2), "fees", &mut rng);
        let upset = model().draw(&profile(0.2), "dispute", &mut rng);
        assert!(calm.emotions["stress"] <= 0.4 && upset.emotions["stress"] >= 0.6);
        let mut persona = upset;
        persona.emotions.insert("stress".into(), 0.75);
        persona.traits.insert("patience".into(), 0.2);
        insta::assert_debug_snapshot!(model().guidance(&persona), @r#"
        [
            "You type on a phone.",
            "low patience",
            "high stress",
            "You are about to hang up.",
        ]
        "#);
    }

    #[test]
    fn the_same_seed_draws_the_same_person() {
        let draw = || model().draw(&profile(0.5), "dispute", &mut ChaCha8Rng::seed_from_u64(9));
        assert_eq!(draw(), draw());
    }
}
