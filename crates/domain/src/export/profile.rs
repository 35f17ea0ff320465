//! For whom: each profile is the exact shape that one kind of trainer loads as it is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::did_you_mean;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
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
    /// Columns of JSON text, which every version of `datasets` reads.
    JsonStrings,
}

/// What becomes of what the model thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reasoning {
    /// `reasoning_content`, beside the content.
    Keep,
    /// `<think>` before the content, within it.
    Inline,
    Drop,
}

/// How the arguments of a call are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    /// JSON text, as on the wire.
    String,
    /// What most chat templates need.
    Object,
}

/// How the descriptions of tools are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolsAs {
    Array,
    /// JSON text: tools of unlike schemas need not share one type.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
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
    pub const ALL: [Self; 10] = [
        Self::Huggingface,
        Self::Canonical,
        Self::Trl,
        Self::Openai,
        Self::OpenaiDpo,
        Self::TrlDpo,
        Self::Llamafactory,
        Self::MsSwift,
        Self::Verl,
        Self::JsonStrings,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Huggingface => "huggingface",
            Self::Canonical => "canonical",
            Self::Trl => "trl",
            Self::Openai => "openai",
            Self::OpenaiDpo => "openai_dpo",
            Self::TrlDpo => "trl_dpo",
            Self::Llamafactory => "llamafactory",
            Self::MsSwift => "ms_swift",
            Self::Verl => "verl",
            Self::JsonStrings => "json_strings",
        }
    }

    /// Whether its records are pairs, not rows.
    pub const fn is_of_pairs(self) -> bool {
        matches!(self, Self::OpenaiDpo | Self::TrlDpo)
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
            Self::Trl | Self::TrlDpo => of(ANY_REASONING, OBJECT, JSON_OR_ARRAY, LINES),
            Self::Openai | Self::OpenaiDpo => of(NO_REASONING, TEXT, ARRAY, LINES),
            Self::Llamafactory => of(INLINE_OR_NONE, OBJECT, JSON, LINES),
            Self::MsSwift => of(INLINE_OR_NONE, TEXT_OR_OBJECT, JSON, LINES),
            // Its prompts end before the model first speaks.
            Self::Verl => of(NO_REASONING, TEXT, JSON, PARQUET_OR_LINES),
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

    fn choose<T: Copy + PartialEq + Serialize>(
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
        let can: Vec<String> = offered.iter().map(word).collect();
        let (can, not) = (can.join(" or "), word(&asked));
        wrong.push((name, format!("the profile `{self}` cannot have {name} as {not}, only as {can}")));
        None
    }
}

/// How a choice is written in documents, in backticks.
fn word(choice: &impl Serialize) -> String {
    serde_json::to_string(choice).unwrap_or_default().replace('"', "`")
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|profile| profile.as_str() == text);
        found.ok_or_else(|| {
            let hint = did_you_mean(text, Self::ALL.iter().map(|profile| profile.as_str()));
            format!("there is no profile `{text}`{hint}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_has_defaults_and_a_name_that_is_read_back() {
        for profile in Profile::ALL {
            assert!(profile.settle(&Toggles::default()).is_ok());
            assert_eq!(profile.as_str().parse(), Ok(profile));
            assert_eq!(serde_json::to_value(profile).ok(), Some(profile.as_str().into()));
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
