//! What must be true at the end of a conversation, in terms a program can check.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectedOutcome {
    /// Pointer into the final world -> the value that must be there. `+` in a pointer is a record that did not exist
    /// at the start. Everything that is not named must be unchanged; in a new record only the named fields are
    /// compared. null means that nothing is there any more.
    pub world: Map<String, Value>,
    /// Calls that must have succeeded, each a separate call. Named arguments must match; others are free.
    pub actions: Vec<ActionPattern>,
    /// Whether they must have succeeded in this order.
    pub actions_in_order: bool,
    /// Calls that must not have succeeded.
    pub forbidden: Vec<ActionPattern>,
    /// Texts that the agent must have told the user. Letter case, thousands separators and white space are ignored, and a date may be written in any form.
    pub told: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionPattern {
    /// Name of the tool that is called.
    pub tool: String,
    /// Arguments that the call must have, with these values.
    #[serde(default)]
    pub args: Map<String, Value>,
}
