//! Charts: small SVG whose colours are classes, each with its figures in a table behind it.
//!
//! Each module has the geometry of its chart as plain functions, and a component that draws it.

pub mod bars;
mod figure;
pub mod funnel;
pub mod histogram;
pub mod intervals;
pub mod matrix;

pub use bars::{Bar, Bars};
pub use figure::{Figure, figure, signed};
pub use funnel::{Funnel, Step};
pub use histogram::Histogram;
pub use intervals::{Estimate, Intervals};
pub use matrix::Matrix;
