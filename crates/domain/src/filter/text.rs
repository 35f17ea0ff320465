//! Filters as text: the values of parameters in a query and after flags.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat, Utc};

use super::{Comparison, Dimension, Filter, Notation, PARAMETERS, Parameter, TopShare};

/// Errors quote at most so many characters of what was sent.
const LONGEST_QUOTE: usize = 80;

impl Filter {
    /// Reads the parameters of a query and skips those that no filter has. Also returns the parameters that cannot be read, each
    /// with the reason. Ranges are checked by [`Filter::problems`].
    pub fn from_query<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> (Self, Vec<(&'static Parameter, String)>) {
        let (mut filter, mut problems) = (Self::default(), Vec::new());
        let mut given = BTreeSet::new();
        for (name, text) in pairs {
            let Some(parameter) = Parameter::named(name) else { continue };
            let criterion =
                text.rsplit_once(':').map(|(criterion, _)| criterion).filter(|_| parameter.is_by_criterion());
            let read = match criterion {
                _ if parameter.is_list() || given.insert((name, criterion)) => {
                    parameter.read(&mut filter, text, Notation::Query)
                }
                Some(criterion) => Err(format!("the criterion `{}` is given twice", quote(criterion))),
                None => Err("is given twice".to_owned()),
            };
            problems.extend(read.err().map(|problem| (parameter, problem)));
        }
        (filter, problems)
    }

    /// The parameters that mean this filter.
    pub fn query(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        PARAMETERS.iter().flat_map(|parameter| parameter.texts(self).into_iter().map(|text| (parameter.name, text)))
    }
}

impl Parameter {
    /// Adds a value to a list or to the scores of criteria, and replaces any other value.
    ///
    /// # Errors
    /// What was expected, and what was found.
    pub fn read(&self, filter: &mut Filter, text: &str, notation: Notation) -> Result<(), String> {
        match &self.comparison {
            Comparison::AnyOf(field) | Comparison::AllOf(field) => field.of_mut(filter).push(text.to_owned()),
            Comparison::Words(words) => {
                if !words.add(filter, text) {
                    let known = self.dimension.and_then(Dimension::words).unwrap_or_default();
                    return Err(expected(&format!("one of `{}`", known.join("`, `")), text));
                }
            }
            Comparison::Contains(field) => *field.of_mut(filter) = Some(text.to_owned()),
            Comparison::Is(field) => *field.of_mut(filter) = Some(parse(text, "`true` or `false`")?),
            Comparison::MinScore(field) | Comparison::MaxScore(field) => *field.of_mut(filter) = Some(score(text)?),
            Comparison::MinScores(field) | Comparison::MaxScores(field) => {
                let Some((criterion, text)) = text.rsplit_once(notation.separator()) else {
                    return Err(expected(&self.placeholder(notation), text));
                };
                field.of_mut(filter).insert(criterion.to_owned(), score(text)?);
            }
            Comparison::Min(field) => field.of_mut(filter).min = Some(count(text)?),
            Comparison::Max(field) => field.of_mut(filter).max = Some(count(text)?),
            Comparison::MinShare(field) | Comparison::MaxShare(field) => {
                *field.of_mut(filter) = Some(parse(text, "a number from 0 to 1")?);
            }
            Comparison::From(field) | Comparison::Before(field) => *field.of_mut(filter) = Some(time(text)?),
            Comparison::Best(field) => field.of_mut(filter).push(top(text, notation)?),
            Comparison::Judging(field) => *field.of_mut(filter) = text.to_owned().into(),
        }
        Ok(())
    }

    /// Reads values into a filter that has some: a list replaces the list, scores of criteria are added.
    ///
    /// # Errors
    /// See [`Self::read`].
    pub fn read_over<'a>(
        &self,
        filter: &mut Filter,
        texts: impl IntoIterator<Item = &'a str>,
        notation: Notation,
    ) -> Result<(), String> {
        match &self.comparison {
            Comparison::AnyOf(field) | Comparison::AllOf(field) => field.of_mut(filter).clear(),
            Comparison::Words(words) => words.clear(filter),
            Comparison::Best(field) => field.of_mut(filter).clear(),
            _ => {}
        }
        texts.into_iter().try_for_each(|text| self.read(filter, text, notation))
    }

    /// Its values in a filter, as they are written in a query.
    fn texts(&self, filter: &Filter) -> Vec<String> {
        match &self.comparison {
            Comparison::AnyOf(field) | Comparison::AllOf(field) => field.of(filter).clone(),
            Comparison::Words(words) => texts(&words.of(filter)),
            Comparison::Contains(field) => texts(field.of(filter)),
            Comparison::Is(field) => texts(field.of(filter)),
            Comparison::MinScore(field) | Comparison::MaxScore(field) => texts(field.of(filter)),
            Comparison::MinScores(field) | Comparison::MaxScores(field) => {
                field.of(filter).iter().map(|(criterion, score)| format!("{criterion}:{score}")).collect()
            }
            Comparison::Min(field) => texts(&field.of(filter).min),
            Comparison::Max(field) => texts(&field.of(filter).max),
            Comparison::MinShare(field) | Comparison::MaxShare(field) => texts(field.of(filter)),
            Comparison::From(field) | Comparison::Before(field) => {
                field.of(filter).iter().map(|time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true)).collect()
            }
            Comparison::Best(field) => texts(field.of(filter)),
            Comparison::Judging(field) => {
                Some(field.of(filter)).filter(|whose| !whose.is_own()).cloned().map(String::from).into_iter().collect()
            }
        }
    }
}

impl Display for TopShare {
    /// As in a query.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.criterion {
            Some(criterion) => write!(f, "{criterion}:{}", self.share),
            None => self.share.fmt(f),
        }
    }
}

fn texts<'a, T: Display + 'a>(values: impl IntoIterator<Item = &'a T>) -> Vec<String> {
    values.into_iter().map(ToString::to_string).collect()
}

/// Whether a number that fits a byte is a score is checked by [`Filter::problems`].
fn score(text: &str) -> Result<u8, String> {
    parse(text, "a whole number from 0 to 10")
}

fn count(text: &str) -> Result<u32, String> {
    parse(text, &format!("a whole number up to {}", u32::MAX))
}

fn top(text: &str, notation: Notation) -> Result<TopShare, String> {
    let separator = notation.separator();
    let (criterion, share) = match text.rsplit_once(separator) {
        Some((criterion, share)) => (Some(criterion.to_owned()), share),
        None => (None, text),
    };
    let wanted = format!("a share above 0, up to 1, such as 0.1 or tool_usage{separator}0.1");
    Ok(TopShare { criterion, share: share.parse().map_err(|_| expected(&wanted, text))? })
}

/// A day is its first moment: `finished_from` includes the day, and `finished_before` excludes it.
fn time(text: &str) -> Result<DateTime<Utc>, String> {
    match text.parse::<NaiveDate>() {
        Ok(day) => Ok(day.and_time(NaiveTime::MIN).and_utc()),
        Err(_) => parse(text, "a day, such as 2026-11-24, or RFC 3339: 2026-11-24T18:00:00Z"),
    }
}

fn parse<T: FromStr>(text: &str, wanted: &str) -> Result<T, String> {
    text.parse().map_err(|_| expected(wanted, text))
}

fn expected(wanted: &str, found: &str) -> String {
    format!("expected {wanted}, found `{}`", quote(found))
}

fn quote(text: &str) -> String {
    text.chars().take(LONGEST_QUOTE).collect()
}
