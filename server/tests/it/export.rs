//! Exports: what a row says is what replaying its conversation says.

mod groups;
mod pairs;
mod profiles;
mod rows;
mod tokens;
