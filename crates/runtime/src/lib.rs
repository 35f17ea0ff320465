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
mod disk;
pub mod drive;
mod heartbeat;
mod inbox;
pub mod jobs;
mod listen;
mod loaded_run;
mod local_answers;
mod place;
mod player;
mod prefetch;
mod request_answer;
mod run_kind;
mod run_signals;
mod runnable;
mod storage;
mod watchdog;
mod worker_pools;
mod written_bytes;

pub use binding::{Executor, ModelBinding, ModelClients, OutsideParty, Pace, Service};
pub use budget::{Spending, cap_reached};
pub use disk::{Disks, Space};
pub use drive::StopReason;
pub use heartbeat::this_host;
pub use inbox::Inbox;
pub use loaded_run::{Halt, LoadedRun, RunControl, kind_of, pause};
pub use local_answers::{Followed, LocalAnswer, LocalAnswers, Next};
pub use place::Place;
pub use player::{Options, Player};
pub use run_kind::{ModelCall, RunKind, TaskOutcome};
pub use runnable::Runnable;
pub use worker_pools::{PoolFollower, follow, of_model};
