//! A short word with a tone.

use leptos::prelude::*;

use crate::labels::Tone;

#[component]
pub fn Badge(tone: Tone, #[prop(into)] text: String) -> impl IntoView {
    view! { <span class=tone.class()>{text}</span> }
}
