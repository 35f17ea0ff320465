//! What an export is to be: which rows, in which shape, for which trainer.

mod profile;
mod report;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

pub use profile::{Arguments, Data, Profile, Reasoning, Shape, Toggles, ToolsAs};
pub use report::{DatasetSummary, ExportPart, ExportReport, GroupReport, PairReport, RowReport};

/// Everything that decides which bytes an export holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportSpec {
    pub source: SourceSpec,
    #[serde(default)]
    pub profile: Profile,
    /// Differences from the profile's defaults.
    #[serde(default)]
    pub toggles: Toggles,
    /// Only for profiles of preference pairs.
    #[serde(default)]
    pub pairs: PairRule,
}

impl ExportSpec {
    /// # Errors
    /// Where in the document, as a JSON pointer, something cannot be done, and why.
    pub fn shape(&self) -> Result<Shape, Vec<(String, String)>> {
        let mut wrong: Vec<(String, String)> = Vec::new();
        let shape = self.profile.settle(&self.toggles).map_err(|found| {
            wrong.extend(found.into_iter().map(|(name, message)| (format!("/toggles/{name}"), message)));
        });
        if !(0.0..=10.0).contains(&self.pairs.margin) {
            wrong.push(("/pairs/margin".to_owned(), format!("expected 0 to 10, found {}", self.pairs.margin)));
        }
        match shape {
            Ok(shape) if wrong.is_empty() => Ok(shape),
            _ => Err(wrong),
        }
    }
}

/// Where the rows come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SourceSpec {
    Run(RunRows),
    Corpus(CorpusRows),
}

/// Conversations of a run that were played to their end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRows {
    /// Id of the run.
    pub id: String,
    /// Id of the judging whose verdicts count. Default: the run's own judging.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<String>,
    /// Also write scores that are corrected by the judge's calibration against people's ratings.
    #[serde(default)]
    pub corrected: bool,
    /// Also write conversations that were not accepted. Profiles of preference pairs and of groups always read them.
    #[serde(default)]
    pub all: bool,
    /// Also write what each sub-agent did, as a row of its own.
    #[serde(default)]
    pub branches: bool,
}

/// The conversations of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CorpusRows {
    /// Id of the corpus.
    pub id: String,
    /// Default: the training part, or a file for each part where the profile writes several files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// Also write conversations that were not accepted. Profiles of preference pairs and of groups always read them.
    #[serde(default)]
    pub all: bool,
    #[serde(default)]
    pub branches: bool,
}

/// What a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
#[schema(as = ExportSplit)]
pub enum Split {
    Train,
    /// For tests: kept apart to measure the effect of training.
    Golden,
}

/// When one answer is preferred to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PairRule {
    pub score: Score,
    /// How much higher the chosen conversation must score at least, 0 to 10. With 0, any difference is enough.
    #[schema(minimum = 0, maximum = 10)]
    pub margin: f64,
}

impl Default for PairRule {
    fn default() -> Self {
        Self { score: Score::Overall, margin: 1.0 }
    }
}

/// One of the two total scores of a verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
#[schema(as = ExportScore)]
pub enum Score {
    /// The judge's own score for the whole conversation.
    #[default]
    Overall,
    /// The mean of its criteria by weight.
    WeightedMean,
}
