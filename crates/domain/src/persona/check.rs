//! What makes a persona model or a profile unusable, though each field alone is well-formed.

use std::collections::{BTreeMap, BTreeSet};

use strum::VariantArray;

use super::{Complexity, Correlation, PersonaModel, Profile};
use crate::patch::join;
use crate::problem::did_you_mean;

/// The pointer of a field, and what is wrong with it.
pub type Finding = (String, String);

impl PersonaModel {
    /// All that is wrong with the model itself.
    pub fn problems(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let [low, high] = self.breakpoints;
        if !(0.0 <= low && low <= high && high <= 1.0) {
            found.push(("/breakpoints".into(), "expected two values in [0, 1], the smaller one first".into()));
        }
        for (i, rule) in self.correlations.iter().enumerate() {
            found.extend(self.rule_problems(rule, &format!("/correlations/{i}")));
        }
        for (intent, deltas) in &self.intent_deltas {
            found.extend(unknown(&join("/intent_deltas", intent), "emotion", &names(deltas), &names(&self.emotions)));
        }
        if let Some(correlation) = &self.trait_correlation {
            let named: BTreeSet<&str> = correlation.traits.iter().map(String::as_str).collect();
            found.extend(unknown("/trait_correlation/traits", "trait", &named, &names(&self.traits)));
            found.extend(correlation.factor().err().map(|why| ("/trait_correlation/matrix".into(), why)));
            if named.len() < correlation.traits.len() {
                found.push(("/trait_correlation/traits".into(), "a trait is named twice".into()));
            }
        }
        found.extend(self.tier_problems());
        if let Some(rule) = self.walks_out.as_ref().filter(|rule| !self.traits.contains_key(&rule.patience)) {
            let hint = did_you_mean(&rule.patience, self.traits.keys().map(String::as_str));
            found.push(("/walks_out/trait".into(), format!("there is no trait `{}`{hint}", rule.patience)));
        }
        found
    }

    fn rule_problems(&self, rule: &Correlation, at: &str) -> Vec<Finding> {
        let scales = &names(&self.traits) | &names(&self.emotions);
        let mut found = unknown(&format!("{at}/above"), "trait or emotion", &names(&rule.above), &scales);
        found.extend(unknown(&format!("{at}/below"), "trait or emotion", &names(&rule.below), &scales));
        if rule.above.len() + rule.below.len() < 2 {
            found.push((at.to_owned(), "a rule needs at least two thresholds".into()));
        }
        found
    }

    fn tier_problems(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for name in Complexity::VARIANTS {
            let at = join("/complexity", name.into_str());
            match self.complexity.get(name) {
                None => found.push(("/complexity".into(), format!("the tier `{name}` is missing"))),
                Some(tier) if tier.words[0] > tier.words[1] => {
                    found.push((join(&at, "words"), "the fewest words are more than the most".into()));
                }
                Some(tier) if tier.weight < 0.0 => found.push((join(&at, "weight"), "must not be negative".into())),
                Some(_) => {}
            }
        }
        let scales = &names(&self.traits) | &names(&self.emotions);
        for (name, tier) in &self.complexity {
            for (i, rule) in tier.favoured.iter().enumerate() {
                let at = format!("/complexity/{name}/favoured/{i}");
                found.extend(unknown(&format!("{at}/above"), "trait or emotion", &names(&rule.above), &scales));
                found.extend(unknown(&format!("{at}/below"), "trait or emotion", &names(&rule.below), &scales));
            }
        }
        if self.complexity.values().map(|tier| tier.weight).sum::<f64>() <= 0.0 {
            found.push(("/complexity".into(), "no tier has a weight above 0".into()));
        }
        found
    }

    /// All that is wrong with a profile of this model: it says something of every dimension and of nothing else.
    pub fn problems_of(&self, profile: &Profile) -> Vec<Finding> {
        let mut found =
            same_names("/demographics", "attribute", &names(&profile.demographics), &names(&self.demographics));
        found.extend(same_names("/traits", "trait", &names(&profile.traits), &names(&self.traits)));
        found.extend(same_names("/emotions", "emotion", &names(&profile.emotions), &names(&self.emotions)));
        for (name, weights) in &profile.demographics {
            let at = join("/demographics", name);
            if let Some(options) = self.demographics.get(name) {
                found.extend(unknown(&at, "option", &names(weights), &names(options)));
            }
            if weights.values().any(|w| *w < 0.0) || weights.values().sum::<f64>() <= 0.0 {
                found.push((at, "weights must not be negative, and one must be above 0".into()));
            }
        }
        let unit = 0.0..=1.0;
        for (name, base) in profile.traits.iter().filter(|(_, base)| !unit.contains(*base)) {
            found.push((join("/traits", name), format!("expected a value in [0, 1], found {base}")));
        }
        for (name, [low, high]) in &profile.emotions {
            if !unit.contains(low) || !unit.contains(high) || low > high {
                found.push((join("/emotions", name), "expected a range within [0, 1], the smaller end first".into()));
            }
        }
        found
    }
}

fn names<V>(map: &BTreeMap<String, V>) -> BTreeSet<&str> {
    map.keys().map(String::as_str).collect()
}

fn unknown(at: &str, kind: &str, used: &BTreeSet<&str>, known: &BTreeSet<&str>) -> Vec<Finding> {
    let hint = |name: &str| did_you_mean(name, known.iter().copied());
    used.difference(known).map(|name| (at.to_owned(), format!("there is no {kind} `{name}`{}", hint(name)))).collect()
}

fn same_names(at: &str, kind: &str, used: &BTreeSet<&str>, known: &BTreeSet<&str>) -> Vec<Finding> {
    let missing = known.difference(used).map(|name| (at.to_owned(), format!("the {kind} `{name}` is missing")));
    missing.chain(unknown(at, kind, used, known)).collect()
}
