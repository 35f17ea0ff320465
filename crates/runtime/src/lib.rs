//! The runtime: it plays the tasks of runs and works on jobs, durably, on any number of processes.
//!
//! A [`Player`] claims positions of runs, a [`drive`] plays one task from wherever it stands to its end, the
//! [`commit`] queue keeps journal entries of many tasks in one transaction. The runtime knows what a task needs
//! ([`domain::task::Task`]) and never what a task is about: that is the [`RunKind`]'s. What else takes long is done as
//! [`jobs`], by handlers that know what a job is about.

mod binding;
mod budget;
mod claims;
pub mod commit;
pub mod drive;
mod heartbeat;
mod inbox;
pub mod jobs;
mod listen;
mod loaded_run;
mod place;
mod player;
mod prefetch;
mod run_kind;
mod run_signals;
mod runnable;
mod watchdog;
mod worker_pools;

pub use binding::{Executor, ModelBinding, ModelClients, Pace};
pub use budget::{Spending, cap_reached};
pub use heartbeat::this_host;
pub use inbox::Inbox;
pub use loaded_run::{Halt, LoadedRun, RunControl, pause};
pub use place::Place;
pub use player::{Options, Player};
pub use run_kind::{Ended, ModelCall, RunKind};
pub use runnable::Runnable;
pub use worker_pools::{Following, follow, of_model};
