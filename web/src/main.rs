//! The browser app: reads the REST API, shows runs and conversations.

#![expect(
    clippy::large_types_passed_by_value,
    reason = "handles of signals and props are handed on by value; they are large in debug builds only"
)]

mod address;
mod api_client;
mod app;
mod components;
mod format;
mod json_text;
mod keys;
mod labels;
mod pages;
mod parts;
mod session;
mod theme;
mod transcript;

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(app::App);
}
