//! Where a value of a tool's reply comes from.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a value of a reply, or of a change, was taken from. Values are compared, not followed: what stands in a record or in
/// the call is said to come from there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It stands in a record that the tool may read.
    World {
        /// A JSON pointer into the world before the call.
        pointer: String,
        /// How many other places hold the same and are as likely.
        others: usize,
    },
    /// It stands in the call.
    Argument {
        /// A JSON pointer into the arguments.
        pointer: String,
    },
    /// The time of the scenario, or of the playbook.
    Clock,
    /// A new id: the same calls in the same conversation give the same.
    FreshId,
    /// The playbook says so: it is what the tool always answers.
    Playbook,
    /// The tool's function made it.
    Function,
    /// A model said it.
    Model,
}
