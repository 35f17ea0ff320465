//! The program `groundstate`.

pub mod archive;
pub mod authoring;
pub mod bad_input;
pub mod clock;
pub mod commands;
pub mod corpora;
pub mod documents;
pub mod export;
pub mod http;
pub mod import;
pub mod index;
pub mod jobs;
pub mod library;
mod names;
pub mod people;
pub mod postgres;
pub mod provenance;
mod say;
pub mod secret;
mod shipped;
pub mod store;
pub mod telemetry;
mod text;
pub mod worker;
