//! How far a model with tools is.

use domain::message::ToolCall;

use super::Ending;

#[derive(Clone, Default)]
pub struct Agent {
    /// Replies with calls.
    pub rounds: u32,
    /// Calls of all replies before the last one.
    pub before: usize,
    /// The calls of the last reply, and their answers.
    pub calls: Vec<ToolCall>,
    pub answers: Vec<Option<Result<String, Ending>>>,
    pub said: String,
}
