//! What is found in a scenario that reads well: how bad it is, by which rule, and where.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::document::Located;
use crate::problem::Problem;

/// How bad a finding is. A scenario is promoted only without critical ones and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Worth knowing.
    Info,
    /// It can be played, and is probably not what was meant.
    Warning,
    /// It contradicts its playbook or itself.
    Error,
    /// Whatever an agent did in it, its score would mean nothing.
    Critical,
}

impl Grade {
    /// From the worst on.
    pub const ALL: [Self; 4] = [Self::Critical, Self::Error, Self::Warning, Self::Info];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is looked for. Names and grades are read by other programs: they stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = FindingRule)]
pub enum Rule {
    InvalidWorld,
    UnreachableOutcome,
    TrivialOutcome,
    UnknownIntent,
    ContradictedFact,
    LeakedFact,
    UnknownTool,
    UnknownArgument,
    MisplacedCall,
    ScriptShape,
    FaultRule,
    SimilarDescription,
    SimilarGoal,
    UnachievableGoal,
    InconsistentFacts,
    ImplausibleOutcome,
    InvalidEdgeCase,
    KnowingUser,
    UnfittingPersona,
    MissingVote,
}

impl Rule {
    pub const ALL: [Self; 20] = [
        Self::InvalidWorld,
        Self::UnreachableOutcome,
        Self::TrivialOutcome,
        Self::UnknownIntent,
        Self::ContradictedFact,
        Self::LeakedFact,
        Self::UnknownTool,
        Self::UnknownArgument,
        Self::MisplacedCall,
        Self::ScriptShape,
        Self::FaultRule,
        Self::SimilarDescription,
        Self::SimilarGoal,
        Self::UnachievableGoal,
        Self::InconsistentFacts,
        Self::ImplausibleOutcome,
        Self::InvalidEdgeCase,
        Self::KnowingUser,
        Self::UnfittingPersona,
        Self::MissingVote,
    ];

    pub const fn grade(self) -> Grade {
        match self {
            Self::InvalidWorld | Self::UnreachableOutcome | Self::TrivialOutcome => Grade::Critical,
            Self::SimilarDescription | Self::SimilarGoal | Self::InvalidEdgeCase | Self::UnfittingPersona => {
                Grade::Warning
            }
            Self::MissingVote => Grade::Info,
            _ => Grade::Error,
        }
    }

    /// Whether models decide by their votes, and no program.
    pub const fn is_voted_on(self) -> bool {
        matches!(
            self,
            Self::UnachievableGoal
                | Self::InconsistentFacts
                | Self::ImplausibleOutcome
                | Self::InvalidEdgeCase
                | Self::KnowingUser
                | Self::UnfittingPersona
        )
    }

    pub const fn as_str(self) -> &'static str {
        self.texts().0
    }

    /// What holds where the rule is kept.
    pub const fn says(self) -> &'static str {
        self.texts().1
    }

    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::InvalidWorld => ("invalid-world", "The initial world fits the schema and the invariants."),
            Self::UnreachableOutcome => ("unreachable-outcome", "The script reaches the expected outcome."),
            Self::TrivialOutcome => ("trivial-outcome", "Doing nothing does not satisfy the expected outcome."),
            Self::UnknownIntent => ("unknown-intent", "The intent is one of the playbook's."),
            Self::ContradictedFact => ("contradicted-fact", "What the user knows stands in the system facts."),
            Self::LeakedFact => ("leaked-fact", "The user says only what a user can know."),
            Self::UnknownTool => ("unknown-tool", "The playbook has every tool that is named."),
            Self::UnknownArgument => ("unknown-argument", "Calls have only the arguments of their tools."),
            Self::MisplacedCall => ("misplaced-call", "Who makes a call has the tool."),
            Self::ScriptShape => ("script-shape", "The script is a conversation from a user's line to an agent's."),
            Self::FaultRule => ("fault-rule", "Fault rules name tools and say when they apply."),
            Self::SimilarDescription => ("similar-description", "No two scenarios have nearly the same description."),
            Self::SimilarGoal => ("similar-goal", "No two scenarios have nearly the same user_goal."),
            Self::UnachievableGoal => ("unachievable-goal", "Models agree that the goal can be achieved."),
            Self::InconsistentFacts => ("inconsistent-facts", "Models agree that amounts and ids are consistent."),
            Self::ImplausibleOutcome => ("implausible-outcome", "Models agree that the final state is plausible."),
            Self::InvalidEdgeCase => ("invalid-edge-case", "Models agree that what is unusual can happen."),
            Self::KnowingUser => ("knowing-user", "Models agree that the user knows only what a user can."),
            Self::UnfittingPersona => ("unfitting-persona", "Models agree that the personas fit the intent."),
            Self::MissingVote => ("missing-vote", "Every model that is asked about a scenario votes."),
        }
    }
}

/// A rule that a scenario breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: Rule,
    /// JSON pointer of the field in the scenario.
    pub at: String,
    pub message: String,
}

impl Finding {
    pub fn new(rule: Rule, at: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule, at: at.into(), message: message.into() }
    }

    /// The finding with its place in the scenario's file.
    pub fn within(self, file: &Located) -> Reported {
        Reported { problem: file.problem(&self.at, self.message), rule: self.rule }
    }
}

/// A finding and where it stands. Sorted, those of a file are together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reported {
    pub problem: Problem,
    pub rule: Rule,
}
