//! Going through a list by keys, and coming back to where one was.

use std::cell::RefCell;
use std::collections::HashMap;

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos::web_sys::{Element, HtmlElement};
use wasm_bindgen::JsCast;

thread_local! {
    /// How far each list was scrolled when it was left.
    static PLACES: RefCell<HashMap<String, i32>> = RefCell::default();
}

pub fn remember(list: &str, top: i32) {
    PLACES.with_borrow_mut(|places| places.insert(list.to_owned(), top));
}

/// Moves a list to where it was when it was left. A list that is not all there yet may be too short: it is moved later.
pub fn come_back(list: &Element, name: &str, all_there: bool) {
    PLACES.with_borrow_mut(|places| {
        let reach = list.scroll_height() - list.client_height();
        if let Some(top) = places.get(name).copied().filter(|top| all_there || *top <= reach) {
            places.remove(name);
            list.set_scroll_top(top);
        }
    });
}

/// Arrows lead from the link of one row to that of the next.
pub fn walk(event: &KeyboardEvent) {
    let by = match event.key().as_str() {
        "ArrowDown" | "j" => 1,
        "ArrowUp" | "k" => -1,
        _ => return,
    };
    let Some(row) = focused_row() else {
        // The list itself has the focus: the first key leads into it.
        if by == 1 && focus(".virtual .virtual-body [role=row] a") {
            event.prevent_default();
        }
        return;
    };
    if focus(&format!(".virtual [aria-rowindex='{}'] a", row + by)) {
        event.prevent_default();
    }
}

fn focused_row() -> Option<i32> {
    let row = document().active_element()?.closest("[aria-rowindex]").ok()??;
    row.get_attribute("aria-rowindex")?.parse().ok()
}

fn focus(selector: &str) -> bool {
    let found = document().query_selector(selector).ok().flatten();
    let link = found.and_then(|found| found.dyn_into::<HtmlElement>().ok());
    link.is_some_and(|link| link.focus().is_ok())
}
