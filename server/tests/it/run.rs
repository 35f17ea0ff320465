//! Runs: planned from a seed, played durably, exported.

mod again;
mod endpoint;
mod failures;
mod judge;
mod panel;
mod personas;
mod refusals;
mod resume;
mod seed;
