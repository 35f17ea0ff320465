//! The building blocks of the web app's pages: API client, session, components, labels.

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
