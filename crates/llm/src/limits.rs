//! How much of a model's reply is read. A model that goes on without end is at fault, and its reply is of no use.

/// What a model says, in bytes: words, reasoning, and calls with their arguments. 32,000 tokens, the longest replies in use,
/// have some 100 kB.
pub const MOST_REPLY_BYTES: usize = 1 << 20;
/// What is sent for one reply, in bytes. In a stream, each token has some 300 bytes around it.
pub const MOST_SENT_BYTES: usize = 16 << 20;
/// Calls of one reply: plans have up to 20.
pub const MOST_CALLS: usize = 200;

/// Size of one reply with its token ids and log-probabilities, in bytes. A token of the reply takes some 300 bytes, and one of the
/// prompt 7.
pub const MOST_SENT_BYTES_WITH_TOKENS: usize = 32 << 20;
/// Token ids of a prompt: as many as the longest contexts have.
pub const MOST_PROMPT_TOKENS: usize = 1 << 20;
/// Token ids of a reply: four times the longest in use.
pub const MOST_COMPLETION_TOKENS: usize = 1 << 17;
/// What an endpoint says of the weights that it sampled from, in characters.
pub const LONGEST_POLICY: usize = 200;
