//! Which conversations a queue is made of, as a filter.

use domain::api::CONVERSATION_FILTER;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate};
use leptos_router::params::ParamsMap;

use super::choices::RunChoice;
use crate::components::{Fetched, Labelled};
use crate::session::Project;
use crate::{api_client, format, labels};

/// What the form asks for; what else a list was asked for is kept as it is.
const OWN: [&str; 5] = ["run", "outcome", "verified", "min_overall", "search"];

#[derive(Clone, Copy)]
pub struct Filter {
    values: [(&'static str, RwSignal<String>); 5],
    also: RwSignal<Vec<(String, String)>>,
}

impl Filter {
    /// As the address says it, in the words of lists of conversations.
    pub fn of(address: &ParamsMap) -> Self {
        // A field holds one value: the others of its name are asked for, too.
        let rest = |name: &&'static str| {
            let (name, held) = (*name, usize::from(OWN.contains(name)));
            address.get_all(name).into_iter().flatten().skip(held).map(move |value| (name.to_owned(), value))
        };
        Self {
            values: OWN.map(|name| (name, RwSignal::new(address.get(name).unwrap_or_default()))),
            also: RwSignal::new(CONVERSATION_FILTER.iter().flat_map(rest).collect()),
        }
    }

    pub fn is_empty(self) -> bool {
        self.asked().is_empty()
    }

    /// Names and values, as the API reads them.
    pub fn asked(self) -> Vec<(String, String)> {
        let own = self.values.iter().map(|(name, value)| ((*name).to_owned(), value.get()));
        own.filter(|(_, value)| !value.trim().is_empty()).chain(self.also.get()).collect()
    }

    /// The address says what is asked for: a link, or loading the page again, leads to the same.
    fn keep_in_address(self) {
        let (navigate, path) = (use_navigate(), use_location().pathname.get_untracked());
        Effect::new(move |before: Option<Vec<(String, String)>>| {
            let asked = self.asked();
            if before.is_some_and(|before| before != asked) {
                let mut query = ParamsMap::new();
                asked.iter().for_each(|(name, value)| query.insert(name.clone(), value.clone()));
                let options = NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() };
                navigate(&format!("{path}{}", query.to_query_string()), options);
            }
            asked
        });
    }

    fn value(self, name: &str) -> RwSignal<String> {
        let found = self.values.iter().find(|(own, _)| *own == name);
        found.map_or_else(RwSignal::default, |(_, value)| *value)
    }
}

#[component]
pub fn FilterFields(filter: Filter) -> impl IntoView {
    let project = Project::here();
    filter.keep_in_address();
    let load = move || {
        let (name, asked) = (project.name(), filter.asked());
        async move { api_client::reviews::matching(&name, &asked).await }
    };
    view! {
        <div class="fields">
            <RunChoice label="Run" value=filter.value("run") none="All runs" wrong=Signal::stored(None) />
            <Labelled label="Outcome">
                <Select
                    value=filter.value("outcome")
                    options=&[("", "Any"), ("accepted", "Accepted"), ("failed", "Failed")]
                />
            </Labelled>
            <Labelled label="Verifier">
                <Select
                    value=filter.value("verified")
                    options=&[("", "Any"), ("true", "Found nothing wrong"), ("false", "Found something wrong")]
                />
            </Labelled>
            <Labelled label="Least overall score">
                <input type="number" min="0" max="10" bind:value=filter.value("min_overall") />
            </Labelled>
            <Labelled label="Scenario contains">
                <input type="search" bind:value=filter.value("search") />
            </Labelled>
        </div>
        {move || {
            let also = filter.also.get();
            (!also.is_empty()).then(|| {
                let pair = |(name, value): (String, String)| format!("{} {value}", labels::words(&name));
                view! {
                    <p class="inline">
                        <span>{format!("Also: {}.", also.into_iter().map(pair).collect::<Vec<_>>().join(", "))}</span>
                        <button type="button" class="small" on:click=move |_| filter.also.set(Vec::new())>
                            "Leave these out"
                        </button>
                    </p>
                }
            })
        }}
        <Fetched what="how many match" load let:found>
            <p role="status">
                {format!(
                    "{} of {} conversations match.",
                    format::count(i64::try_from(found.matching).unwrap_or(i64::MAX)),
                    format::count(i64::try_from(found.total).unwrap_or(i64::MAX)),
                )}
            </p>
        </Fetched>
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
