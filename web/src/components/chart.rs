//! Charts: small SVG whose colours are classes, each with its figures in a table behind it.
//!
//! Each module has the geometry of its chart as plain functions, and a component that draws it.

pub mod histogram;
