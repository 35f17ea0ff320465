//! How a corpus is selected, step by step. Nothing here knows the database: [`crate::corpora::job`] brings the
//! conversations and keeps what comes of them.
//!
//! Of each conversation only hashes and sketches stay in memory; what near-duplicates are compared by lies in a file.
//! What is selected depends on the conversations and the [`domain::corpus::Spec`] alone, never on their order.

pub mod authored_values;
pub mod balance;
pub mod job;
pub mod leakage;
pub mod manifest;
pub mod near_duplicates;
pub mod scan;
pub mod select;
pub mod shingles;
pub mod sieve;
pub mod sketch;
pub mod split;
pub mod utterances;

#[cfg(test)]
mod tests;
