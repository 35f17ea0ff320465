//! What lists and corpora are narrowed by that has no facet: it is written, not chosen from what there is.

use chrono::{DateTime, NaiveDateTime, Utc};
use domain::filter::{Comparison, Dimension, PARAMETERS, Parameter};
use leptos::prelude::*;

use super::controls::{Control, control};
use super::filters::Filters;

/// As the field of a browser writes a time; it adds seconds where there are some.
const MINUTES: &str = "%Y-%m-%dT%H:%M";
const SECONDS: &str = "%Y-%m-%dT%H:%M:%S";

/// `class` is that of the labels: of the page's other fields.
#[component]
pub fn MoreFilters(filters: Filters, class: &'static str) -> impl IntoView {
    PARAMETERS.iter().map(|parameter| field_of(filters, class, parameter)).collect_view()
}

/// `None` if there is another way to choose it.
fn field_of(filters: Filters, class: &'static str, parameter: &'static Parameter) -> Option<AnyView> {
    let Parameter { name, help, .. } = parameter;
    let label = parameter.dimension.map_or("Judging", Dimension::label);
    match control(parameter) {
        Control::Text => {
            let hint = if parameter.dimension.is_some() { help } else { parameter.details() };
            Some(view! { <Text filters class name label hint /> }.into_any())
        }
        Control::Name => Some(view! { <Name filters class name label hint=help /> }.into_any()),
        Control::Share => {
            let bound = if matches!(parameter.comparison, Comparison::MaxShare(_)) { "Maximum" } else { "Minimum" };
            let label = format!("{bound} {}", label.to_lowercase());
            Some(view! { <ShareBound filters class name label hint=parameter.details() /> }.into_any())
        }
        Control::Time => Some(
            view! { <TimeBound filters class name label=format!("{} (UTC)", parameter.phrase("").trim()) /> }
                .into_any(),
        ),
        Control::Facet | Control::ScoreRange | Control::LengthRange | Control::BestShare | Control::Link => None,
    }
}

#[component]
fn Text(
    filters: Filters,
    class: &'static str,
    name: &'static str,
    label: &'static str,
    hint: &'static str,
) -> impl IntoView {
    view! {
        <label class=class>
            <span class="name">{label}</span>
            <input
                type="text"
                maxlength="200"
                autocomplete="off"
                spellcheck="false"
                prop:value=move || filters.params.read().one(name).unwrap_or_default().to_owned()
                on:change:target=move |event| {
                    let text = event.target().value();
                    filters.choose(|params| params.with(name, Some(text)));
                }
            />
            <span class="muted hint">{hint}</span>
        </label>
    }
}

/// One of several may be it, so the field is empty again once it was taken; what was taken stands among the conditions.
#[component]
fn Name(
    filters: Filters,
    class: &'static str,
    name: &'static str,
    label: &'static str,
    hint: &'static str,
) -> impl IntoView {
    view! {
        <label class=class>
            <span class="name">{format!("Filter by {}", label.to_lowercase())}</span>
            <input
                type="text"
                maxlength="200"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                on:change:target=move |event| {
                    let field = event.target();
                    let value = field.value();
                    field.set_value("");
                    filters.choose(|params| {
                        if value.is_empty() || params.has(name, &value) { params.clone() } else { params.toggled(name, &value) }
                    });
                }
            />
            <span class="muted hint">{hint}</span>
        </label>
    }
}

#[component]
fn ShareBound(
    filters: Filters,
    class: &'static str,
    name: &'static str,
    label: String,
    hint: &'static str,
) -> impl IntoView {
    view! {
        <label class=class>
            <span class="name">{label}</span>
            <input
                type="number"
                min="0"
                max="1"
                step="0.05"
                placeholder="0 to 1"
                prop:value=move || filters.params.read().one(name).unwrap_or_default().to_owned()
                on:change:target=move |event| {
                    let least = event.target().value();
                    filters.choose(|params| params.with(name, Some(least)));
                }
            />
            <span class="muted hint">{hint}</span>
        </label>
    }
}

#[component]
fn TimeBound(filters: Filters, class: &'static str, name: &'static str, label: String) -> impl IntoView {
    view! {
        <label class=class>
            <span class="name">{label}</span>
            <input
                type="datetime-local"
                prop:value=move || filters.params.read().one(name).and_then(field).unwrap_or_default()
                on:change:target=move |event| {
                    let at = time(&event.target().value());
                    filters.choose(|params| params.with(name, at));
                }
            />
        </label>
    }
}

/// A time of a query as a field shows it.
fn field(value: &str) -> Option<String> {
    let at: DateTime<Utc> = value.parse().ok()?;
    Some(at.format(if at.timestamp() % 60 == 0 { MINUTES } else { SECONDS }).to_string())
}

/// What a field holds, as the API reads it: in UTC, as all times of the app are shown.
fn time(field: &str) -> Option<String> {
    let read = |format| NaiveDateTime::parse_from_str(field, format).ok();
    Some(format!("{}Z", read(MINUTES).or_else(|| read(SECONDS))?.format(SECONDS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_as_it_was_written() {
        for (written, asked) in
            [("2026-11-24T18:00", "2026-11-24T18:00:00Z"), ("2026-11-24T18:00:07", "2026-11-24T18:00:07Z")]
        {
            assert_eq!(time(written).as_deref(), Some(asked));
            assert_eq!(field(asked).as_deref(), Some(written));
        }
        assert_eq!(field("2026-11-24T19:00:00+01:00").as_deref(), Some("2026-11-24T18:00"));
        assert_eq!((time(""), field("yesterday")), (None, None));
    }
}
