//! Playing: what a run plans, and how one conversation of it is played.

pub mod judge;
pub mod plan;
pub mod play;
pub mod review;
pub mod run;
mod worlds;
