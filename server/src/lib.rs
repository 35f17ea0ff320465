//! The program `groundstate`: its commands, its HTTP API, and the people who use them.

pub mod cli;
pub mod commands;
pub mod http;
pub mod jobs;
pub mod people;
mod player_process;
pub mod postgres;
pub mod reference;
mod say;
pub mod secret;
pub mod telemetry;
