//! The browser app: reads the REST API, shows runs and conversations.

#![expect(
    clippy::large_types_passed_by_value,
    reason = "handles of signals and props are handed on by value; they are large in debug builds only"
)]

mod app;
mod pages;

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(app::App);
}
