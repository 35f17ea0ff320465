//! For whom: each profile is the exact shape that one kind of trainer loads as it is.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::problem::did_you_mean;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str, parse_err_ty = String, parse_err_fn = unknown)]
pub enum Profile {
    /// A bundle for the Hugging Face Hub: a card that declares the columns, the data, and Croissant.
    #[default]
    Huggingface,
    /// The canonical rows as they are.
    Canonical,
    /// TRL, and `NeMo` with tools as an array.
    Trl,
    /// Supervised fine-tuning at `OpenAI` and Azure.
    Openai,
    /// Preference pairs for `OpenAI`, Azure, Together and Fireworks.
    OpenaiDpo,
    /// Preference pairs for TRL.
    TrlDpo,
    /// LLaMA-Factory's `ShareGPT` shape.
    Llamafactory,
    MsSwift,
    /// Prompts for reinforcement learning with verl.
    Verl,
    /// Groups of samples with their rewards, for training from rewards.
    Groups,
    /// Groups of samples as traces of verifiers and prime-rl, a line for each sample.
    Verifiers,
    /// Groups of samples as trajectories of ART.
    Art,
    /// Turns of the agent, labelled by the reward of their sample, for TRL's `KTOTrainer`.
    TrlKto,
    /// Prompts for reinforcement learning with verl, one for each group, with its solve rate.
    VerlGroups,
    /// Columns of JSON text, which every version of `datasets` reads.
    JsonStrings,
}

/// What becomes of what the model thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Reasoning {
    /// `reasoning_content`, beside the content.
    Keep,
    /// `<think>` before the content, within it.
    Inline,
    Drop,
}

/// How the arguments of a call are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Arguments {
    /// JSON text, as on the wire.
    String,
    /// What most chat templates need.
    Object,
}

/// How the descriptions of tools are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ToolsAs {
    Array,
    /// JSON text: tools of unlike schemas need not share one type.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Data {
    Jsonl,
    Parquet,
}

/// What differs from a profile's defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Toggles {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Arguments>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsAs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
}

/// A profile with every toggle decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub profile: Profile,
    pub reasoning: Reasoning,
    pub arguments: Arguments,
    pub tools: ToolsAs,
    pub data: Data,
}

/// What a profile can honour; the first of each is its default.
struct Offer {
    reasoning: &'static [Reasoning],
    arguments: &'static [Arguments],
    tools: &'static [ToolsAs],
    data: &'static [Data],
}

const ANY_REASONING: &[Reasoning] = &[Reasoning::Keep, Reasoning::Inline, Reasoning::Drop];
const INLINE_OR_NONE: &[Reasoning] = &[Reasoning::Inline, Reasoning::Drop];
const NO_REASONING: &[Reasoning] = &[Reasoning::Drop];
const TEXT: &[Arguments] = &[Arguments::String];
const OBJECT: &[Arguments] = &[Arguments::Object];
const OBJECT_OR_TEXT: &[Arguments] = &[Arguments::Object, Arguments::String];
const TEXT_OR_OBJECT: &[Arguments] = &[Arguments::String, Arguments::Object];
const ARRAY: &[ToolsAs] = &[ToolsAs::Array];
const JSON: &[ToolsAs] = &[ToolsAs::Json];
const ARRAY_OR_JSON: &[ToolsAs] = &[ToolsAs::Array, ToolsAs::Json];
const JSON_OR_ARRAY: &[ToolsAs] = &[ToolsAs::Json, ToolsAs::Array];
const LINES: &[Data] = &[Data::Jsonl];
const LINES_OR_PARQUET: &[Data] = &[Data::Jsonl, Data::Parquet];
const PARQUET_OR_LINES: &[Data] = &[Data::Parquet, Data::Jsonl];

impl Profile {
    /// Whether its records are pairs, not rows.
    pub const fn is_of_pairs(self) -> bool {
        matches!(self, Self::OpenaiDpo | Self::TrlDpo)
    }

    /// Whether its records are made of groups of samples, not of rows.
    pub const fn is_of_groups(self) -> bool {
        matches!(self, Self::Groups | Self::Verifiers | Self::Art | Self::TrlKto | Self::VerlGroups)
    }

    /// Whether it always reads what was not accepted: its records compare conversations with each other.
    pub const fn compares(self) -> bool {
        self.is_of_pairs() || self.is_of_groups()
    }

    /// Whether it is several files, and so comes as an archive.
    pub const fn is_bundle(self) -> bool {
        matches!(self, Self::Huggingface)
    }

    fn offer(self) -> Offer {
        let of = |reasoning, arguments, tools, data| Offer { reasoning, arguments, tools, data };
        match self {
            // What the card declares is how the columns load; in the files they are text.
            Self::Huggingface => of(ANY_REASONING, OBJECT_OR_TEXT, ARRAY_OR_JSON, LINES_OR_PARQUET),
            Self::Canonical => of(ANY_REASONING, TEXT, ARRAY_OR_JSON, LINES),
            Self::Trl | Self::TrlDpo | Self::TrlKto => of(ANY_REASONING, OBJECT, JSON_OR_ARRAY, LINES),
            Self::Openai | Self::OpenaiDpo => of(NO_REASONING, TEXT, ARRAY, LINES),
            Self::Llamafactory => of(INLINE_OR_NONE, OBJECT, JSON, LINES),
            Self::Groups => of(ANY_REASONING, TEXT_OR_OBJECT, ARRAY_OR_JSON, LINES),
            Self::Verifiers | Self::Art => of(ANY_REASONING, TEXT, ARRAY, LINES),
            Self::MsSwift => of(INLINE_OR_NONE, TEXT_OR_OBJECT, JSON, LINES),
            // Its prompts end before the model first speaks.
            Self::Verl | Self::VerlGroups => of(NO_REASONING, TEXT, JSON, PARQUET_OR_LINES),
            Self::JsonStrings => of(ANY_REASONING, TEXT, JSON, PARQUET_OR_LINES),
        }
    }

    /// # Errors
    /// The toggles that it cannot honour, by name, and what it can.
    pub fn settle(self, toggles: &Toggles) -> Result<Shape, Vec<(&'static str, String)>> {
        let offer = self.offer();
        let mut wrong = Vec::new();
        let reasoning = self.choose("reasoning", toggles.reasoning, offer.reasoning, &mut wrong);
        let arguments = self.choose("arguments", toggles.arguments, offer.arguments, &mut wrong);
        let tools = self.choose("tools", toggles.tools, offer.tools, &mut wrong);
        let data = self.choose("data", toggles.data, offer.data, &mut wrong);
        match (reasoning, arguments, tools, data) {
            (Some(reasoning), Some(arguments), Some(tools), Some(data)) => {
                Ok(Shape { profile: self, reasoning, arguments, tools, data })
            }
            _ => Err(wrong),
        }
    }

    fn choose<T: Copy + PartialEq + fmt::Display>(
        self,
        name: &'static str,
        asked: Option<T>,
        offered: &[T],
        wrong: &mut Vec<(&'static str, String)>,
    ) -> Option<T> {
        let Some(asked) = asked else { return offered.first().copied() };
        if offered.contains(&asked) {
            return Some(asked);
        }
        let can: Vec<String> = offered.iter().map(|choice| format!("`{choice}`")).collect();
        let can = can.join(" or ");
        wrong.push((name, format!("the profile `{self}` cannot have {name} as `{asked}`, only as {can}")));
        None
    }
}

fn unknown(name: &str) -> String {
    let hint = did_you_mean(name, Profile::VARIANTS.iter().map(Profile::into_str));
    format!("there is no profile `{name}`{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_has_defaults_and_unknown_ones_are_named() {
        for profile in Profile::VARIANTS {
            assert!(profile.settle(&Toggles::default()).is_ok());
        }
        assert_eq!("open_ai".parse::<Profile>(), Err("there is no profile `open_ai` (did you mean `openai`?)".into()));
    }

    #[test]
    fn what_a_profile_cannot_honour_is_said() {
        let toggles = Toggles { reasoning: Some(Reasoning::Keep), data: Some(Data::Parquet), ..Toggles::default() };
        let wrong = Profile::Openai.settle(&toggles).unwrap_err();
        let said: Vec<String> = wrong.into_iter().map(|(_, message)| message).collect();
        insta::assert_snapshot!(said.join("\n"), @r"
        the profile `openai` cannot have reasoning as `keep`, only as `drop`
        the profile `openai` cannot have data as `parquet`, only as `jsonl`
        ");
    }
}
