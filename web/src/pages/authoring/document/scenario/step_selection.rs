//! The step of a script that is looked at. It stands in the address, counted from 1 as on the page.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

#[derive(Clone, Copy)]
pub struct StepSelection {
    named: Memo<Option<usize>>,
    /// A step that the browser's way back knows, and one that it does not.
    push: SignalSetter<Option<usize>>,
    replace: SignalSetter<Option<usize>>,
}

impl StepSelection {
    pub fn here() -> Self {
        let options = |replace| NavigateOptions { scroll: false, replace, ..NavigateOptions::default() };
        let (named, push) = query_signal_with_options("step", options(false));
        let (_, replace) = query_signal_with_options("step", options(true));
        Self { named, push, replace }
    }

    /// Whether the address names one.
    pub fn is_named(self) -> bool {
        self.named.get_untracked().is_some()
    }

    /// The step, from 0; the script may have become shorter since the address was made.
    pub fn at(self, last: usize) -> Memo<usize> {
        Memo::new(move |_| self.named.get().unwrap_or(1).saturating_sub(1).min(last))
    }

    /// Goes to a step; the browser's way back leads here again.
    pub fn go(self, to: usize) {
        self.push.set(named(to));
    }

    /// The same as one step of many.
    pub fn slide(self, to: usize) {
        self.replace.set(named(to));
    }
}

/// The first step is shown where none is named.
fn named(step: usize) -> Option<usize> {
    (step > 0).then_some(step + 1)
}
