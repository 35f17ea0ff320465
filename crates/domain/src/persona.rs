//! Personas: who the simulated user is. Distributions and guidance are data; drawing from them is code.

mod check;
mod copula;
mod draw;
mod spread;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

pub use spread::Spread;

/// How each user turn is phrased, for any persona.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, ToSchema, Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Complexity {
    Simple,
    #[default]
    Medium,
    Complex,
    Vague,
}

/// How often each complexity is used: weights, of which only the ratio counts.
pub type ComplexityMix = BTreeMap<Complexity, f64>;

/// personas/model.yaml: what all profiles share.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonaModel {
    /// Standard deviation of the behavioural traits around a profile's base.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub sigma: f64,
    /// A value below the first number is low, below the second medium, else high.
    pub breakpoints: [f64; 2],
    /// Categorical attributes: name -> option -> guidance for the simulated user.
    pub demographics: BTreeMap<String, BTreeMap<String, String>>,
    /// Behavioural traits in [0, 1]: name -> guidance by bucket.
    pub traits: BTreeMap<String, Buckets>,
    /// Emotional states in [0, 1]: name -> guidance by bucket.
    pub emotions: BTreeMap<String, Buckets>,
    /// Intent -> emotion -> how much the intent shifts it.
    #[serde(default)]
    pub intent_deltas: BTreeMap<String, BTreeMap<String, f64>>,
    /// Sentences that are added to the guidance of some users.
    #[serde(default)]
    pub correlations: Vec<Correlation>,
    /// Correlations of traits; without it traits are drawn independently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trait_correlation: Option<TraitCorrelation>,
    /// How users phrase their messages, for each of the four complexities.
    pub complexity: BTreeMap<Complexity, Tier>,
    /// When a user walks out; without it no user does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walks_out: Option<WalksOut>,
    /// Words that mark a question of the agent as an offer to end. After any other question the user must not end.
    #[serde(default)]
    pub closing_questions: Vec<String>,
}

/// Instructions to the simulated user, one for each range of its value.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Buckets {
    /// Instruction to a user with a low value.
    pub low: String,
    /// Instruction to a user with a medium value.
    pub medium: String,
    /// Instruction to a user with a high value.
    pub high: String,
}

/// A sentence that is added to the guidance when all its thresholds are crossed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Correlation {
    /// Trait or emotion -> lower bound.
    #[serde(default)]
    pub above: BTreeMap<String, f64>,
    /// Trait or emotion -> upper bound.
    #[serde(default)]
    pub below: BTreeMap<String, f64>,
    /// The sentence.
    pub guidance: String,
}

/// How users of one complexity write.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Fewest and most words of a turn. The lower limit holds only for the first turn: "Yes, please." is a good answer.
    pub words: [u32; 2],
    /// Words above the upper limit that are still accepted.
    #[serde(default)]
    pub spare_words: u32,
    /// Whether the first turn must not say what the user wants.
    #[serde(default)]
    pub hides_intent: bool,
    /// Instruction on how to write.
    pub guidance: String,
    /// Weight if the run names none.
    pub weight: f64,
    /// Personas that speak like this more or less often than others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub favoured: Vec<ComplexityFactor>,
}

/// Multiplies the weight of a complexity for a persona that crosses all these thresholds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComplexityFactor {
    /// Trait or emotion -> lower bound.
    #[serde(default)]
    pub above: BTreeMap<String, f64>,
    /// Trait or emotion -> upper bound.
    #[serde(default)]
    pub below: BTreeMap<String, f64>,
    /// The weight is multiplied by this.
    #[schemars(range(min = 0.0))]
    pub factor: f64,
}

/// A user walks out instead of answering one more question, after a number of answers that depends on the bucket of a
/// trait. A user in the high bucket never walks out.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WalksOut {
    /// The trait that says how patient a user is.
    #[serde(rename = "trait")]
    pub patience: String,
    /// How many questions a user in the low bucket answers. It walks out at the next one.
    pub low: u32,
    /// How many questions a user in the medium bucket answers. It walks out at the next one.
    pub medium: u32,
}

/// A Gaussian copula with normal margins: the correlations of the traits before they are clipped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraitCorrelation {
    /// The traits of the rows and columns. Traits that are left out stay independent.
    pub traits: Vec<String>,
    /// Symmetric, 1 on the diagonal, positive semi-definite.
    pub matrix: Vec<Vec<f64>>,
}

/// personas/profiles/*.yaml: one kind of person.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    #[schemars(regex(pattern = r"^[a-z0-9_]{1,64}$"))]
    pub name: String,
    /// One or two sentences about the person, for people to read.
    pub description: String,
    /// Attribute -> option -> weight.
    pub demographics: BTreeMap<String, BTreeMap<String, f64>>,
    /// Trait -> base value in [0, 1].
    pub traits: BTreeMap<String, f64>,
    /// Emotion -> range that it is drawn from.
    pub emotions: BTreeMap<String, [f64; 2]>,
}

/// One drawn persona: 6 attributes, 12 traits, 5 emotions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Persona {
    pub profile: String,
    pub demographics: BTreeMap<String, String>,
    pub traits: BTreeMap<String, f64>,
    pub emotions: BTreeMap<String, f64>,
}

/// How one simulated user is to speak; the turn gate holds it to that.
#[derive(Debug, Clone, Default)]
pub struct Speech {
    pub tier: Option<Tier>,
    pub closing_questions: Vec<String>,
    /// How many questions it answers before it may walk out on the next one; `None`: as many as there are.
    pub answers: Option<u32>,
}

impl PersonaModel {
    pub fn speech(&self, persona: &Persona, complexity: Complexity) -> Speech {
        Speech {
            tier: self.complexity.get(&complexity).cloned(),
            closing_questions: self.closing_questions.clone(),
            answers: self.answers(persona),
        }
    }

    fn answers(&self, persona: &Persona) -> Option<u32> {
        let rule = self.walks_out.as_ref()?;
        let value = *persona.traits.get(&rule.patience)?;
        let [low, high] = self.breakpoints;
        if value < low { Some(rule.low) } else { (value < high).then_some(rule.medium) }
    }
}

#[cfg(test)]
mod tests;
