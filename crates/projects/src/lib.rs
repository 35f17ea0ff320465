//! The documents of a project: read, checked together, saved in versions, drafted by models and imported.

pub mod archive;
pub mod authoring;
pub mod documents;
pub mod import;
pub mod library;
mod names;
pub mod provenance;
pub mod reference;
pub mod review;
mod sandboxed;
pub mod shipped;
mod worker;

pub use worker::worker;
