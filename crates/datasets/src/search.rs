//! Search indexes over datasets: built by a job, kept as files in object storage, and searched where they were copied to.

mod build;
mod cache;
pub mod job;
mod open;
mod schema;

pub use cache::IndexCache;
pub use open::OpenIndex;
