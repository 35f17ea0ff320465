//! What models are asked that compare texts and write none: embedding models and rerankers.

use std::sync::Arc;

use crate::role::RoleId;

/// One call, complete. The reply is a [`ChatReply`](crate::chat::ChatReply) whose content is JSON: a list of vectors, or a list
/// of `{index, score}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncoderRequest {
    /// Who answers, as metrics and usage name it.
    pub role: RoleId,
    /// Spreads the waits between attempts, as the seed of a [`ChatRequest`](crate::chat::ChatRequest) does.
    pub seed: i64,
    pub task: EncoderTask,
}

/// Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncoderTask {
    /// A vector for each text.
    Embed { texts: Arc<[String]> },
    /// How well each document answers the query, for the best `most` of them.
    Rerank { query: Arc<str>, documents: Arc<[String]>, most: usize },
}
