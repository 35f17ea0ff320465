//! Where a value of a tool's reply comes from.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a value of a reply or of a change comes from. Values are only compared: a value that is in a record or in the
/// call is said to come from there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A record that the tool may read.
    World {
        /// A JSON pointer into the world before the call.
        pointer: String,
        /// How many other places hold the same value and are as likely.
        others: usize,
    },
    /// An argument of the call.
    Argument {
        /// A JSON pointer into the arguments.
        pointer: String,
    },
    /// The time of the scenario, or of the playbook.
    Clock,
    /// A new id: the same calls in the same conversation give the same.
    FreshId,
    /// The playbook: the tool always gives this answer.
    Playbook,
    /// The tool's function.
    Function,
    /// A model.
    Model,
    /// A service, or its stand-in.
    Service,
}
