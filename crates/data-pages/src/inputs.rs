//! Numbers, choices and switches of forms.

use leptos::prelude::*;
use leptos::web_sys::HtmlInputElement;

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
        <InputLabel label hint wrong>
            <input
                type="number"
                min=min
                max=max
                step=step
                placeholder=placeholder
                prop:value=move || value.get().map(|value| value.to_string()).unwrap_or_default()
                on:change:target=move |event| change.run(event.target().value().parse().ok())
            />
        </InputLabel>
    }
}

/// A whole number, or none, that a list is bounded by. What is no such number changes nothing, and is said.
#[component]
pub fn BoundInput(
    /// To screen readers.
    #[prop(into)]
    says: String,
    #[prop(into)] value: Signal<Option<u32>>,
    change: Callback<Option<u32>>,
    /// The greatest that is taken; `None`: any.
    limit: Option<u32>,
    /// The greatest that there is.
    #[prop(optional, into)]
    most: Option<Signal<u32>>,
) -> impl IntoView {
    let wrong = RwSignal::new(false);
    let value = Memo::new(move |_| value.get());
    // What was asked for in another way stands there in place of what was wrong.
    Effect::new(move |_| {
        value.track();
        wrong.set(false);
    });
    let read = move |input: &HtmlInputElement| {
        let text = input.value();
        // What is no number at all cannot be read, and counts as nothing.
        let unreadable = text.is_empty() && !input.check_validity();
        let found = if unreadable { Err(InvalidBound) } else { bound(&text, limit) };
        wrong.set(found.is_err());
        if let Ok(found) = found {
            change.run(found);
        }
    };
    let takes =
        limit.map_or_else(|| "Use whole numbers.".to_owned(), |limit| format!("Use whole numbers up to {limit}."));
    view! {
        <span class="bound">
            <input
                type="number"
                min="0"
                max=move || most.map(|most| most.get()).or(limit).map(|most| most.to_string())
                step="1"
                aria-label=says
                aria-invalid=move || wrong.get().to_string()
                prop:value=move || value.get().map(|value| value.to_string()).unwrap_or_default()
                on:change:target=move |event| read(&event.target())
            />
            <Show when=move || wrong.get()>
                <span class="wrong" role="alert">
                    {takes.clone()}
                </span>
            </Show>
        </span>
    }
}

/// What is not a whole number within the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InvalidBound;

/// What was written as a bound, nothing being none.
fn bound(text: &str, limit: Option<u32>) -> Result<Option<u32>, InvalidBound> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.parse().map_err(|_| InvalidBound)?;
    if limit.is_none_or(|limit| number <= limit) { Ok(Some(number)) } else { Err(InvalidBound) }
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
        <InputLabel label hint wrong>
            <select on:change:target=move |event| {
                change.run(event.target().value());
            }>{options.into_iter().map(option).collect_view()}</select>
        </InputLabel>
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
fn InputLabel(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_whole_and_within_the_limit() {
        let read = ["", "7", "10", "11", "7.5", "-1", "1e2", "many"].map(|text| bound(text, Some(10)));
        assert_eq!(
            read.as_slice(),
            [[Ok(None), Ok(Some(7)), Ok(Some(10))].as_slice(), &[Err(InvalidBound); 5]].concat()
        );
        assert_eq!(bound("11", None), Ok(Some(11)));
    }
}
