//! Parameters as a filter.

use domain::filter::{Bounds, Filter, Top};
use serde::de::DeserializeOwned;

/// The filter that the parameters mean; what cannot be read is left out.
pub fn filter(pairs: &[(String, String)]) -> Filter {
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
        "ending" => filter.endings.push(text),
        "tool_any" => filter.tools_any.push(text),
        "tool_all" => filter.tools_all.push(text),
        "complexity" => word(value).into_iter().for_each(|value| filter.complexities.push(value)),
        "outcome" => word(value).into_iter().for_each(|value| filter.outcomes.push(value)),
        "blame" => word(value).into_iter().for_each(|value| filter.blames.push(value)),
        "min_score" => {
            let parsed = value.rsplit_once(':').and_then(|(name, least)| Some((name.to_owned(), least.parse().ok()?)));
            if let Some((criterion, least)) = parsed {
                filter.min_scores.insert(criterion, least);
            }
        }
        "top" => {
            let (criterion, share) = value.rsplit_once(':').map_or((None, value), |(name, share)| (Some(name), share));
            let criterion = criterion.map(str::to_owned);
            if let Ok(share) = share.parse() {
                filter.top.push(Top { criterion, share });
            }
        }
        "judging" => filter.judging = text.into(),
        "min_overall" => filter.min_overall = value.parse().ok(),
        "goal_achieved" => filter.goal_achieved = value.parse().ok(),
        "verified" => filter.verified = value.parse().ok(),
        "min_agreement" => filter.min_agreement = value.parse().ok(),
        _ => bounds(filter, name, value),
    }
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
pub fn written(filter: &Filter) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut add =
        |name: &str, values: Vec<String>| pairs.extend(values.into_iter().map(|value| (name.to_owned(), value)));
    add("run", filter.runs.clone());
    add("scenario", filter.scenarios.clone());
    add("family", filter.families.clone());
    add("tag", filter.tags.clone());
    add("playbook", filter.playbooks.clone());
    add("persona", filter.personas.clone());
    add("complexity", filter.complexities.iter().map(ToString::to_string).collect());
    add("outcome", filter.outcomes.iter().map(ToString::to_string).collect());
    add("blame", filter.blames.iter().map(ToString::to_string).collect());
    add("ending", filter.endings.clone());
    add("min_score", filter.min_scores.iter().map(|(name, least)| format!("{name}:{least}")).collect());
    add("min_overall", filter.min_overall.iter().map(ToString::to_string).collect());
    add("top", filter.top.iter().map(top).collect());
    add("goal_achieved", filter.goal_achieved.iter().map(ToString::to_string).collect());
    add("verified", filter.verified.iter().map(ToString::to_string).collect());
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

/// One of the words that an enumeration is written with.
fn word<T: DeserializeOwned>(value: &str) -> Option<T> {
    serde_json::from_value(value.into()).ok()
}
