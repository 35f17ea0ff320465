//! A filter as parameters, and back.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, Utc};
use domain::filter::{Bounds, Filter, Top};
use serde::de::DeserializeOwned;

/// The filter that the parameters mean; what cannot be read is left out.
pub fn parse(pairs: &[(String, String)]) -> Filter {
    let mut filter = Filter::default();
    for (name, value) in pairs {
        take(&mut filter, name, value);
    }
    filter
}

fn take(filter: &mut Filter, name: &str, value: &str) {
    let text = value.to_owned();
    match name {
        "run" => filter.runs.push(text),
        "scenario" => filter.scenarios.push(text),
        "family" => filter.families.push(text),
        "tag" => filter.tags.push(text),
        "playbook" => filter.playbooks.push(text),
        "persona" => filter.personas.push(text),
        "model" => filter.models.push(text),
        "ending" => filter.endings.push(text),
        "tool_any" => filter.tools_any.push(text),
        "tool_all" => filter.tools_all.push(text),
        "complexity" => word(value).into_iter().for_each(|value| filter.complexities.push(value)),
        "outcome" => word(value).into_iter().for_each(|value| filter.outcomes.push(value)),
        "blame" => word(value).into_iter().for_each(|value| filter.blames.push(value)),
        "reason" => filter.reason = Some(text),
        "min_score" => of_criterion(&mut filter.min_scores, value),
        "max_score" => of_criterion(&mut filter.max_scores, value),
        "top" => {
            let (criterion, share) = value.rsplit_once(':').map_or((None, value), |(name, share)| (Some(name), share));
            let criterion = criterion.map(str::to_owned);
            if let Ok(share) = share.parse() {
                filter.top.push(Top { criterion, share });
            }
        }
        "judging" => filter.judging = text.into(),
        "min_overall" => filter.min_overall = value.parse().ok(),
        "max_overall" => filter.max_overall = value.parse().ok(),
        "finished_from" => filter.finished_from = value.parse().ok(),
        "finished_before" => filter.finished_before = value.parse().ok(),
        "goal_achieved" => filter.goal_achieved = value.parse().ok(),
        "verified" => filter.verified = value.parse().ok(),
        "rated" => filter.rated = value.parse().ok(),
        "annotated" => filter.annotated = value.parse().ok(),
        "corrected" => filter.corrected = value.parse().ok(),
        "min_agreement" => filter.min_agreement = value.parse().ok(),
        _ => bounds(filter, name, value),
    }
}

fn of_criterion(scores: &mut BTreeMap<String, u8>, value: &str) {
    let parsed = value.rsplit_once(':').and_then(|(name, score)| Some((name.to_owned(), score.parse().ok()?)));
    scores.extend(parsed);
}

fn bounds(filter: &mut Filter, name: &str, value: &str) {
    let number = value.parse().ok();
    let Filter { turns, tool_calls, .. } = filter;
    let into: &mut Option<u32> = match name {
        "min_turns" => &mut turns.min,
        "max_turns" => &mut turns.max,
        "min_tool_calls" => &mut tool_calls.min,
        "max_tool_calls" => &mut tool_calls.max,
        _ => return,
    };
    *into = number;
}

/// The parameters that mean a filter.
pub fn encode(filter: &Filter) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut add =
        |name: &str, values: Vec<String>| pairs.extend(values.into_iter().map(|value| (name.to_owned(), value)));
    add("run", filter.runs.clone());
    add("scenario", filter.scenarios.clone());
    add("family", filter.families.clone());
    add("tag", filter.tags.clone());
    add("playbook", filter.playbooks.clone());
    add("persona", filter.personas.clone());
    add("model", filter.models.clone());
    add("complexity", filter.complexities.iter().map(ToString::to_string).collect());
    add("outcome", filter.outcomes.iter().map(ToString::to_string).collect());
    add("blame", filter.blames.iter().map(ToString::to_string).collect());
    add("reason", filter.reason.iter().cloned().collect());
    add("ending", filter.endings.clone());
    for (name, scores) in [("min_score", &filter.min_scores), ("max_score", &filter.max_scores)] {
        add(name, scores.iter().map(|(criterion, score)| format!("{criterion}:{score}")).collect());
    }
    add("min_overall", filter.min_overall.iter().map(ToString::to_string).collect());
    add("max_overall", filter.max_overall.iter().map(ToString::to_string).collect());
    add("top", filter.top.iter().map(top).collect());
    add("goal_achieved", filter.goal_achieved.iter().map(ToString::to_string).collect());
    add("verified", filter.verified.iter().map(ToString::to_string).collect());
    for (name, wanted) in [("rated", filter.rated), ("annotated", filter.annotated), ("corrected", filter.corrected)] {
        add(name, wanted.iter().map(ToString::to_string).collect());
    }
    add("finished_from", filter.finished_from.iter().map(moment).collect());
    add("finished_before", filter.finished_before.iter().map(moment).collect());
    for (name, Bounds { min, max }) in [("turns", filter.turns), ("tool_calls", filter.tool_calls)] {
        add(&format!("min_{name}"), min.iter().map(ToString::to_string).collect());
        add(&format!("max_{name}"), max.iter().map(ToString::to_string).collect());
    }
    add("tool_any", filter.tools_any.clone());
    add("tool_all", filter.tools_all.clone());
    add("min_agreement", filter.min_agreement.iter().map(ToString::to_string).collect());
    if !filter.judging.is_own() {
        add("judging", vec![filter.judging.clone().into()]);
    }
    pairs
}

fn top(top: &Top) -> String {
    top.criterion.as_ref().map_or_else(|| top.share.to_string(), |criterion| format!("{criterion}:{}", top.share))
}

/// As short as it is exact.
fn moment(at: &DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// One of the words that an enumeration is written with.
fn word<T: DeserializeOwned>(value: &str) -> Option<T> {
    serde_json::from_value(value.into()).ok()
}
