//! What is made of conversations: the column index that lists read, corpora, and exports for trainers.

pub mod corpora;
pub mod export;
pub mod index;
