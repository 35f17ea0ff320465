//! Where somebody was in lists that grow: the browser's way back leads there again.
//!
//! The state of an entry in the browser's history says under which name its places are kept. What a link leads to is another
//! entry, without a state, and a list begins there at its beginning.

use std::cell::RefCell;
use std::collections::HashMap;

use leptos::prelude::*;
use leptos_router::hooks::use_location;

thread_local! {
    static PLACES: RefCell<HashMap<(String, &'static str), ScrollPosition>> = RefCell::default();
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScrollPosition {
    /// How many rows were there.
    pub rows: usize,
    /// How far the page was scrolled, in CSS pixels.
    pub top: f64,
}

/// A list, at an address.
#[derive(Clone)]
pub struct List {
    what: &'static str,
    address: String,
}

impl List {
    pub fn here(what: &'static str) -> Self {
        let location = use_location();
        let (path, query) = (location.pathname.get_untracked(), location.search.get_untracked());
        let mark = if query.is_empty() { "" } else { "?" };
        Self { what, address: format!("{path}{mark}{query}") }
    }

    /// Where it was left, if this is where it was.
    pub fn left(&self) -> Option<ScrollPosition> {
        let entry = self.entry()?;
        PLACES.with_borrow(|places| places.get(&(entry, self.what)).copied())
    }

    /// Remembers where it is now.
    pub fn save(&self, rows: usize) {
        let Some(entry) = self.is_shown().then(|| self.entry().or_else(|| self.named())).flatten() else { return };
        let place = ScrollPosition { rows, top: window().scroll_y().unwrap_or_default() };
        PLACES.with_borrow_mut(|places| places.insert((entry, self.what), place));
    }

    /// Pages are left a moment after the address is, and are scrolled by it.
    fn is_shown(&self) -> bool {
        let location = window().location();
        location.pathname().ok().zip(location.search().ok()).is_some_and(|(path, query)| path + &query == self.address)
    }

    /// The name of the entry. A page is made a moment before the browser goes to its address: until then, the entry is that
    /// of the page before.
    fn entry(&self) -> Option<String> {
        let state = window().history().ok()?.state().ok()?.as_string()?;
        names(&state, &self.address).then_some(state)
    }

    fn named(&self) -> Option<String> {
        let name = format!("{} {}", self.address, js_sys::Math::random());
        window().history().ok()?.replace_state(&name.as_str().into(), "").ok()?;
        Some(name)
    }
}

/// Whether an entry's state is a name of ours, for this address. There is no blank in an address.
fn names(state: &str, address: &str) -> bool {
    state.split_once(' ').is_some_and(|(own, _)| own == address)
}

/// Leads the reader to where they were, once the rows are laid out.
pub fn scroll_to(top: f64) {
    request_animation_frame(move || window().scroll_to_with_x_and_y(0.0, top));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_known_by_its_address() {
        assert!(names("/projects/default/runs?tab=a 0.25", "/projects/default/runs?tab=a"));
        assert!(!names("/projects/default/runs?tab=a 0.25", "/projects/default/runs"));
        assert!(!names("/projects/default/runs", "/projects/default/runs"), "somebody else's state");
    }
}
