//! What people rate a conversation by, on its page and in a queue.

mod draft_storage;
mod form;

pub use draft_storage::DraftStorage;
pub use form::{RatingForm, is_rating};
