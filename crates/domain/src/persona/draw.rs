//! Drawing a persona from a profile, and saying it in words.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use super::{Buckets, Complexity, ComplexityMix, Persona, PersonaModel, Profile, Tier};

impl PersonaModel {
    /// Draws one person. The same generator state gives the same person on every machine.
    ///
    /// Attributes are categorical; traits are N(base, sigma), correlated if the model says so, clipped to [0, 1];
    /// emotions are uniform in the profile's range, shifted by what the intent does to people, clipped.
    pub fn draw(&self, profile: &Profile, intent: &str, rng: &mut impl Rng) -> Persona {
        let demographics =
            profile.demographics.iter().map(|(name, weights)| (name.clone(), pick(weights, rng))).collect();
        let deviations = self.deviations(profile, rng);
        let traits = profile
            .traits
            .iter()
            .map(|(name, base)| (name.clone(), unit(base + self.sigma * deviations[name.as_str()])))
            .collect();
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

    /// How far each trait lies from its base, in sigmas.
    fn deviations<'a>(&self, profile: &'a Profile, rng: &mut impl Rng) -> BTreeMap<&'a str, f64> {
        let mut deviations: BTreeMap<&str, f64> =
            profile.traits.keys().map(|name| (name.as_str(), StandardNormal.sample(rng))).collect();
        if let Some(correlation) = &self.trait_correlation {
            correlation.correlate(&mut deviations);
        }
        deviations
    }

    /// Draws how a person phrases its turns, by the tiers' weights and by whom they favour.
    pub fn draw_complexity(&self, persona: &Persona, rng: &mut impl Rng) -> Complexity {
        let weight = |tier: &Tier| {
            let favoured = tier.favoured.iter().filter(|rule| crosses(persona, &rule.above, &rule.below));
            tier.weight * favoured.map(|rule| rule.factor).product::<f64>()
        };
        let weights: BTreeMap<Complexity, f64> = self.complexity.iter().map(|(c, tier)| (*c, weight(tier))).collect();
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
        let rules = self.correlations.iter().filter(|rule| crosses(persona, &rule.above, &rule.below));
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

/// Whether a persona crosses all these thresholds.
fn crosses(persona: &Persona, above: &BTreeMap<String, f64>, below: &BTreeMap<String, f64>) -> bool {
    let value = |name: &String| persona.traits.get(name).or_else(|| persona.emotions.get(name)).copied();
    above.iter().all(|(name, bound)| value(name).is_some_and(|v| v > *bound))
        && below.iter().all(|(name, bound)| value(name).is_some_and(|v| v < *bound))
}

/// In [0, 1] and short enough to read: three decimals.
fn unit(value: f64) -> f64 {
    (value.clamp(0.0, 1.0) * 1000.0).round() / 1000.0
}

/// One key, with probability proportional to its weight.
impl Complexity {
    /// Draws by a mix alone, whoever the user is; `Medium` if it is empty.
    pub fn drawn(mix: &ComplexityMix, rng: &mut impl Rng) -> Self {
        pick(mix, rng)
    }
}

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
