//! Names of ends that no document gives.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::outcome::Blame;

/// How rows end without an `end` of their document. An `end` cannot have one of these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum BuiltInEnd {
    /// The row came to the end of its document.
    Finished,
    /// An expression or a function of the document failed.
    FailedCode,
    FailedSearch,
    FailedTemplate,
    FailedTool,
    /// The input does not fit the workflow, or the workflow that it calls.
    InvalidInput,
    InvalidReply,
    InvalidScenario,
    /// No model answered. The row is played again.
    NoAnswer,
    TooLarge,
    TooManyItems,
    /// The processes that played the row died.
    Playbook,
    Infrastructure,
    /// It waits for nothing, and has not ended.
    Unfinished,
}

impl BuiltInEnd {
    /// The ends that another attempt can change. An order to retry a run plays rows that ended like this again, and no others.
    pub const RETRIED: [Self; 4] = [Self::NoAnswer, Self::Infrastructure, Self::Playbook, Self::Unfinished];
}

/// How a row ends that is not played any more.
impl From<Blame> for BuiltInEnd {
    fn from(blame: Blame) -> Self {
        match blame {
            Blame::Playbook => Self::Playbook,
            _ => Self::Infrastructure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_documented() {
        let text = include_str!("../../../../docs/workflows.md");
        let (_, ends) = text.split_once("### Ends").unwrap();
        let (ends, _) = ends.split_once("\n## ").unwrap();
        let missing: Vec<_> = BuiltInEnd::VARIANTS.iter().filter(|end| !ends.contains(&format!("`{end}`"))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_row_that_is_given_up_is_named_after_the_blame() {
        for blame in [Blame::Playbook, Blame::Infrastructure] {
            assert_eq!(BuiltInEnd::from(blame).into_str(), blame.into_str());
        }
    }
}
