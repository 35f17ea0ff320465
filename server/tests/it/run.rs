//! Runs: planned from a seed, played durably, exported.

mod endpoint;
mod failures;
mod refusals;
mod resume;
mod seed;
