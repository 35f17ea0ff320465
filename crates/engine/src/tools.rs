//! Tools: how a call is answered and what it may change.

pub mod authority;
pub mod code;
pub mod grounding;

pub use authority::Pattern;
pub use code::Code;
