//! The files beside the database in a backup: those of exports, and the objects of datasets and indexes.

pub mod exports;
pub mod objects;
