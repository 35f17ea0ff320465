//! What lists and corpora are narrowed by that has no facet: it is written, not chosen from what there is.

use chrono::{DateTime, NaiveDateTime, Utc};
use leptos::prelude::*;

use super::filters::Filters;

/// As the field of a browser writes a moment; it adds seconds where there are some.
const MINUTES: &str = "%Y-%m-%dT%H:%M";
const SECONDS: &str = "%Y-%m-%dT%H:%M:%S";

/// `class` is that of the labels: of the page's other fields.
#[component]
pub fn MoreFilters(filters: Filters, class: &'static str) -> impl IntoView {
    view! {
        <Text filters class name="reason" label="Failed for" hint="A part of the reason, letter by letter. Only failures have one." />
        <Model filters class />
        <TimeBound filters class name="finished_from" label="Finished from (UTC)" />
        <TimeBound filters class name="finished_before" label="Finished before (UTC)" />
        <Text filters class name="judging" label="Judging" hint="own (each run's), latest, or the id of a judging." />
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
fn Model(filters: Filters, class: &'static str) -> impl IntoView {
    view! {
        <label class=class>
            <span class="name">"Add a model"</span>
            <input
                type="text"
                maxlength="200"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                on:change:target=move |event| {
                    let field = event.target();
                    let model = field.value();
                    field.set_value("");
                    filters.choose(|params| {
                        if model.is_empty() || params.has("model", &model) { params.clone() } else { params.toggled("model", &model) }
                    });
                }
            />
            <span class="muted hint">"NAME played the agent, ROLE:NAME another role, such as judge:NAME."</span>
        </label>
    }
}

#[component]
fn TimeBound(filters: Filters, class: &'static str, name: &'static str, label: &'static str) -> impl IntoView {
    view! {
        <label class=class>
            <span class="name">{label}</span>
            <input
                type="datetime-local"
                prop:value=move || filters.params.read().one(name).and_then(field).unwrap_or_default()
                on:change:target=move |event| {
                    let at = moment(&event.target().value());
                    filters.choose(|params| params.with(name, at));
                }
            />
        </label>
    }
}

/// A moment as a field shows it.
fn field(params: &str) -> Option<String> {
    let at: DateTime<Utc> = params.parse().ok()?;
    Some(at.format(if at.timestamp() % 60 == 0 { MINUTES } else { SECONDS }).to_string())
}

/// What a field holds, as the API reads it: in UTC, as all moments of the app are shown.
fn moment(field: &str) -> Option<String> {
    let read = |format| NaiveDateTime::parse_from_str(field, format).ok();
    Some(format!("{}Z", read(MINUTES).or_else(|| read(SECONDS))?.format(SECONDS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_as_it_was_written() {
        for (written, params) in
            [("2026-11-24T18:00", "2026-11-24T18:00:00Z"), ("2026-11-24T18:00:07", "2026-11-24T18:00:07Z")]
        {
            assert_eq!(moment(written).as_deref(), Some(params));
            assert_eq!(field(params).as_deref(), Some(written));
        }
        assert_eq!(field("2026-11-24T19:00:00+01:00").as_deref(), Some("2026-11-24T18:00"));
        assert_eq!((moment(""), field("yesterday")), (None, None));
    }
}
