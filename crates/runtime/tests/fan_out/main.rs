//! A second kind of task, made up for these tests: questions to a model, all at once, then an outside agent and a job, then
//! the model again. The runtime must play it exactly as durably as a conversation.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "the lints exempt test functions, but not their helpers")]

mod budget;
mod cancel;
mod claims;
mod crash;
mod fencing;
mod order;
mod outside;
mod outstanding;
mod pause;
mod retry;
mod support;
