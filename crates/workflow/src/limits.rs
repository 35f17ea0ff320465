//! How large workflows may be, and how much one row may do. Each limit is some ten times what the shipped workflows need.

/// Steps of a workflow, those of its maps and loops included: the largest shipped one has 23.
pub const MOST_STEPS: usize = 300;
/// Maps and loops within each other: the deepest shipped one has three.
pub const MOST_LEVELS: usize = 16;
/// Workflows that call each other.
pub const MOST_CALL_LEVELS: usize = 8;
/// Roles of a workflow, and tools of one step.
pub const MOST_ROLES: usize = 50;
pub const MOST_TOOLS: usize = 100;
/// Samples of a workflow.
pub const MOST_SAMPLES: usize = 100;
/// Items of a map or of a split reply, if the document names no other number.
pub const USUAL_ITEMS: usize = 1_000;
/// Texts of one embedding request: what Text Embeddings Inference takes if it is not told otherwise.
pub const MOST_BATCH_TEXTS: usize = 32;
/// Bytes of one embedding request, unless a single text is longer.
pub const MOST_BATCH_BYTES: usize = 128 << 10;
/// Texts of one `embed`, and documents of one `rerank`.
pub const MOST_TEXTS: usize = 1_000;
/// Bytes of the documents of one `rerank`.
pub const MOST_RERANK_BYTES: usize = 4 << 20;
/// Bytes that are sent to a tool.
pub const MOST_TOOL_BYTES: usize = 1 << 20;
/// What a conversation takes of the values of a row, in bytes, beside what models say in it: its world, its messages and its
/// checks.
pub const CONVERSATION_BYTES: usize = 64 << 10;
/// Items, rounds and calls of one row together: what is held in memory while it is played.
pub const MOST_SCOPES: usize = 100_000;
/// Requests of one row.
pub const MOST_REQUESTS: usize = 100_000;
/// All that a row is answered and computes, in bytes of JSON.
pub const MOST_ROW_BYTES: usize = 64 << 20;
/// Replies of a model with tools, if the document names no other number.
pub const USUAL_ROUNDS: u32 = 8;
/// Longest reply, in tokens, if the document names no other number.
pub const USUAL_TOKENS: u32 = 2_048;
/// Sampling temperature, if the document names none.
pub const USUAL_TEMPERATURE: f32 = 0.7;
