//! Runs: planned from a seed, played durably, exported.

mod again;
mod control;
mod crash;
mod endpoint;
mod failures;
mod judge;
mod noted;
mod panel;
mod personas;
mod refusals;
mod resume;
mod seed;
mod workers;
