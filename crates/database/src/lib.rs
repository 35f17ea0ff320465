//! A private PostgreSQL: a server process of our own in a data directory of our own.
//!
//! Plain `std`, blocking, no SQL: `groundstate` and `xtask` both use it, and xtask must start a database before the
//! server crate, whose queries are checked against one, can be compiled.
//!
//! Processes may share a data directory. Each holds a shared lock; a small watchdog process waits for the exclusive
//! one and then stops PostgreSQL, so that nothing is left running after the last of them is gone, whether it said
//! goodbye or was killed.

mod account;
mod binaries;
mod error;
mod files;
mod initdb;
mod lock;
mod percent;
mod postmaster;
mod private;

pub use account::runs_as_root;
pub use binaries::{is_installed, program};
pub use error::Error;
pub use private::PrivatePostgres;

type Result<T> = std::result::Result<T, Error>;
