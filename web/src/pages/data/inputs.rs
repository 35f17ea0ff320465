//! Numbers, choices and switches of forms.

use leptos::prelude::*;

/// A number, or none. It counts once the reader leaves the field or presses Enter.
#[component]
pub fn Number(
    #[prop(into)] label: String,
    #[prop(optional, into)] hint: Option<String>,
    #[prop(optional)] wrong: Option<Signal<Option<String>>>,
    #[prop(into)] value: Signal<Option<f64>>,
    change: Callback<Option<f64>>,
    #[prop(default = 0.0)] min: f64,
    #[prop(optional)] max: Option<f64>,
    #[prop(default = 1.0)] step: f64,
    #[prop(default = "")] placeholder: &'static str,
) -> impl IntoView {
    view! {
        <Around label hint wrong>
            <input
                type="number"
                min=min
                max=max
                step=step
                placeholder=placeholder
                prop:value=move || value.get().map(|value| value.to_string()).unwrap_or_default()
                on:change:target=move |event| change.run(event.target().value().parse().ok())
            />
        </Around>
    }
}

/// One of several: what is kept, and what it is called.
#[component]
pub fn Choice(
    #[prop(into)] label: String,
    #[prop(optional, into)] hint: Option<String>,
    #[prop(optional)] wrong: Option<Signal<Option<String>>>,
    #[prop(into)] options: Vec<(String, String)>,
    #[prop(into)] value: Signal<String>,
    change: Callback<String>,
) -> impl IntoView {
    let option = move |(key, says): (String, String)| {
        let own = key.clone();
        view! {
            <option value=key prop:selected=move || *value.read() == own>
                {says}
            </option>
        }
    };
    view! {
        <Around label hint wrong>
            <select on:change:target=move |event| {
                change.run(event.target().value());
            }>{options.into_iter().map(option).collect_view()}</select>
        </Around>
    }
}

#[component]
pub fn Switch(
    #[prop(into)] label: String,
    #[prop(optional, into)] hint: String,
    #[prop(into)] value: Signal<bool>,
    change: Callback<bool>,
) -> impl IntoView {
    view! {
        <label class="switch">
            <input
                type="checkbox"
                prop:checked=value
                on:change:target=move |event| change.run(event.target().checked())
            />
            <span>{label} {(!hint.is_empty()).then(|| view! { <span class="muted hint">{hint}</span> })}</span>
        </label>
    }
}

/// A label, with what is wrong and a hint below. The label holds the input, so no `id` is needed.
#[component]
fn Around(
    label: String,
    hint: Option<String>,
    wrong: Option<Signal<Option<String>>>,
    children: Children,
) -> impl IntoView {
    view! {
        <label class="field">
            <span class="name">{label}</span>
            {children()}
            {move || wrong.and_then(|wrong| wrong.get()).map(|wrong| view! { <span class="wrong">{wrong}</span> })}
            {hint.map(|hint| view! { <span class="muted hint">{hint}</span> })}
        </label>
    }
}

/// Whole numbers of a form.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held within the range before")]
pub fn whole(value: Option<f64>) -> Option<u32> {
    value.filter(|value| value.is_finite()).map(|value| value.round().clamp(0.0, f64::from(u32::MAX)) as u32)
}
