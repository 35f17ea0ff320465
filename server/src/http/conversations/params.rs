//! What a list of conversations is asked for, from the query string. Lists are repeated parameters.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use domain::api::{CONVERSATION_FILTER, FieldError};
use domain::filter::{Filter, Top};
use domain::problem::did_you_mean;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::error::{HttpError, Result};
use datasets::index::{By, Sort};

/// More criteria in one question than any judge has.
const MOST_CRITERIA: usize = 40;
const LONGEST_SEARCH: usize = 200;

/// Which conversations are meant. A parameter that is a list is given as often as it has values, of which one at least
/// holds; all parameters hold together.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes in the OpenAPI document what `Asked` reads")]
pub struct FilterParams {
    /// Ids of runs.
    run: Option<Vec<String>>,
    scenario: Option<Vec<String>>,
    /// Families of scenarios.
    family: Option<Vec<String>>,
    /// Tags of scenarios.
    tag: Option<Vec<String>>,
    playbook: Option<Vec<String>>,
    /// Models of runs: `NAME` played the agent under test, `ROLE:NAME` another role, such as `judge:NAME`.
    model: Option<Vec<String>>,
    /// Persona profiles.
    persona: Option<Vec<String>>,
    #[param(inline)]
    complexity: Option<Vec<domain::persona::Complexity>>,
    #[param(inline)]
    outcome: Option<Vec<domain::filter::Status>>,
    /// Who is to blame.
    #[param(inline)]
    blame: Option<Vec<domain::outcome::Blame>>,
    /// A part of the reason why they failed, letter by letter.
    reason: Option<String>,
    /// How they came to their end: `user_ended`, `walked_out`, `terminal`, `turn_limit`, `step_limit`.
    ending: Option<Vec<String>>,
    /// The least score of a criterion, as `CRITERION:SCORE`. All of them hold.
    min_score: Option<Vec<String>>,
    /// The highest score of a criterion, as `CRITERION:SCORE`. All of them hold.
    max_score: Option<Vec<String>>,
    /// The least overall score.
    #[param(minimum = 0, maximum = 10)]
    min_overall: Option<u8>,
    /// The highest overall score.
    #[param(minimum = 0, maximum = 10)]
    max_overall: Option<u8>,
    /// The best share of those that pass everything else: `0.1` by the overall score, `CRITERION:0.1` by a criterion.
    top: Option<Vec<String>>,
    goal_achieved: Option<bool>,
    /// Whether the verifier found nothing wrong.
    verified: Option<bool>,
    /// Whether somebody rated it.
    rated: Option<bool>,
    /// Whether somebody annotated one of its steps.
    annotated: Option<bool>,
    /// Whether a turn of its agent reads as somebody corrected it.
    corrected: Option<bool>,
    /// Finished at this moment or later, as in RFC 3339.
    finished_from: Option<DateTime<Utc>>,
    /// Finished before this moment.
    finished_before: Option<DateTime<Utc>>,
    /// Turns of the user.
    min_turns: Option<u32>,
    max_turns: Option<u32>,
    min_tool_calls: Option<u32>,
    max_tool_calls: Option<u32>,
    /// Tools of which one at least was called.
    tool_any: Option<Vec<String>>,
    /// Tools that were all called.
    tool_all: Option<Vec<String>>,
    /// How far a panel of judges agrees at least.
    #[param(minimum = 0, maximum = 1)]
    min_agreement: Option<f64>,
    /// Whose verdicts count: `own` (the default), `latest`, or the id of a judging.
    judging: Option<String>,
    /// A part of the id of a scenario.
    search: Option<String>,
}

/// In which order, and which page.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes in the OpenAPI document what `Asked` reads")]
pub struct OrderParams {
    /// `position` (the default), `overall`, or `score:CRITERION`. What has no score comes last.
    sort: Option<String>,
    /// `asc` or `desc`; default: positions from the first on, scores from the best on.
    order: Option<String>,
}

/// Which page, without those between.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes in the OpenAPI document what `Asked` reads")]
pub struct SkipParams {
    /// How many conversations are passed over first: a page far down is read without those before it.
    skip: Option<u32>,
}

/// What was asked.
#[derive(Debug, Default)]
pub struct Asked {
    pub filter: Filter,
    pub search: Option<String>,
    pub sort: Sort,
    pub limit: Option<u16>,
    pub after: Option<String>,
    pub skip: u32,
    /// Of a comparison: the other run.
    pub with: Option<String>,
    sort_by: Option<String>,
    order: Option<String>,
    seen: Vec<String>,
}

/// What may be asked beside the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Also {
    Nothing,
    Order,
    Page,
    With,
}

impl Also {
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &[],
            Self::Order => &["sort", "order"],
            Self::Page => &["sort", "order", "limit", "after", "skip"],
            Self::With => &["with"],
        }
    }
}

impl Asked {
    /// # Errors
    /// Parameters that nobody knows, that are given twice, or whose values are none.
    pub fn read(pairs: Vec<(String, String)>, also: Also) -> Result<Self> {
        let mut asked = Self::default();
        for (name, value) in &pairs {
            if !CONVERSATION_FILTER.contains(&name.as_str()) && !also.names().contains(&name.as_str()) {
                let hint = did_you_mean(name, CONVERSATION_FILTER.iter().chain(also.names()).copied());
                return Err(bad(&short(name), format!("there is no such parameter{hint}")));
            }
            asked.take(name, value)?;
        }
        asked.sort = asked.order()?;
        let found = asked.filter.problems().into_iter();
        let found: Vec<_> = found.map(|(at, wrong)| FieldError::parameter(parameter(&at), wrong)).collect();
        if !found.is_empty() {
            return Err(HttpError::Parameters(found));
        }
        if asked.filter.scores().count() + asked.filter.top.len() > MOST_CRITERIA {
            return Err(bad("min_score", format!("more than {MOST_CRITERIA} criteria")));
        }
        Ok(asked)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<()> {
        let filter = &mut self.filter;
        let text = || value.to_owned();
        match name {
            "run" => filter.runs.push(id(name, value)?),
            "scenario" => filter.scenarios.push(text()),
            "family" => filter.families.push(text()),
            "tag" => filter.tags.push(text()),
            "playbook" => filter.playbooks.push(text()),
            "model" => filter.models.push(text()),
            "persona" => filter.personas.push(text()),
            "ending" => filter.endings.push(text()),
            "tool_any" => filter.tools_any.push(text()),
            "tool_all" => filter.tools_all.push(text()),
            "complexity" => filter.complexities.push(word(name, value)?),
            "outcome" => filter.outcomes.push(word(name, value)?),
            "blame" => filter.blames.push(word(name, value)?),
            "min_score" => of_criterion(&mut filter.min_scores, name, value)?,
            "max_score" => of_criterion(&mut filter.max_scores, name, value)?,
            "top" => {
                let (criterion, share) = value.rsplit_once(':').map_or((None, value), |(c, share)| (Some(c), share));
                filter.top.push(Top { criterion: criterion.map(str::to_owned), share: number(name, share)? });
            }
            _ => return self.take_once(name, value),
        }
        Ok(())
    }

    fn take_once(&mut self, name: &str, value: &str) -> Result<()> {
        if self.seen.iter().any(|seen| seen == name) {
            return Err(bad(name, "is given twice"));
        }
        self.seen.push(name.to_owned());
        let filter = &mut self.filter;
        match name {
            "reason" => filter.reason = Some(value.to_owned()),
            "min_overall" => filter.min_overall = Some(number(name, value)?),
            "max_overall" => filter.max_overall = Some(number(name, value)?),
            "goal_achieved" => filter.goal_achieved = Some(number(name, value)?),
            "verified" => filter.verified = Some(number(name, value)?),
            "rated" => filter.rated = Some(number(name, value)?),
            "annotated" => filter.annotated = Some(number(name, value)?),
            "corrected" => filter.corrected = Some(number(name, value)?),
            "finished_from" => filter.finished_from = Some(number(name, value)?),
            "finished_before" => filter.finished_before = Some(number(name, value)?),
            "min_turns" => filter.turns.min = Some(number(name, value)?),
            "max_turns" => filter.turns.max = Some(number(name, value)?),
            "min_tool_calls" => filter.tool_calls.min = Some(number(name, value)?),
            "max_tool_calls" => filter.tool_calls.max = Some(number(name, value)?),
            "min_agreement" => filter.min_agreement = Some(number(name, value)?),
            "judging" => filter.judging = value.to_owned().into(),
            "search" if value.len() > LONGEST_SEARCH => {
                return Err(bad(name, format!("is longer than {LONGEST_SEARCH} bytes")));
            }
            "search" => self.search = Some(value.to_owned()).filter(|search| !search.is_empty()),
            "sort" => self.sort_by = Some(value.to_owned()),
            "order" => self.order = Some(value.to_owned()),
            "limit" => self.limit = Some(number(name, value)?),
            "after" => self.after = Some(value.to_owned()),
            "skip" => self.skip = number(name, value)?,
            _ => self.with = Some(value.to_owned()),
        }
        Ok(())
    }

    fn order(&self) -> Result<Sort> {
        let by = match self.sort_by.as_deref().unwrap_or("position") {
            "position" => By::Position,
            "overall" => By::Overall,
            other => match other.strip_prefix("score:") {
                Some(criterion) => By::Criterion(criterion.to_owned()),
                None => {
                    let wanted =
                        format!("expected `position`, `overall` or `score:CRITERION`, found `{}`", short(other));
                    return Err(bad("sort", wanted));
                }
            },
        };
        let descending = match self.order.as_deref() {
            None => by != By::Position,
            Some("asc") => false,
            Some("desc") => true,
            Some(other) => return Err(bad("order", format!("expected `asc` or `desc`, found `{}`", short(other)))),
        };
        Ok(Sort { by, descending })
    }
}

fn bad(name: &str, wrong: impl Display) -> HttpError {
    HttpError::parameter(name, wrong.to_string())
}

/// What stands in an error must not be as long as what was sent.
fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T>
where
    T::Err: Display,
{
    value.parse().map_err(|error| bad(name, format!("`{}`: {error}", short(value))))
}

/// The least or highest score of a criterion.
fn of_criterion(scores: &mut BTreeMap<String, u8>, name: &str, value: &str) -> Result<()> {
    let (criterion, score) = value
        .rsplit_once(':')
        .ok_or_else(|| bad(name, format!("expected CRITERION:SCORE, found `{}`", short(value))))?;
    match scores.insert(criterion.to_owned(), number(name, score)?) {
        Some(_) => Err(bad(name, format!("the criterion `{}` is given twice", short(criterion)))),
        None => Ok(()),
    }
}

/// A run, whose id may be written in any way that stands for a UUID.
fn id(name: &str, value: &str) -> Result<String> {
    let id = value.parse::<uuid::Uuid>().map_err(|_| bad(name, format!("`{}` is no run's id", short(value))))?;
    Ok(id.to_string())
}

/// One of the words that an enumeration is written with.
fn word<T: serde::de::DeserializeOwned>(name: &str, value: &str) -> Result<T> {
    serde_json::from_value(value.into()).map_err(|error| bad(name, short(&error.to_string())))
}

/// The parameter that a field of a filter is read from.
fn parameter(pointer: &str) -> &str {
    match pointer.split('/').nth(1).unwrap_or_default() {
        "runs" => "run",
        "scenarios" => "scenario",
        "families" => "family",
        "tags" => "tag",
        "playbooks" => "playbook",
        "models" => "model",
        "personas" => "persona",
        "endings" => "ending",
        "tools_any" => "tool_any",
        "tools_all" => "tool_all",
        "min_scores" => "min_score",
        "max_scores" => "max_score",
        "turns" => "min_turns",
        "tool_calls" => "min_tool_calls",
        other => other,
    }
}
