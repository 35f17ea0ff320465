//! Findings in documents that can be read: the rule that is broken, how bad that is, and the place.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::document::LocatedValue;
use crate::problem::Problem;

/// How bad a finding is. A scenario with a critical finding or an error cannot be promoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Grade {
    /// Worth knowing.
    Info,
    /// The scenario can be played, but is probably not what was meant.
    Warning,
    /// The scenario contradicts its playbook or itself.
    Error,
    /// The score of an agent in this scenario would mean nothing.
    Critical,
}

/// What is looked for. Names and grades are read by other programs: they stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
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
    BrokenPlaybook,
    DoubtfulPlaybook,
}

impl Rule {
    pub const fn grade(self) -> Grade {
        match self {
            Self::InvalidWorld | Self::UnreachableOutcome | Self::TrivialOutcome => Grade::Critical,
            Self::SimilarDescription
            | Self::SimilarGoal
            | Self::InvalidEdgeCase
            | Self::UnfittingPersona
            | Self::DoubtfulPlaybook => Grade::Warning,
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

    /// What holds where the rule is kept.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::InvalidWorld => "The initial world fits the schema and the invariants.",
            Self::UnreachableOutcome => "The script reaches the expected outcome.",
            Self::TrivialOutcome => "Doing nothing does not satisfy the expected outcome.",
            Self::UnknownIntent => "The intent is one of the playbook's.",
            Self::ContradictedFact => "Every fact in user_facts is in the records.",
            Self::LeakedFact => "The user says only what a user can know.",
            Self::UnknownTool => "Every tool that is named exists in the playbook.",
            Self::UnknownArgument => "Calls have only the arguments of their tools.",
            Self::MisplacedCall => "Every call is made by a party that has the tool.",
            Self::ScriptShape => "The script is a conversation from a user's line to an agent's.",
            Self::FaultRule => "Fault rules name tools and say when they apply.",
            Self::SimilarDescription => "No two scenarios of a playbook have nearly the same description.",
            Self::SimilarGoal => "No two scenarios of a playbook have nearly the same user_goal.",
            Self::UnachievableGoal => "Models agree that the goal can be achieved.",
            Self::InconsistentFacts => "Models agree that amounts and ids are consistent.",
            Self::ImplausibleOutcome => "Models agree that the final state is plausible.",
            Self::InvalidEdgeCase => "Models agree that unusual circumstances can happen.",
            Self::KnowingUser => "Models agree that the user knows only what a user can know.",
            Self::UnfittingPersona => "Models agree that the personas fit the intent.",
            Self::MissingVote => "Every model that is asked about a scenario votes.",
            Self::BrokenPlaybook => "Tools, hooks and rules work when they are tried.",
            Self::DoubtfulPlaybook => "Nothing in the playbook contradicts what it is tried with.",
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
    pub fn within(self, file: &LocatedValue) -> LocatedFinding {
        LocatedFinding { problem: file.problem(&self.at, self.message), rule: self.rule }
    }
}

/// A finding with its file and line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocatedFinding {
    pub problem: Problem,
    pub rule: Rule,
}
