//! The turn that is looked at: it stands in the address.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, ScrollIntoViewOptions, ScrollLogicalPosition};

use crate::pages::ratings::is_rating;
use ui::components::anchor;
use ui::keys::use_shortcut;
use ui::transcript::{self, Turn};

#[derive(Clone, Copy)]
pub struct Cursor {
    /// The event that the address names.
    event: Memo<Option<u32>>,
    chosen: Memo<Option<u32>>,
    /// A step that the browser's way back knows, and one that it does not.
    push: SignalSetter<Option<u32>>,
    replace: SignalSetter<Option<u32>>,
    /// The turn that shows each event.
    homes: Memo<Vec<Option<u32>>>,
    order: Memo<Vec<u32>>,
    /// Whether somebody walks by keys: Tab then leads on from the turn.
    walks: StoredValue<bool>,
}

impl Cursor {
    /// Over the turns of a conversation, which may grow; with keys to walk by.
    pub fn over(turns: Signal<Vec<Turn>>) -> Self {
        let options = |replace| NavigateOptions { scroll: false, replace, ..NavigateOptions::default() };
        let (event, push) = query_signal_with_options::<u32>("turn", options(false));
        let (_, replace) = query_signal_with_options::<u32>("turn", options(true));
        let order = Memo::new(move |_| transcript::order(&turns.read()));
        let homes = Memo::new(move |_| transcript::homes(&turns.read()));
        let chosen = Memo::new(move |_| home(homes, event.get()?));
        let walks = StoredValue::new(false);
        let cursor = Self { event, chosen, push, replace, homes, order, walks };
        use_shortcut("j", "Next turn", move || cursor.walk(1));
        use_shortcut("k", "Previous turn", move || cursor.walk(-1));
        Effect::new(move |_| {
            let seq = chosen.get();
            // A slider that leads to a turn stays in hand.
            let focuses = walks.try_update_value(std::mem::take).unwrap_or_default();
            if let Some(seq) = seq {
                // The transcript may be made in this same moment.
                request_animation_frame(move || show(seq, focuses));
            }
        });
        cursor
    }

    /// The event that the address names, shown by itself or not.
    pub fn event(self) -> Option<u32> {
        self.event.get()
    }

    /// The turn that is looked at.
    pub fn chosen(self) -> Memo<Option<u32>> {
        self.chosen
    }

    /// The turn that shows an event.
    pub fn home(self, seq: u32) -> Option<u32> {
        home(self.homes, seq)
    }

    /// Goes to an event; the browser's way back leads here again.
    pub fn go(self, seq: u32) {
        self.push.set(Some(seq));
    }

    /// The same as one step of many.
    pub fn slide(self, seq: Option<u32>) {
        self.replace.set(seq);
    }

    fn walk(self, by: isize) {
        let next = self.order.with_untracked(|order| {
            let at = self.chosen.get_untracked().and_then(|seq| order.iter().position(|own| *own == seq));
            let to = match at {
                Some(at) => at.checked_add_signed(by)?,
                None if by > 0 => 0,
                None => order.len().checked_sub(1)?,
            };
            order.get(to).copied()
        });
        if next.is_some() {
            // Whoever rates while they read keeps the field that they are in.
            self.walks.set_value(next != self.chosen.get_untracked() && !is_rating());
            self.slide(next);
        }
    }
}

/// Events after the last turn belong to it.
fn home(homes: Memo<Vec<Option<u32>>>, seq: u32) -> Option<u32> {
    let seq = usize::try_from(seq).ok()?;
    homes.with(|homes| homes.get(seq).or(homes.last()).copied().flatten())
}

fn show(seq: u32, focuses: bool) {
    let Some(element) = document().get_element_by_id(&anchor(seq)) else { return };
    // What is folded away cannot be scrolled to.
    let mut fold = element.closest("details:not([open])").ok().flatten();
    while let Some(folded) = fold {
        // It fails for no name of an attribute that is one.
        let _ = folded.set_attribute("open", "");
        fold = folded.closest("details:not([open])").ok().flatten();
    }
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
    if let Some(element) = element.dyn_ref::<HtmlElement>().filter(|_| focuses) {
        // It fails only for an element that the page no longer has.
        let _ = element.focus();
    }
}
