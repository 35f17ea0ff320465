//! Playing: what a run plans, who plays it, and how one conversation of it is played.

pub mod active;
mod ahead;
pub mod branch;
pub mod budget;
pub mod calibrate;
pub mod cast;
pub mod commit;
pub mod correct;
pub mod judge;
pub mod judgings;
mod noted;
pub mod order;
pub mod plan;
pub mod play;
pub mod player;
pub mod probes;
pub mod review_queue;
pub mod run;
pub mod workers;
pub mod worlds;
