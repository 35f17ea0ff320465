//! Which conversations a queue is made of, as a filter.

use domain::filter::{Dimension, list_parameters};
use domain::verdict::MAX_SCORE;
use leptos::prelude::*;

use super::choices::RunChoice;
use ui::components::{AsyncView, FormField};
use ui::session::Project;
use ui::{api_client, format, labels};

/// What the form asks for; what else a list was asked for is kept as it is.
const OWN: [&str; 5] = ["run", "outcome", "verified", "min_overall", "search"];

#[derive(Clone, Copy)]
pub struct Filter {
    values: [(&'static str, RwSignal<String>); 5],
    also: RwSignal<Vec<(String, String)>>,
}

impl Filter {
    /// As the address says it, in the words of lists of conversations.
    pub fn of(address: &[(String, String)]) -> Self {
        let all =
            |name: &'static str| address.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.clone());
        // A field holds one value: the others of its name are asked for, too.
        let rest = |name: &'static str| {
            let held = usize::from(OWN.contains(&name));
            all(name).skip(held).map(move |value| (name.to_owned(), value))
        };
        Self {
            values: OWN.map(|name| (name, RwSignal::new(all(name).next().unwrap_or_default()))),
            also: RwSignal::new(list_parameters().flat_map(rest).collect()),
        }
    }

    pub fn is_empty(self) -> bool {
        self.params().is_empty()
    }

    /// Names and values, as the API reads them.
    pub fn params(self) -> Vec<(String, String)> {
        let own = self.values.iter().map(|(name, value)| ((*name).to_owned(), value.get()));
        own.filter(|(_, value)| !value.trim().is_empty()).chain(self.also.get()).collect()
    }

    fn value(self, name: &str) -> RwSignal<String> {
        let found = self.values.iter().find(|(own, _)| *own == name);
        found.map_or_else(RwSignal::default, |(_, value)| *value)
    }
}

#[component]
pub fn FilterFields(filter: Filter) -> impl IntoView {
    let project = Project::here();
    let load = move || {
        let (name, params) = (project.name(), filter.params());
        async move { api_client::explore::facets(&name, &params).await }
    };
    view! {
        <div class="fields">
            <RunChoice label=Dimension::Run.label() value=filter.value("run") none="All runs" wrong=Signal::stored(None) />
            <FormField label=Dimension::Outcome.label()>
                <Select
                    value=filter.value("outcome")
                    options=&[("", "Any"), ("accepted", "Accepted"), ("failed", "Failed")]
                />
            </FormField>
            <FormField label=Dimension::Verified.label()>
                <Select
                    value=filter.value("verified")
                    options=&[("", "Any"), ("true", "Found nothing wrong"), ("false", "Found something wrong")]
                />
            </FormField>
            <FormField label="Lowest overall score">
                <input type="number" min="0" max=MAX_SCORE bind:value=filter.value("min_overall") />
            </FormField>
            <FormField label="Scenario contains">
                <input type="search" bind:value=filter.value("search") />
            </FormField>
        </div>
        {move || {
            let also = filter.also.get();
            (!also.is_empty()).then(|| {
                let pair = |(name, value): (String, String)| format!("{} {value}", labels::words(&name));
                view! {
                    <p class="inline">
                        <span>{format!("Also: {}.", also.into_iter().map(pair).collect::<Vec<_>>().join(", "))}</span>
                        <button type="button" class="small" on:click=move |_| filter.also.set(Vec::new())>
                            "Remove these filters"
                        </button>
                    </p>
                }
            })
        }}
        <AsyncView what="how many match" load let:found>
            <p role="status">
                {format!(
                    "{} of {} conversations match.",
                    format::count(i64::try_from(found.matching).unwrap_or(i64::MAX)),
                    format::count(i64::try_from(found.total).unwrap_or(i64::MAX)),
                )}
            </p>
        </AsyncView>
    }
}

#[component]
fn Select(value: RwSignal<String>, options: &'static [(&'static str, &'static str)]) -> impl IntoView {
    let option = move |(name, says): &(&'static str, &'static str)| {
        let name = *name;
        view! {
            <option value=name prop:selected=move || *value.read() == name>
                {*says}
            </option>
        }
    };
    view! {
        <select on:change:target=move |event| value.set(event.target().value())>
            {options.iter().map(option).collect_view()}
        </select>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_form_asks_for_is_known_to_lists() {
        for name in OWN {
            assert!(list_parameters().any(|known| known == name), "{name}");
        }
    }
}
