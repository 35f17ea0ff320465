//! What is made of conversations: the column index that lists read, corpora, and exports for trainers. And datasets: rows that
//! runs begin with.

pub mod backup;
pub mod corpora;
pub mod dataset;
pub mod export;
pub mod index;
mod room;
pub mod search;
