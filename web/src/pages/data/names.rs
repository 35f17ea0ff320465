//! How parameters and their values read.

use crate::labels::words;

/// Parameters that are chosen from their values: the facet, and what it is called.
pub const FACETS: [(&str, &str); 15] = [
    ("outcome", "Outcome"),
    ("blame", "Blame"),
    ("goal_achieved", "Goal"),
    ("verified", "Verifier"),
    ("persona", "Persona"),
    ("complexity", "Complexity"),
    ("scenario", "Scenario"),
    ("tool", "Tools called"),
    ("ending", "Ending"),
    ("family", "Scenario family"),
    ("tag", "Tag"),
    ("playbook", "Playbook"),
    ("rated", "Rated by people"),
    ("annotated", "Annotated by people"),
    ("corrected", "Corrected by people"),
];

/// A value of a facet.
pub fn value(facet: &str, value: &str) -> String {
    match (facet, value) {
        ("goal_achieved", "true") => "achieved".to_owned(),
        ("goal_achieved", _) => "not achieved".to_owned(),
        ("verified", "true") => "passed".to_owned(),
        ("verified", _) => "found faults".to_owned(),
        ("rated" | "annotated" | "corrected", "true") => "yes".to_owned(),
        ("rated" | "annotated" | "corrected", _) => "no".to_owned(),
        ("outcome" | "blame" | "ending" | "complexity", value) => words(value),
        _ => value.to_owned(),
    }
}

pub fn score(name: &str) -> String {
    if name == super::query_params::OVERALL { "Overall score".to_owned() } else { capital(&words(name)) }
}

/// What a parameter and its value ask for, in a few words.
pub fn condition(name: &str, value: &str) -> String {
    let of_criterion = |value: &str| {
        let (criterion, number) = value.rsplit_once(':').unwrap_or((super::query_params::OVERALL, value));
        (score(criterion), number.to_owned())
    };
    match name {
        "min_overall" => format!("Overall score ≥ {value}"),
        "max_overall" => format!("Overall score ≤ {value}"),
        "min_score" => {
            let (criterion, least) = of_criterion(value);
            format!("{criterion} ≥ {least}")
        }
        "max_score" => {
            let (criterion, most) = of_criterion(value);
            format!("{criterion} ≤ {most}")
        }
        "top" => {
            let (criterion, share) = of_criterion(value);
            let share = share.parse().map_or(share, crate::format::percent);
            format!("Best {share} by {}", criterion.to_lowercase())
        }
        "min_turns" => format!("Turns ≥ {value}"),
        "max_turns" => format!("Turns ≤ {value}"),
        "min_tool_calls" => format!("Tool calls ≥ {value}"),
        "max_tool_calls" => format!("Tool calls ≤ {value}"),
        "min_agreement" => format!("Agreement ≥ {value}"),
        "tool_any" => format!("Calls {value}"),
        "tool_all" => format!("Calls also {value}"),
        "reason" => format!("Failed for “{value}”"),
        "model" => format!("Model {value}"),
        "finished_from" => format!("Finished from {}", moment(value)),
        "finished_before" => format!("Finished before {}", moment(value)),
        "search" => format!("Scenario contains “{value}”"),
        "run" => format!("Run {}", short(value)),
        "judging" => format!("Judged: {}", if value.len() > 10 { short(value) } else { value }),
        facet => {
            let label = FACETS.iter().find(|(name, _)| *name == facet).map_or(facet, |(_, label)| label);
            format!("{label}: {}", self::value(facet, value))
        }
    }
}

/// What is no moment is shown as it was asked: the answer says what is wrong with it.
fn moment(value: &str) -> String {
    value.parse().map_or_else(|_| value.to_owned(), crate::format::time)
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
