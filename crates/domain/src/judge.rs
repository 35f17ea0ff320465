//! A judge: a folder in judges/ with its criteria and the prompt that asks for them. A playbook may change the criteria.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::patch::join;
use crate::problem::did_you_mean;

/// The scores whose meaning every criterion spells out.
pub const ANCHORS: [u8; 5] = [0, 3, 6, 9, 10];

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Judge {
    /// Name of the folder under judges/.
    pub name: String,
    /// One or two sentences about what is judged, for people to read.
    pub description: String,
    /// File of the prompt, a Jinja template. It sees `criteria`, `case`, `transcript` and
    /// `boundary`, and for single fields of the case `scenario`, `expected` and `persona`.
    pub prompt: String,
    /// Conversations with a lower overall score are not accepted.
    #[schemars(range(min = 0, max = 10))]
    pub accept_from: u8,
    #[schemars(length(min = 1))]
    pub criteria: Vec<Criterion>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    #[schemars(regex(pattern = r"^[a-z0-9_]{1,64}$"))]
    pub name: String,
    /// The question that the score answers.
    pub measures: String,
    /// What the scores 0, 3, 6, 9 and 10 mean.
    pub anchors: BTreeMap<u8, String>,
    /// Weight in the weighted mean.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: f64,
}

/// Changes that a playbook makes to the criteria of its judge.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Adjustments {
    /// Criteria of the judge that do not apply.
    pub remove: Vec<String>,
    /// Criteria that the playbook adds.
    pub add: Vec<Criterion>,
    /// Criterion -> weight that replaces the judge's.
    pub weights: BTreeMap<String, f64>,
}

/// The pointer of a field, and what is wrong with it.
type Finding = (String, String);

impl Judge {
    /// All that is wrong with the judge itself.
    pub fn problems(&self) -> Vec<Finding> {
        let mut found = criteria_problems("/criteria", &self.criteria);
        found.extend(repeated("/criteria", &self.criteria, &mut BTreeSet::new()));
        found
    }

    /// The judge with the criteria of a playbook.
    ///
    /// # Errors
    /// All that is wrong with the adjustments.
    pub fn adjusted(&self, by: &Adjustments) -> Result<Self, Vec<Finding>> {
        let mut found = criteria_problems("/add", &by.add);
        let known: Vec<&str> = self.criteria.iter().map(|c| c.name.as_str()).collect();
        let unknown = |at: String, name: &str| {
            let hint = did_you_mean(name, known.iter().copied());
            let message = format!("the judge `{}` has no criterion `{name}`{hint}", self.name);
            (!known.contains(&name)).then_some((at, message))
        };
        found.extend(by.remove.iter().enumerate().filter_map(|(i, name)| unknown(format!("/remove/{i}"), name)));
        found.extend(by.weights.keys().filter_map(|name| unknown(join("/weights", name), name)));
        found.extend(by.weights.iter().filter_map(|(name, weight)| bad_weight(join("/weights", name), *weight)));
        let mut criteria: Vec<Criterion> =
            self.criteria.iter().filter(|c| !by.remove.contains(&c.name)).cloned().collect();
        for criterion in &mut criteria {
            criterion.weight = by.weights.get(&criterion.name).copied().unwrap_or(criterion.weight);
        }
        let mut names = criteria.iter().map(|c| c.name.clone()).collect();
        found.extend(repeated("/add", &by.add, &mut names));
        criteria.extend(by.add.iter().cloned());
        if criteria.is_empty() {
            found.push(("/remove".into(), "no criterion is left".into()));
        }
        if found.is_empty() { Ok(Self { criteria, ..self.clone() }) } else { Err(found) }
    }
}

fn criteria_problems(at: &str, criteria: &[Criterion]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (i, criterion) in criteria.iter().enumerate() {
        let at = format!("{at}/{i}");
        found.extend(bad_weight(format!("{at}/weight"), criterion.weight));
        if !criterion.anchors.keys().eq(&ANCHORS) {
            let message = "expected an anchor for each of 0, 3, 6, 9 and 10, and no other".into();
            found.push((format!("{at}/anchors"), message));
        }
    }
    found
}

fn bad_weight(at: String, weight: f64) -> Option<Finding> {
    (!weight.is_finite() || weight <= 0.0).then(|| (at, "a weight is above 0; to drop a criterion, remove it".into()))
}

fn repeated(at: &str, criteria: &[Criterion], names: &mut BTreeSet<String>) -> Vec<Finding> {
    let again = criteria.iter().enumerate().filter(|(_, c)| !names.insert(c.name.clone()));
    again.map(|(i, c)| (format!("{at}/{i}/name"), format!("there is already a criterion `{}`", c.name))).collect()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn criterion(name: &str) -> Criterion {
        let anchors = ANCHORS.map(|score| (score, "so".to_owned())).into();
        Criterion { name: name.into(), measures: "m".into(), anchors, weight: 1.0 }
    }

    fn judge() -> Judge {
        let criteria = vec![criterion("goal"), criterion("tone")];
        Judge { name: "default".into(), description: String::new(), prompt: "p".into(), accept_from: 7, criteria }
    }

    fn messages(problems: Vec<Finding>) -> String {
        problems.into_iter().map(|(at, message)| format!("{at}: {message}\n")).collect()
    }

    #[test]
    fn a_playbook_adds_removes_and_weighs() {
        let by = Adjustments {
            remove: vec!["tone".into()],
            add: vec![criterion("safety")],
            weights: [("goal".to_owned(), 2.5)].into(),
        };
        let judge = judge().adjusted(&by).expect("it fits");
        let found: Vec<_> = judge.criteria.iter().map(|c| (c.name.as_str(), c.weight)).collect();
        assert_eq!(found, [("goal", 2.5), ("safety", 1.0)]);
    }

    #[test]
    fn what_does_not_fit_is_all_said_at_once() {
        let mut thin = criterion("goal");
        thin.anchors.remove(&3);
        thin.weight = 0.0;
        let by = Adjustments {
            remove: vec!["tnoe".into()],
            add: vec![thin],
            weights: [("goal".to_owned(), -1.0), ("speed".to_owned(), 1.0)].into(),
        };
        assert_snapshot!(messages(judge().adjusted(&by).expect_err("it does not fit")), @"
        /add/0/weight: a weight is above 0; to drop a criterion, remove it
        /add/0/anchors: expected an anchor for each of 0, 3, 6, 9 and 10, and no other
        /remove/0: the judge `default` has no criterion `tnoe` (did you mean `tone`?)
        /weights/speed: the judge `default` has no criterion `speed`
        /weights/goal: a weight is above 0; to drop a criterion, remove it
        /add/0/name: there is already a criterion `goal`
        ");
        let none = Adjustments { remove: vec!["goal".into(), "tone".into()], ..Adjustments::default() };
        assert_snapshot!(messages(judge().adjusted(&none).expect_err("nothing is left")), @"/remove: no criterion is left");
        let twice = Judge { criteria: vec![criterion("goal"), criterion("goal")], ..judge() };
        assert_snapshot!(messages(twice.problems()), @"/criteria/1/name: there is already a criterion `goal`");
    }
}
