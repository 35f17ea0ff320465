//! What a profile says of each dimension of the persona model, read from its text and written into it.

use domain::document;
use domain::patch::join;
use domain::persona::Spread;
use leptos::prelude::*;
use serde_json::Value;

use crate::pages::authoring::draft::Draft;
use crate::pages::authoring::edit;
use ui::components::Toasts;

#[derive(Clone, Copy)]
pub struct Profile {
    draft: Draft,
    main: Memo<(String, String)>,
    /// What the text says; while it cannot be read, what it said before.
    pub value: Memo<Value>,
    /// Whether the text can be read now.
    pub readable: Memo<bool>,
    toasts: Toasts,
}

impl Profile {
    pub fn of(draft: Draft) -> Self {
        let main = draft.main();
        let read = move || main.with(|(path, text)| document::value(path, text).ok());
        let value = Memo::new(move |before: Option<&Value>| {
            read().map(|read| read.value).or_else(|| before.cloned()).unwrap_or_default()
        });
        Self { draft, main, value, readable: Memo::new(move |_| read().is_some()), toasts: Toasts::here() }
    }

    pub fn may_write(self) -> bool {
        self.draft.may_write.get() && self.readable.get()
    }

    /// Writes a value into the text.
    pub fn set(self, pointer: &str, value: &Value) {
        let (path, text) = self.main.get_untracked();
        match edit::set(&text, pointer, value) {
            Some(changed) => self.draft.write(&path, changed),
            None => self.toasts.bad(format!("{pointer} can be changed only in the source.")),
        }
    }
}

pub fn base(profile: &Value, name: &str) -> Option<f64> {
    profile["traits"][name].as_f64()
}

pub fn range(profile: &Value, name: &str) -> Option<[f64; 2]> {
    let ends = &profile["emotions"][name];
    Some([ends[0].as_f64()?, ends[1].as_f64()?])
}

pub fn of_trait(profile: &Value, name: &str, sigma: f64) -> Option<Spread> {
    base(profile, name).map(|base| Spread::Normal { base, sigma })
}

pub fn of_emotion(profile: &Value, name: &str) -> Option<Spread> {
    range(profile, name).map(|[low, high]| Spread::Uniform { low, high })
}

pub fn trait_pointer(name: &str) -> String {
    join("/traits", name)
}

pub fn emotion_pointer(name: &str) -> String {
    join("/emotions", name)
}

/// As people set it: two decimals.
pub fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
