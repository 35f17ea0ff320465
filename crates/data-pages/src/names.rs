//! How parameters and their values read.

use domain::filter::{Comparison, Dimension, Parameter, SEARCH, ValueKind};

use super::query_params::OVERALL;
use ui::labels::words;

/// A value of a dimension, as a query has it.
pub fn value(dimension: Dimension, value: &str) -> String {
    match dimension.kind() {
        ValueKind::Flag { yes, no } => if value == "true" { yes } else { no }.to_owned(),
        ValueKind::Id => short(value).to_owned(),
        ValueKind::Time => time(value),
        _ if dimension.values().is_some() => words(value),
        _ => value.to_owned(),
    }
}

pub fn score(name: &str) -> String {
    if name == OVERALL { Dimension::Score.label().to_owned() } else { capital(&words(name)) }
}

/// What a parameter and its value ask for, in a few words.
pub fn condition(name: &str, value: &str) -> String {
    if name == SEARCH {
        return format!("Scenario contains “{value}”");
    }
    let Some(parameter) = Parameter::named(name) else { return format!("{name}: {value}") };
    let (criterion, number) = value.rsplit_once(':').unwrap_or((OVERALL, value));
    match &parameter.comparison {
        Comparison::MinScores(_) | Comparison::MaxScores(_) => {
            format!("{} {}", score(criterion), parameter.phrase(number))
        }
        Comparison::Best(_) => {
            let share = number.parse().map_or_else(|_| number.to_owned(), ui::format::percent);
            format!("{} by {}", parameter.phrase(&share), score(criterion).to_lowercase())
        }
        Comparison::Judging(_) => parameter.phrase(if value.len() > 10 { short(value) } else { value }),
        _ => {
            let value = parameter.dimension.map_or_else(|| value.to_owned(), |dimension| self::value(dimension, value));
            parameter.phrase(&value)
        }
    }
}

/// What is no time is shown as it was asked: the answer says what is wrong with it.
fn time(value: &str) -> String {
    value.parse().map_or_else(|_| value.to_owned(), ui::format::time)
}

/// The part of an id that tells it from others made in the same hour.
pub fn short(id: &str) -> &str {
    let from = id.char_indices().rev().nth(7).map_or(0, |(at, _)| at);
    &id[from..]
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_read_as_people_say_them() {
        let all = [
            ("min_score", "tool_usage:7"),
            ("max_score", "tool_usage:9"),
            ("finished_from", "2026-11-24T19:00:00+01:00"),
            ("finished_before", "tomorrow"),
            ("top", "0.1"),
            ("verified", "true"),
            ("corrected", "true"),
            ("blame", "simulated_user"),
            ("run", "01a20319-f6ef-72bd-84b4-d90772ba48fe"),
        ];
        assert_eq!(
            all.map(|(name, value)| condition(name, value)),
            [
                "Tool usage ≥ 7",
                "Tool usage ≤ 9",
                "Finished from 2026-11-24 18:00 UTC",
                "Finished before tomorrow",
                "Best 10 % by overall score",
                "Verifier: passed",
                "Corrected by people: yes",
                "Blame: simulated user",
                "Run 72ba48fe"
            ]
        );
    }
}
