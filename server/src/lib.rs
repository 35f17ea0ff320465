//! The program `groundstate`: its commands, its HTTP API, and the people who use them.

pub mod cli;
pub mod commands;
pub mod http;
pub mod jobs;
mod output;
pub mod people;
pub mod playable;
pub mod player_process;
pub mod postgres;
pub mod reference;
pub mod secret;
pub mod telemetry;
