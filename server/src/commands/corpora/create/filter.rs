//! Which conversations a corpus is made of, as flags.
//!
//! Every field of a [`Filter`] has one, so that whatever a file can ask for can be asked for without one. What is out of
//! range is left to [`Filter::problems`], which says it of all flags at once.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use domain::filter::{Filter, Status, Top, Whose};
use domain::outcome::Blame;
use domain::persona::Complexity;
use strum::VariantArray;

/// The flag that each field of a filter is set by; of bounds the upper one, at which an empty range is noticed.
pub const FLAGS: [(&str, &str); 25] = [
    ("/filter/runs", "--run"),
    ("/filter/scenarios", "--scenario"),
    ("/filter/families", "--family"),
    ("/filter/tags", "--tag"),
    ("/filter/playbooks", "--playbook"),
    ("/filter/personas", "--persona"),
    ("/filter/models", "--model"),
    ("/filter/complexities", "--complexity"),
    ("/filter/outcomes", "--outcome"),
    ("/filter/blames", "--blame"),
    ("/filter/reason", "--reason"),
    ("/filter/endings", "--ending"),
    ("/filter/min_scores", "--min-score"),
    ("/filter/max_scores", "--max-score"),
    ("/filter/min_overall", "--min-overall"),
    ("/filter/max_overall", "--max-overall"),
    ("/filter/top", "--top"),
    ("/filter/finished_from", "--finished-from"),
    ("/filter/finished_before", "--finished-before"),
    ("/filter/turns", "--max-turns"),
    ("/filter/tool_calls", "--max-tool-calls"),
    ("/filter/tools_any", "--tool-any"),
    ("/filter/tools_all", "--tool-all"),
    ("/filter/min_agreement", "--min-agreement"),
    ("/filter/judging", "--judging"),
];

/// A corpus keeps nothing that may still change.
const ENDED: [Status; 2] = [Status::Accepted, Status::Failed];
/// As [`domain::outcome::Ending::as_str`] writes them.
const ENDINGS: [&str; 5] = ["user_ended", "walked_out", "terminal", "turn_limit", "step_limit"];

#[derive(clap::Args)]
#[command(next_help_heading = "Which conversations (repeat a flag for several values)")]
pub struct FilterFlags {
    /// Only conversations of this run, by its id
    #[arg(long = "run", value_name = "RUN")]
    runs: Vec<String>,
    /// Only this scenario, by its id
    #[arg(long = "scenario", value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// Only scenarios of this family
    #[arg(long = "family", value_name = "FAMILY")]
    families: Vec<String>,
    /// Only scenarios with one of these tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    #[arg(long = "playbook", value_name = "PLAYBOOK")]
    playbooks: Vec<String>,
    /// Only this persona profile
    #[arg(long = "persona", value_name = "PROFILE")]
    personas: Vec<String>,
    /// Only runs in which this model played the agent, or, as ROLE:MODEL, another role, such as judge:MODEL
    #[arg(long = "model", value_name = "[ROLE:]MODEL")]
    models: Vec<String>,
    #[arg(long = "complexity", value_name = "TIER", value_parser = one_of(Complexity::VARIANTS, Complexity::into_str))]
    complexities: Vec<Complexity>,
    /// How far they came; without it, what was accepted
    #[arg(long = "outcome", value_name = "OUTCOME", value_parser = one_of(&ENDED, |status| status.as_str()))]
    outcomes: Vec<Status>,
    /// Who is to blame; only failures pass, so give --outcome failed with it
    #[arg(long = "blame", value_name = "WHO", value_parser = one_of(Blame::VARIANTS, Blame::into_str))]
    blames: Vec<Blame>,
    /// A part of the reason why they failed, letter by letter, 1 to 200 bytes; give --outcome failed with it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// How they came to their end
    #[arg(long = "ending", value_name = "ENDING", value_parser = ENDINGS)]
    endings: Vec<String>,
    /// The least overall score, a whole number from 0 to 10
    #[arg(long, value_name = "SCORE", value_parser = score)]
    min_overall: Option<u8>,
    /// The highest overall score, from 0 to 10; what has none does not pass
    #[arg(long, value_name = "SCORE", value_parser = score)]
    max_overall: Option<u8>,
    /// The least score for a criterion, from 0 to 10
    #[arg(long = "min-score", value_name = "CRITERION=SCORE", value_parser = score_of)]
    min_scores: Vec<(String, u8)>,
    /// The highest score for a criterion, from 0 to 10; what has none does not pass
    #[arg(long = "max-score", value_name = "CRITERION=SCORE", value_parser = score_of)]
    max_scores: Vec<(String, u8)>,
    /// The best share of what passes all else, above 0, up to 1: 0.1 is the best tenth, overall or by a criterion
    #[arg(long = "top", value_name = "[CRITERION=]SHARE", value_parser = top)]
    top: Vec<Top>,
    /// Only what the verifier found nothing wrong with; with =false, what it did
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    verified: Option<bool>,
    /// Only where the judges say that the user's goal was achieved; with =false, where it was not
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    goal_achieved: Option<bool>,
    /// Only what somebody rated; with =false, what nobody did
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    rated: Option<bool>,
    /// Only where somebody annotated a step; with =false, where nobody did
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    annotated: Option<bool>,
    /// Only where a turn of the agent reads as somebody corrected it; with =false, where none does
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    corrected: Option<bool>,
    /// Finished at this moment or later: a day, which begins at midnight UTC, or RFC 3339 (2026-11-24T18:00:00Z)
    #[arg(long, value_name = "TIME", value_parser = moment)]
    finished_from: Option<DateTime<Utc>>,
    /// Finished before this moment
    #[arg(long, value_name = "TIME", value_parser = moment)]
    finished_before: Option<DateTime<Utc>>,
    /// Turns of the user, at least
    #[arg(long, value_name = "N")]
    min_turns: Option<u32>,
    /// Turns of the user, at most
    #[arg(long, value_name = "N")]
    max_turns: Option<u32>,
    /// Calls of tools by the agent and its sub-agents, at least
    #[arg(long, value_name = "N")]
    min_tool_calls: Option<u32>,
    /// Calls of tools by the agent and its sub-agents, at most
    #[arg(long, value_name = "N")]
    max_tool_calls: Option<u32>,
    /// Only where one of these tools was called
    #[arg(long = "tool-any", value_name = "TOOL")]
    tools_any: Vec<String>,
    /// Only where all of these tools were called
    #[arg(long = "tool-all", value_name = "TOOL")]
    tools_all: Vec<String>,
    /// How far a panel of judges agrees at least, from 0 to 1; what one judged alone does not pass
    #[arg(long, value_name = "SHARE")]
    min_agreement: Option<f64>,
    /// Whose verdicts count: own (each run's), latest (the last judging of each run) or the id of a judging
    #[arg(long, value_name = "JUDGING")]
    judging: Option<String>,
}

impl FilterFlags {
    /// A list that is given takes the place of the file's; scores of criteria are added to it.
    pub fn lay_over(&self, filter: &mut Filter) {
        self.lay_names(filter);
        lay(&mut filter.complexities, &self.complexities);
        lay(&mut filter.outcomes, &self.outcomes);
        lay(&mut filter.blames, &self.blames);
        lay(&mut filter.top, &self.top);
        filter.min_scores.extend(self.min_scores.iter().cloned());
        filter.max_scores.extend(self.max_scores.iter().cloned());
        self.lay_bounds(filter);
        if let Some(whose) = &self.judging {
            filter.judging = Whose::from(whose.clone());
        }
    }

    fn lay_names(&self, filter: &mut Filter) {
        lay(&mut filter.runs, &self.runs);
        lay(&mut filter.scenarios, &self.scenarios);
        lay(&mut filter.families, &self.families);
        lay(&mut filter.tags, &self.tags);
        lay(&mut filter.playbooks, &self.playbooks);
        lay(&mut filter.personas, &self.personas);
        lay(&mut filter.models, &self.models);
        lay(&mut filter.tools_any, &self.tools_any);
        lay(&mut filter.tools_all, &self.tools_all);
        lay(&mut filter.endings, &self.endings);
    }

    fn lay_bounds(&self, filter: &mut Filter) {
        filter.reason = self.reason.clone().or_else(|| filter.reason.take());
        filter.min_overall = self.min_overall.or(filter.min_overall);
        filter.max_overall = self.max_overall.or(filter.max_overall);
        filter.verified = self.verified.or(filter.verified);
        filter.goal_achieved = self.goal_achieved.or(filter.goal_achieved);
        filter.rated = self.rated.or(filter.rated);
        filter.annotated = self.annotated.or(filter.annotated);
        filter.corrected = self.corrected.or(filter.corrected);
        filter.finished_from = self.finished_from.or(filter.finished_from);
        filter.finished_before = self.finished_before.or(filter.finished_before);
        filter.turns.min = self.min_turns.or(filter.turns.min);
        filter.turns.max = self.max_turns.or(filter.turns.max);
        filter.tool_calls.min = self.min_tool_calls.or(filter.tool_calls.min);
        filter.tool_calls.max = self.max_tool_calls.or(filter.tool_calls.max);
        filter.min_agreement = self.min_agreement.or(filter.min_agreement);
    }
}

fn lay<T: Clone>(own: &mut Vec<T>, flags: &[T]) {
    if !flags.is_empty() {
        *own = flags.to_vec();
    }
}

/// One of the words that an enumeration is written with; help and errors name them all.
fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(&T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(name))
        .try_map(move |text| all.iter().copied().find(|one| name(one) == text).ok_or("nobody knows this word"))
}

/// Scores that fit a byte are checked with all else; of others the number's type would be named, not the scores' range.
fn score(text: &str) -> Result<u8, String> {
    text.parse().map_err(|_| "expected a whole number from 0 to 10".to_owned())
}

fn score_of(text: &str) -> Result<(String, u8), String> {
    let parts = text.split_once('=').and_then(|(name, score)| Some((name.to_owned(), score.parse().ok()?)));
    parts.ok_or_else(|| "expected a criterion, `=` and a score from 0 to 10".to_owned())
}

fn top(text: &str) -> Result<Top, String> {
    let (criterion, share) = text.split_once('=').map_or((None, text), |(name, share)| (Some(name.to_owned()), share));
    let share =
        share.parse().map_err(|_| "expected a share above 0, up to 1, such as 0.1 or tool_usage=0.1".to_owned())?;
    Ok(Top { criterion, share })
}

/// A day means its first moment, so that `--finished-from` includes it and `--finished-before` does not.
fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    let day = || Some(text.parse::<NaiveDate>().ok()?.and_time(NaiveTime::MIN).and_utc());
    let moment = || Some(DateTime::parse_from_rfc3339(text).ok()?.to_utc());
    day()
        .or_else(moment)
        .ok_or_else(|| "expected a day, such as 2026-11-24, or RFC 3339: 2026-11-24T18:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_its_first_moment() {
        let first = moment("2026-11-24");
        assert_eq!(first, moment("2026-11-24T01:00:00+01:00"));
        assert!(first.is_ok());
        for bad in ["", "2026-11-31", "2026-11-24 18:00", "2026-11-24T18:00:00", "yesterday"] {
            assert!(moment(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_field_has_a_flag() {
        let serde_json::Value::Object(schema) = serde_json::to_value(schemars::schema_for!(Filter)).unwrap() else {
            panic!("no object")
        };
        // These cannot be out of range, so no problem ever points to them.
        let never_wrong = ["goal_achieved", "verified", "rated", "annotated", "corrected"];
        for field in schema["properties"].as_object().unwrap().keys() {
            let known = FLAGS.iter().any(|(pointer, _)| *pointer == format!("/filter/{field}"));
            assert!(known || never_wrong.contains(&field.as_str()), "{field} has no flag");
        }
    }
}
