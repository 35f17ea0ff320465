//! How much of a model's reply is read. A model that goes on without end is at fault, and its reply is of no use.

/// What a model says, in bytes: words, reasoning, and calls with their arguments. 32,000 tokens, the longest replies in use,
/// have some 100 kB.
pub const MOST_REPLY_BYTES: usize = 1 << 20;
/// What is sent for one reply, in bytes. In a stream, each token has some 300 bytes around it.
pub const MOST_SENT_BYTES: usize = 16 << 20;
/// Calls of one reply: plans have up to 20.
pub const MOST_CALLS: usize = 200;
