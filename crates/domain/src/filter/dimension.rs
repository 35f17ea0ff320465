//! What filters can ask about.

use strum::{Display, IntoStaticStr, VariantArray, VariantNames};

use super::Status;
use crate::outcome::{Blame, Ending};
use crate::persona::Complexity;

/// Something that every conversation has, such as a persona or a number of turns. The variant in snake case is the name of the
/// facet.
///
/// To add a dimension, add a variant, its parameters in [`PARAMETERS`](super::PARAMETERS), and the fields of
/// [`Filter`](super::Filter) that they read. Each [`Row`](super::Row) then has to say where its value comes from. If its values
/// are the variants of an enum, they are in [`Self::words`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Dimension {
    Run,
    Scenario,
    Family,
    Tag,
    Playbook,
    Model,
    Persona,
    Complexity,
    Outcome,
    Blame,
    Reason,
    Ending,
    Finished,
    Turns,
    GoalAchieved,
    Agreement,
    /// Of its scenario in its run.
    SolveRate,
    Rated,
    Annotated,
    Corrected,
    /// Overall, or by a criterion.
    Score,
    Verified,
    ToolCalls,
    Tool,
}

/// What the values of a dimension are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Names that people choose from a list.
    Choice,
    /// Names that people type.
    Name,
    /// Ids of things that have a page of their own.
    Id,
    /// Yes or no, and the word for each.
    Flag {
        yes: &'static str,
        no: &'static str,
    },
    Count,
    /// From 0 to 10.
    Score,
    /// From 0 to 1.
    Share,
    Text,
    Time,
}

impl Dimension {
    /// What people call it.
    pub const fn label(self) -> &'static str {
        self.definition().0
    }

    pub const fn kind(self) -> ValueKind {
        self.definition().1
    }

    const fn definition(self) -> (&'static str, ValueKind) {
        const YES_OR_NO: ValueKind = ValueKind::Flag { yes: "yes", no: "no" };
        match self {
            Self::Run => ("Run", ValueKind::Id),
            Self::Scenario => ("Scenario", ValueKind::Choice),
            Self::Family => ("Scenario family", ValueKind::Choice),
            Self::Tag => ("Tag", ValueKind::Choice),
            Self::Playbook => ("Playbook", ValueKind::Choice),
            Self::Model => ("Model", ValueKind::Name),
            Self::Persona => ("Persona", ValueKind::Choice),
            Self::Complexity => ("Complexity", ValueKind::Choice),
            Self::Outcome => ("Outcome", ValueKind::Choice),
            Self::Blame => ("Blame", ValueKind::Choice),
            Self::Reason => ("Reason for the failure", ValueKind::Text),
            Self::Ending => ("Ending", ValueKind::Choice),
            Self::Finished => ("Finished", ValueKind::Time),
            Self::Turns => ("Turns", ValueKind::Count),
            Self::GoalAchieved => ("Goal", ValueKind::Flag { yes: "achieved", no: "not achieved" }),
            Self::Agreement => ("Agreement of judges", ValueKind::Share),
            Self::SolveRate => ("Solve rate of the scenario", ValueKind::Share),
            Self::Rated => ("Rated by people", YES_OR_NO),
            Self::Annotated => ("Annotated by people", YES_OR_NO),
            Self::Corrected => ("Corrected by people", YES_OR_NO),
            Self::Score => ("Overall score", ValueKind::Score),
            Self::Verified => ("Verifier", ValueKind::Flag { yes: "passed", no: "failed" }),
            Self::ToolCalls => ("Tool calls", ValueKind::Count),
            Self::Tool => ("Tools called", ValueKind::Choice),
        }
    }

    /// Whether people choose from a list of its values, each with its number of conversations.
    pub const fn has_facet(self) -> bool {
        matches!(self.kind(), ValueKind::Choice | ValueKind::Flag { .. })
    }

    /// All of its values, if they are fixed in the program.
    pub fn values(self) -> Option<Vec<&'static str>> {
        match self {
            Self::Ending => Some(Ending::VARIANTS.to_vec()),
            other => other.words(),
        }
    }

    /// All of its values, if they are variants of an enum. The number of such a value is its index here; all other names have
    /// the numbers of the rows' [`Symbols`](super::Symbols).
    pub fn words(self) -> Option<Vec<&'static str>> {
        match self {
            Self::Complexity => Some(names::<Complexity>()),
            Self::Outcome => Some(names::<Status>()),
            Self::Blame => Some(names::<Blame>()),
            _ => None,
        }
    }
}

/// The names of the variants of an enum, in their order.
fn names<T: VariantArray + Copy + Into<&'static str>>() -> Vec<&'static str> {
    T::VARIANTS.iter().map(|variant| (*variant).into()).collect()
}
