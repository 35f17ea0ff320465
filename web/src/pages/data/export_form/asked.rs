//! What is to be exported, as parameters of the form's address. What is as usual is left out.

use domain::export::{CorpusRows, ExportSpec, PairRule, Profile, RunRows, SourceSpec, Split, Toggles};
use serde::de::DeserializeOwned;

use super::super::asked::Asked;
use super::toggles::kept;

const ON: &str = "true";
/// What is said of one source and means nothing of another.
const OF_A_SOURCE: [&str; 6] = ["corpus", "run", "split", "all", "corrected", "branches"];

/// Nothing as long as no corpus and no run is named; what cannot be read is as usual.
pub fn spec(asked: &Asked) -> Option<ExportSpec> {
    let (profile, pairs) = (profile(asked), pairs(asked));
    Some(ExportSpec { source: source(asked)?, profile, toggles: kept(profile, toggles(asked)), pairs })
}

/// The kind of the source, and its id.
pub fn named(asked: &Asked) -> Option<(&'static str, String)> {
    ["corpus", "run"].into_iter().find_map(|kind| Some((kind, asked.one(kind)?.to_owned())))
}

/// Another source, or none; of the old one nothing stays.
pub fn with_source(asked: &Asked, kind: &str, id: &str) -> Asked {
    OF_A_SOURCE.iter().fold(asked.clone(), |asked, name| asked.with(name, None)).with(kind, Some(id.to_owned()))
}

fn source(asked: &Asked) -> Option<SourceSpec> {
    let (kind, id) = named(asked)?;
    let branches = is_on(asked, "branches");
    Some(if kind == "corpus" {
        let split = Split::ALL.into_iter().find(|split| asked.has("split", split.as_str()));
        SourceSpec::Corpus(CorpusRows { id, split, branches })
    } else {
        let (corrected, all) = (is_on(asked, "corrected"), is_on(asked, "all"));
        SourceSpec::Run(RunRows { id, judging: None, corrected, all, branches })
    })
}

pub fn is_on(asked: &Asked, name: &str) -> bool {
    asked.has(name, ON)
}

pub fn turned(asked: &Asked, name: &str, on: bool) -> Asked {
    asked.with(name, on.then(|| ON.to_owned()))
}

pub fn profile(asked: &Asked) -> Profile {
    asked.one("profile").and_then(|name| name.parse().ok()).unwrap_or_default()
}

pub fn with_profile(asked: &Asked, to: Profile) -> Asked {
    asked.with("profile", (to != Profile::default()).then(|| to.as_str().to_owned()))
}

pub fn toggles(asked: &Asked) -> Toggles {
    Toggles {
        reasoning: word(asked, "reasoning"),
        arguments: word(asked, "arguments"),
        tools: word(asked, "tools"),
        data: word(asked, "data"),
    }
}

pub fn pairs(asked: &Asked) -> PairRule {
    let usual = PairRule::default();
    PairRule {
        score: word(asked, "score").unwrap_or(usual.score),
        margin: asked.number("margin").unwrap_or(usual.margin),
    }
}

/// One of the words that an enumeration is written with.
fn word<T: DeserializeOwned>(asked: &Asked, name: &str) -> Option<T> {
    serde_json::from_value(asked.one(name)?.into()).ok()
}

#[cfg(test)]
mod tests {
    use domain::export::{Data, Score};

    use super::*;

    fn asked(pairs: &[(&str, &str)]) -> Asked {
        Asked::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn an_address_says_all_of_an_export() {
        assert_eq!(spec(&asked(&[("profile", "trl")])), None, "nobody said of what");
        let all = asked(&[
            ("corpus", "c"),
            ("split", "golden"),
            ("branches", "true"),
            ("profile", "json_strings"),
            ("data", "jsonl"),
            ("score", "weighted_mean"),
            ("margin", "2.5"),
        ]);
        let source = SourceSpec::Corpus(CorpusRows { id: "c".to_owned(), split: Some(Split::Golden), branches: true });
        let expected = ExportSpec {
            source,
            profile: Profile::JsonStrings,
            toggles: Toggles { data: Some(Data::Jsonl), ..Toggles::default() },
            pairs: PairRule { score: Score::WeightedMean, margin: 2.5 },
        };
        assert_eq!(spec(&all), Some(expected));
        let nonsense = asked(&[("run", "r"), ("profile", "mine"), ("margin", "much"), ("all", "perhaps")]);
        assert_eq!(spec(&nonsense), spec(&asked(&[("run", "r")])));
    }

    #[test]
    fn another_source_keeps_the_shape_alone() {
        let before = asked(&[("corpus", "c"), ("split", "train"), ("branches", "true"), ("profile", "trl")]);
        assert_eq!(with_source(&before, "run", "r"), asked(&[("profile", "trl"), ("run", "r")]));
        assert_eq!(turned(&turned(&before, "all", true), "all", false), before);
    }
}
