//! A number from 0 to 1.

use leptos::prelude::*;

use super::dimensions::Profile;

#[component]
pub fn Slider(
    /// Names it to screen readers.
    label: String,
    /// Beside it.
    shown: String,
    #[prop(into)] value: Signal<f64>,
    /// After it; default: the value.
    #[prop(optional, into)]
    says: Option<Signal<String>>,
    profile: Profile,
    #[prop(into)] set: Callback<f64>,
) -> impl IntoView {
    let output = move || says.map_or_else(|| format!("{:.2}", value.get()), |says| says.get());
    view! {
        <label class="slider">
            <span aria-hidden="true">{shown}</span>
            <input
                type="range"
                min="0"
                max="1"
                step="0.01"
                aria-label=label
                prop:value=move || value.get().to_string()
                disabled=move || !profile.may_write()
                on:input:target=move |event| {
                    if let Ok(value) = event.target().value().parse() {
                        set.run(value);
                    }
                    // What was refused did not change the value, so nothing else puts the thumb back.
                    event.target().set_value(&value.get_untracked().to_string());
                }
            />
            <output>{output}</output>
        </label>
    }
}
