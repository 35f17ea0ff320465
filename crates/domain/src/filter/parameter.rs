//! The parameters of a filter, as they are in queries of the API, in addresses of the app, and in flags of commands.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::{Bounds, Dimension, Filter, JudgingChoice, TopShare};

/// One condition that people can set.
#[derive(Debug)]
pub struct Parameter {
    /// The name in a query. With dashes it is the flag of commands.
    pub name: &'static str,
    /// The field of [`Filter`] that stores it.
    pub field: &'static str,
    /// What it is about; `None` if it is not about a value of the conversation itself.
    pub dimension: Option<Dimension>,
    pub comparison: Comparison,
    /// The condition in a few words, with `{}` in place of the value.
    phrase: &'static str,
    /// The condition in one sentence. More sentences may follow.
    pub help: &'static str,
}

/// How the value of a conversation is compared with a field of the filter.
#[derive(Debug)]
pub enum Comparison {
    /// At least one of these names.
    AnyOf(Field<Vec<String>>),
    /// All of these names.
    AllOf(Field<Vec<String>>),
    /// At least one of these words, which are [`Dimension::words`].
    Words(Words),
    /// Contains this text, letter by letter.
    Contains(Field<Option<String>>),
    Is(Field<Option<bool>>),
    MinScore(Field<Option<u8>>),
    MaxScore(Field<Option<u8>>),
    /// The same for criteria.
    MinScores(Field<BTreeMap<String, u8>>),
    MaxScores(Field<BTreeMap<String, u8>>),
    Min(Field<Bounds>),
    Max(Field<Bounds>),
    MinShare(Field<Option<f64>>),
    MaxShare(Field<Option<f64>>),
    From(Field<Option<DateTime<Utc>>>),
    Before(Field<Option<DateTime<Utc>>>),
    /// Among the best of those that pass everything else.
    Best(Field<Vec<TopShare>>),
    /// By the verdicts of this judging.
    Judging(Field<JudgingChoice>),
}

/// A field of a filter.
#[derive(Debug)]
pub struct Field<T: 'static> {
    get: fn(&Filter) -> &T,
    get_mut: fn(&mut Filter) -> &mut T,
}

impl<T> Field<T> {
    pub(super) fn of<'a>(&self, filter: &'a Filter) -> &'a T {
        (self.get)(filter)
    }

    pub(super) fn of_mut<'a>(&self, filter: &'a mut Filter) -> &'a mut T {
        (self.get_mut)(filter)
    }
}

/// A field of a filter that is a list of variants of an enum. They are read and written as their names.
#[derive(Debug)]
pub struct Words {
    get: fn(&Filter) -> Vec<&'static str>,
    /// Adds a word. False if it is none of the enum.
    add: fn(&mut Filter, &str) -> bool,
    clear: fn(&mut Filter),
}

impl Words {
    pub(super) fn of(&self, filter: &Filter) -> Vec<&'static str> {
        (self.get)(filter)
    }

    pub(super) fn add(&self, filter: &mut Filter, word: &str) -> bool {
        (self.add)(filter, word)
    }

    pub(super) fn clear(&self, filter: &mut Filter) {
        (self.clear)(filter);
    }
}

macro_rules! field {
    ($field:ident) => {
        Field { get: |filter| &filter.$field, get_mut: |filter| &mut filter.$field }
    };
}

macro_rules! words {
    ($field:ident) => {
        Words {
            get: |filter| filter.$field.iter().map(|word| (*word).into()).collect(),
            add: |filter, word| word.parse().map(|word| filter.$field.push(word)).is_ok(),
            clear: |filter| filter.$field.clear(),
        }
    };
}

/// Lists of conversations have one more parameter: a part of the scenario's id. The filter of a corpus does not have it.
pub const SEARCH: &str = "search";

/// The names of all parameters that select conversations in lists.
pub fn list_parameters() -> impl Iterator<Item = &'static str> {
    PARAMETERS.iter().map(|parameter| parameter.name).chain([SEARCH])
}

/// All parameters, in the order in which their conditions are checked.
pub static PARAMETERS: [Parameter; 34] = {
    use Comparison::{
        AllOf, AnyOf, Before, Best, Contains, From, Is, Judging, Max, MaxScore, MaxScores, MaxShare, Min, MinScore,
        MinScores, MinShare, Words as OneOf,
    };
    use Dimension as D;
    [
        new("run", "runs", D::Run, AnyOf(field!(runs))).described("Run {}", "Only this run, by its id."),
        new("scenario", "scenarios", D::Scenario, AnyOf(field!(scenarios)))
            .described("Scenario: {}", "Only this scenario, by its id."),
        new("family", "families", D::Family, AnyOf(field!(families)))
            .described("Scenario family: {}", "Only scenarios of this family."),
        new("tag", "tags", D::Tag, AnyOf(field!(tags))).described("Tag: {}", "Only scenarios with one of these tags."),
        new("playbook", "playbooks", D::Playbook, AnyOf(field!(playbooks)))
            .described("Playbook: {}", "Only scenarios of this playbook."),
        new("model", "models", D::Model, AnyOf(field!(models))).described(
            "Model {}",
            "Only if the model NAME played the agent; ROLE:NAME for another role, such as judge:NAME.",
        ),
        new("persona", "personas", D::Persona, AnyOf(field!(personas)))
            .described("Persona: {}", "Only this persona profile."),
        new("complexity", "complexities", D::Complexity, OneOf(words!(complexities)))
            .described("Complexity: {}", "How the user's turns are phrased."),
        new("outcome", "outcomes", D::Outcome, OneOf(words!(outcomes)))
            .described("Outcome: {}", "Outcome of the conversation."),
        new("blame", "blames", D::Blame, OneOf(words!(blames)))
            .described("Blame: {}", "Who is to blame. Only failures pass."),
        new("reason", "reason", D::Reason, Contains(field!(reason))).described(
            "Failed for “{}”",
            "Exact text that the reason for the failure contains. Accepted conversations do not pass.",
        ),
        new("ending", "endings", D::Ending, AnyOf(field!(endings)))
            .described("Ending: {}", "How the conversation ended."),
        new("finished_from", "finished_from", D::Finished, From(field!(finished_from))).described(
            "Finished from {}",
            "Finished at this time or later: RFC 3339, or a day, which begins at midnight UTC.",
        ),
        new("finished_before", "finished_before", D::Finished, Before(field!(finished_before)))
            .described("Finished before {}", "Finished before this time."),
        new("min_turns", "turns", D::Turns, Min(field!(turns)))
            .described("Turns ≥ {}", "The lowest number of turns of the user."),
        new("max_turns", "turns", D::Turns, Max(field!(turns)))
            .described("Turns ≤ {}", "The highest number of turns of the user."),
        new("goal_achieved", "goal_achieved", D::GoalAchieved, Is(field!(goal_achieved)))
            .described("Goal: {}", "The user's goal was achieved."),
        new("min_agreement", "min_agreement", D::Agreement, MinShare(field!(min_agreement))).described(
            "Agreement ≥ {}",
            "The lowest agreement of a panel of judges, from 0 to 1. Conversations with one judge do not pass.",
        ),
        new("min_solve_rate", "min_solve_rate", D::SolveRate, MinShare(field!(min_solve_rate))).described(
            "Solve rate ≥ {}",
            "The lowest solve rate of the scenario in its run, from 0 to 1: the share of its rewards that are 1. Scenarios \
             without a reward do not pass.",
        ),
        new("max_solve_rate", "max_solve_rate", D::SolveRate, MaxShare(field!(max_solve_rate))).described(
            "Solve rate ≤ {}",
            "The highest solve rate of the scenario in its run, from 0 to 1. Scenarios without a reward do not pass.",
        ),
        new("rated", "rated", D::Rated, Is(field!(rated))).described("Rated by people: {}", "Somebody rated it."),
        new("annotated", "annotated", D::Annotated, Is(field!(annotated)))
            .described("Annotated by people: {}", "Somebody annotated one of its steps."),
        new("corrected", "corrected", D::Corrected, Is(field!(corrected))).described(
            "Corrected by people: {}",
            "Somebody corrected a turn of the agent. Exports contain the corrected turn.",
        ),
        new("min_overall", "min_overall", D::Score, MinScore(field!(min_overall)))
            .described("Overall score ≥ {}", "The lowest overall score, from 0 to 10."),
        new("max_overall", "max_overall", D::Score, MaxScore(field!(max_overall))).described(
            "Overall score ≤ {}",
            "The highest overall score, from 0 to 10. Conversations without one do not pass.",
        ),
        new("min_score", "min_scores", D::Score, MinScores(field!(min_scores)))
            .described("≥ {}", "The lowest score for a criterion, from 0 to 10."),
        new("max_score", "max_scores", D::Score, MaxScores(field!(max_scores))).described(
            "≤ {}",
            "The highest score for a criterion, from 0 to 10. Conversations without one do not pass.",
        ),
        new("verified", "verified", D::Verified, Is(field!(verified)))
            .described("Verifier: {}", "The verifier found nothing wrong."),
        new("min_tool_calls", "tool_calls", D::ToolCalls, Min(field!(tool_calls)))
            .described("Tool calls ≥ {}", "The lowest number of tool calls by the agent and its sub-agents."),
        new("max_tool_calls", "tool_calls", D::ToolCalls, Max(field!(tool_calls)))
            .described("Tool calls ≤ {}", "The highest number of tool calls by the agent and its sub-agents."),
        new("tool_any", "tools_any", D::Tool, AnyOf(field!(tools_any)))
            .described("Calls {}", "Only if one of these tools was called."),
        new("tool_all", "tools_all", D::Tool, AllOf(field!(tools_all)))
            .described("Calls also {}", "Only if all of these tools were called."),
        Parameter {
            name: "top",
            field: "top",
            dimension: None,
            comparison: Best(field!(top)),
            phrase: "Best {}",
            help: "The best share of those that pass everything else, above 0, up to 1: 0.1 is the best tenth, overall or \
                   by a criterion.",
        },
        Parameter {
            name: "judging",
            field: "judging",
            dimension: None,
            comparison: Judging(field!(judging)),
            phrase: "Judged: {}",
            help: "Which verdicts count. One of: own (each run's), latest (the last judging of each run), the id of a judging.",
        },
    ]
};

const fn new(name: &'static str, field: &'static str, dimension: Dimension, comparison: Comparison) -> Parameter {
    Parameter { name, field, dimension: Some(dimension), comparison, phrase: "", help: "" }
}

impl Parameter {
    const fn described(self, phrase: &'static str, help: &'static str) -> Self {
        let Self { name, field, dimension, comparison, .. } = self;
        Self { name, field, dimension, comparison, phrase, help }
    }
}

/// How the value for a criterion is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// `CRITERION:VALUE`
    Query,
    /// `CRITERION=VALUE`
    Flag,
}

impl Parameter {
    pub fn named(name: &str) -> Option<&'static Self> {
        PARAMETERS.iter().find(|parameter| parameter.name == name)
    }

    /// The parameter that sets the field at a pointer into a filter. For bounds this is the upper one, where an empty range is
    /// reported.
    pub fn at(pointer: &str) -> Option<&'static Self> {
        let field = pointer.split('/').nth(1)?;
        PARAMETERS.iter().rfind(|parameter| parameter.field == field)
    }

    /// The condition in a few words.
    pub fn phrase(&self, value: &str) -> String {
        self.phrase.replace("{}", value)
    }

    /// The first sentence of the help, without its full stop.
    pub fn summary(&self) -> &'static str {
        self.help.split_once(". ").map_or(self.help.trim_end_matches('.'), |(summary, _)| summary)
    }

    /// The rest of the help.
    pub fn details(&self) -> &'static str {
        self.help.split_once(". ").map_or("", |(_, details)| details)
    }

    /// Whether it may be given several times. A parameter for criteria may be given once for each criterion.
    pub const fn repeats(&self) -> bool {
        self.is_list() || self.is_by_criterion()
    }

    /// The placeholder for its value in help texts.
    pub fn placeholder(&self, notation: Notation) -> String {
        let of_criterion = notation.separator();
        match (&self.comparison, self.dimension) {
            (Comparison::Contains(_), _) => "TEXT".to_owned(),
            (Comparison::Is(_), _) => "BOOL".to_owned(),
            (Comparison::MinScore(_) | Comparison::MaxScore(_), _) => "SCORE".to_owned(),
            (Comparison::MinScores(_) | Comparison::MaxScores(_), _) => format!("CRITERION{of_criterion}SCORE"),
            (Comparison::Min(_) | Comparison::Max(_), _) => "N".to_owned(),
            (Comparison::MinShare(_) | Comparison::MaxShare(_), _) => "SHARE".to_owned(),
            (Comparison::From(_) | Comparison::Before(_), _) => "TIME".to_owned(),
            (Comparison::Best(_), _) => format!("[CRITERION{of_criterion}]SHARE"),
            (_, Some(dimension)) => <&str>::from(dimension).to_uppercase(),
            (_, None) => self.name.to_uppercase(),
        }
    }

    pub(super) const fn is_list(&self) -> bool {
        matches!(
            self.comparison,
            Comparison::AnyOf(_) | Comparison::AllOf(_) | Comparison::Words(_) | Comparison::Best(_)
        )
    }

    pub(super) const fn is_by_criterion(&self) -> bool {
        matches!(self.comparison, Comparison::MinScores(_) | Comparison::MaxScores(_))
    }
}

impl Notation {
    pub const fn separator(self) -> char {
        match self {
            Self::Query => ':',
            Self::Flag => '=',
        }
    }
}
