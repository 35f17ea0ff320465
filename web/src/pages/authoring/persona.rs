//! A persona profile as sliders, what is drawn from it, and how two of them differ. All of it edits the profile's text, or
//! reads it: it is saved as every document is.

mod compare;
mod curve;
mod dimensions;
mod mixture;
mod model;
mod plot;
mod profile;
mod sample;
mod slider;
mod table;

pub use compare::ComparePanel;
pub use profile::ProfilePanel;
