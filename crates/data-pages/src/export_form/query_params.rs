//! What is to be exported, as parameters of the form's address. What is as usual is left out.

use std::str::FromStr;

use domain::export::{CorpusRows, ExportSpec, PairRule, Profile, RunRows, SourceSpec, Toggles};

use super::super::query_params::QueryParams;

const ON: &str = "true";
/// What is said of one source and means nothing of another.
const OF_A_SOURCE: [&str; 6] = ["corpus", "run", "split", "all", "corrected", "branches"];

/// Nothing as long as no corpus and no run is named; what cannot be read is as usual.
pub fn spec(params: &QueryParams) -> Option<ExportSpec> {
    let (profile, pairs) = (profile(params), pairs(params));
    Some(ExportSpec { source: source(params)?, profile, toggles: applicable(profile, toggles(params)), pairs })
}

/// The kind of the source, and its id.
pub fn named(params: &QueryParams) -> Option<(&'static str, String)> {
    ["corpus", "run"].into_iter().find_map(|kind| Some((kind, params.one(kind)?.to_owned())))
}

/// Another source, or none; of the old one nothing stays.
pub fn with_source(params: &QueryParams, kind: &str, id: &str) -> QueryParams {
    OF_A_SOURCE.iter().fold(params.clone(), |params, name| params.with(name, None)).with(kind, Some(id.to_owned()))
}

fn source(params: &QueryParams) -> Option<SourceSpec> {
    let (kind, id) = named(params)?;
    let (all, branches) = (is_on(params, "all"), is_on(params, "branches"));
    Some(if kind == "corpus" {
        SourceSpec::Corpus(CorpusRows { id, split: word(params, "split"), all, branches })
    } else {
        let corrected = is_on(params, "corrected");
        SourceSpec::Run(RunRows { id, judging: None, corrected, all, branches })
    })
}

pub fn is_on(params: &QueryParams, name: &str) -> bool {
    params.has(name, ON)
}

pub fn turned(params: &QueryParams, name: &str, on: bool) -> QueryParams {
    params.with(name, on.then(|| ON.to_owned()))
}

pub fn profile(params: &QueryParams) -> Profile {
    word(params, "profile").unwrap_or_default()
}

pub fn with_profile(params: &QueryParams, to: Profile) -> QueryParams {
    params.with("profile", (to != Profile::default()).then(|| to.to_string()))
}

pub fn toggles(params: &QueryParams) -> Toggles {
    Toggles {
        reasoning: word(params, "reasoning"),
        arguments: word(params, "arguments"),
        tools: word(params, "tools"),
        data: word(params, "data"),
    }
}

pub fn pairs(params: &QueryParams) -> PairRule {
    let usual = PairRule::default();
    PairRule {
        score: word(params, "score").unwrap_or(usual.score),
        margin: params.number("margin").unwrap_or(usual.margin),
    }
}

/// One of the words that an enumeration is written with.
fn word<T: FromStr>(params: &QueryParams, name: &str) -> Option<T> {
    params.one(name)?.parse().ok()
}

/// The toggles that a profile can honour; the others are its defaults.
pub fn applicable(profile: Profile, toggles: Toggles) -> Toggles {
    let mut kept = Toggles::default();
    let mut take = |one: Toggles, into: fn(&mut Toggles, &Toggles)| {
        if profile.settle(&one).is_ok() {
            into(&mut kept, &one);
        }
    };
    take(Toggles { reasoning: toggles.reasoning, ..Toggles::default() }, |kept, one| kept.reasoning = one.reasoning);
    take(Toggles { arguments: toggles.arguments, ..Toggles::default() }, |kept, one| kept.arguments = one.arguments);
    take(Toggles { tools: toggles.tools, ..Toggles::default() }, |kept, one| kept.tools = one.tools);
    take(Toggles { data: toggles.data, ..Toggles::default() }, |kept, one| kept.data = one.data);
    kept
}

#[cfg(test)]
mod tests {
    use domain::export::{Data, Score, Split};

    use super::*;

    fn params(pairs: &[(&str, &str)]) -> QueryParams {
        QueryParams::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn an_address_says_all_of_an_export() {
        assert_eq!(spec(&params(&[("profile", "trl")])), None, "nobody said of what");
        let all = params(&[
            ("corpus", "c"),
            ("split", "golden"),
            ("all", "true"),
            ("branches", "true"),
            ("profile", "json_strings"),
            ("data", "jsonl"),
            ("score", "weighted_mean"),
            ("margin", "2.5"),
        ]);
        let source = SourceSpec::Corpus(CorpusRows {
            id: "c".to_owned(),
            split: Some(Split::Golden),
            all: true,
            branches: true,
        });
        let expected = ExportSpec {
            source,
            profile: Profile::JsonStrings,
            toggles: Toggles { data: Some(Data::Jsonl), ..Toggles::default() },
            pairs: PairRule { score: Score::WeightedMean, margin: 2.5 },
        };
        assert_eq!(spec(&all), Some(expected));
        let nonsense = params(&[("run", "r"), ("profile", "mine"), ("margin", "much"), ("all", "perhaps")]);
        assert_eq!(spec(&nonsense), spec(&params(&[("run", "r")])));
    }

    #[test]
    fn another_source_keeps_the_shape_alone() {
        let before = params(&[("corpus", "c"), ("split", "train"), ("branches", "true"), ("profile", "trl")]);
        assert_eq!(with_source(&before, "run", "r"), params(&[("profile", "trl"), ("run", "r")]));
        assert_eq!(turned(&turned(&before, "all", true), "all", false), before);
    }
}
