//! A filter that is ready to look at many conversations.

use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};

use super::facts::NOTHING;
use super::{Bounds, Facts, Filter, Reviewed, Status};
use crate::outcome::Blame;
use crate::persona::Complexity;

/// A filter with numbers for names.
#[derive(Debug, Clone)]
pub struct Matcher {
    runs: Accepted<u32>,
    scenarios: Accepted<u32>,
    families: Accepted<u32>,
    tags: Accepted<u32>,
    playbooks: Accepted<u32>,
    models: Accepted<u32>,
    personas: Accepted<u32>,
    complexities: Accepted<Complexity>,
    outcomes: Accepted<Status>,
    blames: Accepted<Blame>,
    reason: Option<String>,
    endings: Accepted<u32>,
    scores: Vec<(u32, RangeInclusive<u8>)>,
    overall: Option<RangeInclusive<u8>>,
    goal_achieved: Option<bool>,
    verified: Option<bool>,
    rated: Option<bool>,
    annotated: Option<bool>,
    corrected: Option<bool>,
    finished_from: Option<DateTime<Utc>>,
    finished_before: Option<DateTime<Utc>>,
    turns: Bounds,
    tool_calls: Bounds,
    tools_any: Accepted<u32>,
    tools_all: Vec<u32>,
    min_agreement: Option<f32>,
}

impl Filter {
    /// `number` says which number a name has in the facts that the filter will look at; a name without one is in none of
    /// them.
    pub fn compile(&self, mut number: impl FnMut(&str) -> Option<u32>) -> Matcher {
        let mut names = |names: &[String]| Accepted::of(names, |name| number(name));
        let (runs, scenarios, families, tags) =
            (names(&self.runs), names(&self.scenarios), names(&self.families), names(&self.tags));
        let (playbooks, personas, endings, tools_any) =
            (names(&self.playbooks), names(&self.personas), names(&self.endings), names(&self.tools_any));
        let models = names(&self.models);
        let scores = self.scores().map(|(criterion, range)| (number(criterion).unwrap_or(NOTHING), range)).collect();
        Matcher {
            runs,
            scenarios,
            families,
            tags,
            playbooks,
            models,
            personas,
            complexities: Accepted::of(&self.complexities, |complexity| Some(*complexity)),
            outcomes: Accepted::of(&self.outcomes, |status| Some(*status)),
            blames: Accepted::of(&self.blames, |blame| Some(*blame)),
            reason: self.reason.clone(),
            endings,
            scores,
            overall: self.overall(),
            goal_achieved: self.goal_achieved,
            verified: self.verified,
            rated: self.rated,
            annotated: self.annotated,
            corrected: self.corrected,
            finished_from: self.finished_from,
            finished_before: self.finished_before,
            turns: self.turns,
            tool_calls: self.tool_calls,
            tools_any,
            tools_all: self.tools_all.iter().map(|tool| number(tool).unwrap_or(NOTHING)).collect(),
            min_agreement: self.min_agreement.map(as_kept),
        }
    }

    /// What is asked of scores: each criterion once, and which scores pass.
    pub fn scores(&self) -> impl Iterator<Item = (&str, RangeInclusive<u8>)> {
        let least = |criterion: &String| self.min_scores.get(criterion).copied().unwrap_or(0);
        let highest = |criterion: &String| self.max_scores.get(criterion).copied().unwrap_or(10);
        let all =
            self.min_scores.keys().chain(self.max_scores.keys().filter(|name| !self.min_scores.contains_key(*name)));
        all.map(move |criterion| (criterion.as_str(), least(criterion)..=highest(criterion)))
    }

    /// Which overall scores pass; `None`: all, and what has none.
    pub fn overall(&self) -> Option<RangeInclusive<u8>> {
        let asked = self.min_overall.is_some() || self.max_overall.is_some();
        asked.then(|| self.min_overall.unwrap_or(0)..=self.max_overall.unwrap_or(10))
    }
}

impl Matcher {
    /// Whether a conversation fulfils everything that can be said of it alone. Which are the best is said by
    /// [`super::Tops`], when all are known that pass here.
    pub fn matches(&self, facts: &Facts<'_>) -> bool {
        self.matches_case(facts)
            && self.matches_verdict(facts)
            && self.matches_review(facts.reviewed)
            && self.matches_course(facts)
    }

    /// What was decided before the first word.
    fn matches_case(&self, facts: &Facts<'_>) -> bool {
        self.runs.has(facts.run)
            && self.scenarios.has(facts.scenario)
            && self.families.has(facts.family)
            && self.tags.has_any(facts.tags)
            && self.playbooks.has(facts.playbook)
            && self.models.has_any(facts.models)
            && self.personas.has(facts.persona)
            && self.complexities.has(facts.complexity)
    }

    fn matches_verdict(&self, facts: &Facts<'_>) -> bool {
        let within = |range: &RangeInclusive<u8>, score: Option<u8>| score.is_some_and(|score| range.contains(&score));
        self.outcomes.has(facts.status)
            && self.blames.has_maybe(facts.blame)
            && self.reason.as_deref().is_none_or(|part| facts.reason.is_some_and(|reason| reason.contains(part)))
            && self.overall.as_ref().is_none_or(|range| within(range, facts.overall))
            && self.scores.iter().all(|(criterion, range)| within(range, facts.score(Some(*criterion))))
            && self.goal_achieved.is_none_or(|wanted| facts.goal_achieved == Some(wanted))
            && self.verified.is_none_or(|wanted| facts.verified == Some(wanted))
            && self.min_agreement.is_none_or(|min| facts.agreement >= Some(min))
    }

    fn matches_review(&self, facts: Reviewed) -> bool {
        [(self.rated, facts.rated), (self.annotated, facts.annotated), (self.corrected, facts.corrected)]
            .iter()
            .all(|(wanted, is)| wanted.is_none_or(|wanted| wanted == *is))
    }

    fn matches_course(&self, facts: &Facts<'_>) -> bool {
        let within =
            |bounds: Bounds, value: Option<u32>| bounds.is_open() || value.is_some_and(|value| bounds.hold(value));
        self.endings.has_maybe(facts.ending)
            && self.finished_from.is_none_or(|from| facts.finished >= Some(from))
            && self.finished_before.is_none_or(|before| facts.finished.is_some_and(|at| at < before))
            && within(self.turns, facts.turns)
            && within(self.tool_calls, facts.tool_calls)
            && self.tools_any.has_any(facts.tools)
            && self.tools_all.iter().all(|tool| facts.tools.contains(tool))
    }
}

/// As the facts keep it: 0.9 agrees at least 0.9.
#[expect(clippy::cast_possible_truncation, reason = "the facts are no more exact")]
fn as_kept(agreement: f64) -> f32 {
    agreement as f32
}

/// What is accepted; `None`: everything.
#[derive(Debug, Clone)]
struct Accepted<T>(Option<Vec<T>>);

impl<T: Copy + Ord> Accepted<T> {
    /// What nothing in the facts can be is left out, yet it was asked for: then nothing passes.
    fn of<N>(named: &[N], value: impl FnMut(&N) -> Option<T>) -> Self {
        if named.is_empty() {
            return Self(None);
        }
        let mut values: Vec<T> = named.iter().filter_map(value).collect();
        values.sort_unstable();
        values.dedup();
        Self(Some(values))
    }

    fn has(&self, value: T) -> bool {
        self.0.as_ref().is_none_or(|values| values.binary_search(&value).is_ok())
    }

    fn has_maybe(&self, value: Option<T>) -> bool {
        self.0.is_none() || value.is_some_and(|value| self.has(value))
    }

    fn has_any(&self, values: &[T]) -> bool {
        self.0.is_none() || values.iter().any(|value| self.has(*value))
    }
}
