//! The program as a whole, over a real PostgreSQL: `DATABASE_URL` names a server, and each test makes a database of its
//! own there. `cargo xtask test` and `groundstate db exec --throwaway -- cargo test` set it.
#![expect(clippy::unwrap_used, reason = "a test may fail so; the lint exempts test functions, but not their helpers")]

mod abuse;
mod answer_queue;
mod cli;
mod docs;
mod export;
mod filter;
mod http;
mod index;
mod lookups;
mod migrations;
mod mutations;
mod people;
mod postgres;
mod run;
mod support;
