//! A second kind of task, made up for these tests: questions to a model, all at once, then an outside agent and a job, then
//! the model again. The runtime must play it exactly as durably as a conversation.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "the lints exempt test functions, but not their helpers")]

mod claims;
mod order;
mod outside;
mod outstanding;
mod support;
