//! Problems of a filter that was read without an error.

use std::collections::BTreeMap;
use std::fmt::Display;

use chrono::{DateTime, Utc};

use super::{Bounds, Comparison, Dimension, Filter, JudgingChoice, PARAMETERS, Parameter, TopShare};
use crate::limits::{LONGEST_NAME, MOST_CRITERIA, MOST_NAMES, name_problem, too_many};
use crate::patch::join;

/// The pointer of a field (RFC 6901), and its problem.
pub type Finding = (String, String);

impl Filter {
    /// Everything that is out of range. Whether the names exist is not checked.
    pub fn problems(&self) -> Vec<Finding> {
        PARAMETERS.iter().flat_map(|parameter| parameter.problems(self)).collect()
    }
}

impl Parameter {
    fn problems(&self, filter: &Filter) -> Vec<Finding> {
        let at = format!("/{}", self.field);
        let one = |problem: Option<String>| problem.map(|problem| (at.clone(), problem)).into_iter().collect();
        match &self.comparison {
            Comparison::AnyOf(field) | Comparison::AllOf(field) => {
                let mut found = check_names(&at, field.of(filter));
                if self.dimension == Some(Dimension::Run) {
                    found.extend(check_runs(&at, field.of(filter)));
                }
                found
            }
            // Their types have no wrong values.
            Comparison::Words(words) => too_many(&at, words.of(filter).len(), MOST_NAMES).into_iter().collect(),
            // Nor have theirs. Lower bounds are checked together with the upper ones.
            Comparison::Is(_) | Comparison::Min(_) | Comparison::From(_) => Vec::new(),
            Comparison::Contains(field) => {
                let wrong = field.of(filter).as_deref().is_some_and(|part| name_problem(part).is_some());
                one(wrong.then(|| format!("expected 1 to {LONGEST_NAME} bytes without control characters")))
            }
            Comparison::MinScore(field) => one(field.of(filter).and_then(no_score)),
            Comparison::MaxScore(field) => one(field
                .of(filter)
                .and_then(|max| no_score(max).or_else(|| empty(self.min_score(filter, None)?, max)))),
            Comparison::MinScores(field) => check_scores(&at, field.of(filter), |_, score| no_score(score)),
            Comparison::MaxScores(field) => check_scores(&at, field.of(filter), |criterion, max| {
                no_score(max).or_else(|| empty(self.min_score(filter, Some(criterion))?, max))
            }),
            Comparison::Max(field) => {
                let Bounds { min, max } = *field.of(filter);
                one(min.zip(max).and_then(|(min, max)| empty(min, max)))
            }
            Comparison::MinShare(field) => one(field.of(filter).and_then(no_share)),
            Comparison::MaxShare(field) => {
                one(field.of(filter).and_then(|max| no_share(max).or_else(|| empty(self.min_share(filter)?, max))))
            }
            Comparison::Before(field) => {
                let both = self.from(filter).zip(*field.of(filter));
                let wrong = both.filter(|(from, before)| from >= before);
                one(wrong.map(|(from, before)| format!("nothing is finished from {from} on and before {before}")))
            }
            Comparison::Best(field) => check_shares(&at, field.of(filter)),
            Comparison::Judging(field) => match field.of(filter) {
                JudgingChoice::Judging(id) if !is_id(id) => {
                    one(Some(format!("expected `own`, `latest` or a judging's id, found `{id}`")))
                }
                _ => Vec::new(),
            },
        }
    }
}

impl Parameter {
    /// The lower bound for the same score, overall or of a criterion.
    fn min_score(&self, filter: &Filter, criterion: Option<&str>) -> Option<u8> {
        self.same_dimension().find_map(|other| match (other, criterion) {
            (Comparison::MinScore(field), None) => *field.of(filter),
            (Comparison::MinScores(field), Some(criterion)) => field.of(filter).get(criterion).copied(),
            _ => None,
        })
    }

    /// The lower bound for the same share.
    fn min_share(&self, filter: &Filter) -> Option<f64> {
        self.same_dimension().find_map(|other| match other {
            Comparison::MinShare(field) => *field.of(filter),
            _ => None,
        })
    }

    /// The lower bound for the same time.
    fn from(&self, filter: &Filter) -> Option<DateTime<Utc>> {
        self.same_dimension().find_map(|other| match other {
            Comparison::From(field) => *field.of(filter),
            _ => None,
        })
    }

    /// All comparisons of the same dimension.
    fn same_dimension(&self) -> impl Iterator<Item = &'static Comparison> {
        let dimension = self.dimension;
        PARAMETERS.iter().filter(move |other| other.dimension == dimension).map(|other| &other.comparison)
    }
}

fn check_names(at: &str, names: &[String]) -> Vec<Finding> {
    let unfit = names.iter().enumerate().take(MOST_NAMES);
    let unfit = unfit.filter_map(|(i, name)| Some((format!("{at}/{i}"), name_problem(name)?)));
    too_many(at, names.len(), MOST_NAMES).into_iter().chain(unfit).collect()
}

fn check_runs<'a>(at: &'a str, runs: &'a [String]) -> impl Iterator<Item = Finding> + 'a {
    let unknown = runs.iter().enumerate().filter(|(_, run)| !is_id(run));
    unknown.map(move |(i, run)| (format!("{at}/{i}"), format!("`{run}` is not the id of a run")))
}

fn check_scores(at: &str, scores: &BTreeMap<String, u8>, problem: impl Fn(&str, u8) -> Option<String>) -> Vec<Finding> {
    let wrong = scores.iter().filter_map(|(criterion, score)| Some((join(at, criterion), problem(criterion, *score)?)));
    too_many_scores(at, scores.len()).into_iter().chain(wrong).collect()
}

fn check_shares(at: &str, best: &[TopShare]) -> Vec<Finding> {
    let wrong = best.iter().enumerate().filter(|(_, top)| !(top.share > 0.0 && top.share <= 1.0));
    let wrong = wrong
        .map(|(i, top)| (format!("{at}/{i}/share"), format!("expected a share above 0, up to 1; found {}", top.share)));
    too_many_scores(at, best.len()).into_iter().chain(wrong).collect()
}

fn too_many_scores(at: &str, n: usize) -> Option<Finding> {
    (n > MOST_CRITERIA)
        .then(|| (at.to_owned(), format!("asks for {n} scores, at most {MOST_CRITERIA} can be asked for")))
}

fn no_score(score: u8) -> Option<String> {
    (score > 10).then(|| format!("expected 0 to 10, found {score}"))
}

fn no_share(share: f64) -> Option<String> {
    (!(0.0..=1.0).contains(&share)).then(|| format!("expected 0 to 1, found {share}"))
}

fn empty<N: PartialOrd + Display>(min: N, max: N) -> Option<String> {
    (min > max).then(|| format!("nothing is at least {min} and at most {max}"))
}

/// Whether a text is a UUID as it is printed: 8-4-4-4-12 lower-case hexadecimal digits.
fn is_id(text: &str) -> bool {
    let hexadecimal = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    text.len() == 36
        && text.bytes().enumerate().all(|(i, c)| if matches!(i, 8 | 13 | 18 | 23) { c == b'-' } else { hexadecimal(c) })
}
