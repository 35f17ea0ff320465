//! What the pages of the web app are made of: the client of the API, the session, components, and what things are called.

#![expect(
    clippy::new_without_default,
    reason = "signals belong to the page that makes them; a default would hide that they are made"
)]

pub mod address;
pub mod api_client;
pub mod components;
pub mod format;
pub mod json_text;
pub mod keys;
pub mod labels;
pub mod parts;
pub mod session;
pub mod theme;
pub mod transcript;
