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

/// Arrows lead from the link of one row to that of the next. Whoever is in none yet is led to row `first`.
pub fn walk(event: &KeyboardEvent, first: usize) {
    let by = match event.key().as_str() {
        "ArrowDown" | "j" => 1,
        "ArrowUp" | "k" => -1,
        _ => return,
    };
    let Some(row) = focused_row() else {
        // The list itself has the focus: the first key leads into it.
        if by == 1 && focus(&link_of(first + 2)) {
            event.prevent_default();
        }
        return;
    };
    if focus(&link_of(row.saturating_add_signed(by))) {
        event.prevent_default();
    }
}

/// An element is another row's now: whoever was in it is in the list, and not suddenly at that row.
pub fn let_go(row: Option<&HtmlElement>, list: Option<&HtmlElement>) {
    let focused = document().active_element();
    if row.is_some_and(|row| row.contains(focused.as_deref())) {
        // A browser that refuses gives the focus to nobody, which is as good.
        drop(list.map(HtmlElement::focus));
    }
}

/// Rows are numbered as in `aria-rowindex`: from 2, for the head is one.
fn link_of(row: usize) -> String {
    format!(".virtual .virtual-body [aria-rowindex='{row}'] a")
}

fn focused_row() -> Option<usize> {
    let row = document().active_element()?.closest("[aria-rowindex]").ok()??;
    row.get_attribute("aria-rowindex")?.parse().ok()
}

fn focus(selector: &str) -> bool {
    let found = document().query_selector(selector).ok().flatten();
    let link = found.and_then(|found| found.dyn_into::<HtmlElement>().ok());
    link.is_some_and(|link| link.focus().is_ok())
}
