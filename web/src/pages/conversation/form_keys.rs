//! Keys of the forms at a turn.

use leptos::ev::KeyboardEvent;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlFormElement};

/// Ctrl+Enter sends the form in which it is pressed, Escape closes it.
pub fn press(event: &KeyboardEvent, close: impl FnOnce()) {
    match event.key().as_str() {
        "Enter" if event.ctrl_key() || event.meta_key() => {
            event.prevent_default();
            if let Some(form) = form_of(event) {
                // It fails only for an element that the page no longer has.
                let _ = form.request_submit();
            }
        }
        "Escape" => close(),
        _ => {}
    }
}

fn form_of(event: &KeyboardEvent) -> Option<HtmlFormElement> {
    let target: Element = event.target()?.dyn_into().ok()?;
    target.closest("form").ok()??.dyn_into().ok()
}
