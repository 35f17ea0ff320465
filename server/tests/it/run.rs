//! Runs: planned from a seed, played durably, exported.

mod again;
mod budget;
mod control;
mod crash;
mod durability;
mod endpoint;
mod failover;
mod failures;
mod in_flight;
mod jobs;
mod judge;
mod leases;
mod noted;
mod panel;
mod personas;
mod pipelining;
mod quarantine;
mod refusals;
mod resume;
mod rows;
mod seed;
mod shipped_workflows;
mod storage;
mod unanswered;
mod unheard;
mod workers;
