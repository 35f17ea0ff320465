//! Above the list: how many there are, in which order, and what can be done with them.

use domain::access::Role;
use leptos::prelude::*;
use leptos::web_sys::HtmlElement;
use leptos_router::components::A;
use wasm_bindgen::JsCast;

use super::super::asked::Asked;
use super::super::filters::{Filters, Known};
use super::super::names;
use crate::session::Project;
use crate::{address, format};

const SEARCH: &str = "search-conversations";

/// Puts the reader into the search.
pub fn focus_search() {
    let found = document().get_element_by_id(SEARCH).and_then(|found| found.dyn_into::<HtmlElement>().ok());
    if let Some(search) = found {
        // It fails only for an element that the page no longer has.
        let _ = search.focus();
    }
}

#[component]
pub fn Toolbar(filters: Filters, known: Known) -> impl IntoView {
    let counted = move || {
        let facets = known.facets.read();
        facets.as_ref().map_or_else(|| "Counting …".to_owned(), |facets| said(facets.matching, facets.total))
    };
    let searched = move || filters.asked.read().one("search").unwrap_or_default().to_owned();
    view! {
        <div class="toolbar">
            <p class="count" role="status" class:waits=known.busy>
                {counted}
            </p>
            <input
                type="search"
                id=SEARCH
                placeholder="Search scenarios"
                aria-label="Search scenarios"
                maxlength="200"
                prop:value=searched
                on:change:target=move |event| {
                    let text = event.target().value();
                    filters.choose(|asked| asked.with("search", Some(text)));
                }
            />
            <Order filters known />
            <button type="button" on:click=move |_| known.ask_again()>
                "Refresh"
            </button>
        </div>
    }
}

/// Leads on: to a corpus of what is asked for, and to what the run is like if it is one alone.
#[component]
pub fn Select(filters: Filters, known: Known) -> impl IntoView {
    let project = Project::here();
    let corpus = move || {
        let asked = known.facets.with(|facets| selected(&filters.asked.read(), facets.as_ref()));
        address::project(&project.name(), &format!("/corpora/new{}", asked.query()))
    };
    let analytics = move || {
        let asked = filters.asked.read();
        let mut runs = asked.all("run");
        let (Some(run), None) = (runs.next(), runs.next()) else { return None };
        let href = format!("{}/analytics", address::run(&project.name(), run));
        Some(view! {
            <A href={href} {..} class="button">
                "Analytics of the run"
            </A>
        })
    };
    view! {
        <div class="actions">
            {analytics}
            <Show when=move || project.may(Role::Author)>
                <A href={corpus} {..} class="button main">
                    "Select into a corpus"
                </A>
            </Show>
        </div>
    }
}

#[component]
fn Order(filters: Filters, known: Known) -> impl IntoView {
    let chosen = Memo::new(move |_| filters.asked.read().one("sort").unwrap_or("position").to_owned());
    let choose = move |sort: String| {
        filters.choose(|asked| asked.with("order", None).with("sort", Some(sort).filter(|sort| sort != "position")));
    };
    let names = Memo::new(move |_| known.scores());
    let options = move || {
        let criteria = names.get().into_iter().map(|name| {
            let key = if name == "overall" { name.clone() } else { format!("score:{name}") };
            (key, names::score(&name))
        });
        let all = std::iter::once(("position".to_owned(), "Newest run".to_owned())).chain(criteria);
        let option = |(key, says): (String, String)| {
            let selected = {
                let key = key.clone();
                move || chosen.get() == key
            };
            view! {
                <option value=key prop:selected=selected>
                    {says}
                </option>
            }
        };
        all.map(option).collect_view()
    };
    view! {
        <label class="order">
            <span class="muted">"Order"</span>
            <select on:change:target=move |event| choose(event.target().value())>{options}</select>
        </label>
        <button
            type="button"
            aria-label=move || if descends(&filters.asked.read()) { "Best first; turn around" } else { "First first; turn around" }
            on:click=move |_| filters.choose(turned)
        >
            {move || if descends(&filters.asked.read()) { "↓" } else { "↑" }}
        </button>
    }
}

/// Whether the greatest come first: positions begin at the first, scores at the best.
pub fn descends(asked: &Asked) -> bool {
    asked.one("order").map_or(asked.one("sort").is_some_and(|sort| sort != "position"), |order| order == "desc")
}

pub fn turned(asked: &Asked) -> Asked {
    asked.with("order", Some(if descends(asked) { "asc" } else { "desc" }.to_owned()))
}

fn said(matching: u64, total: u64) -> String {
    let count = |n: u64| format::count(i64::try_from(n).unwrap_or(i64::MAX));
    if matching == total {
        format!("{} conversations", count(total))
    } else {
        format!("{} of {}", count(matching), count(total))
    }
}

/// What a corpus would select by. It knows no search: the scenarios that were found take its place.
fn selected(asked: &Asked, facets: Option<&domain::api::ConversationFacets>) -> Asked {
    let which = asked.which();
    if which.one("search").is_none() {
        return which;
    }
    let scenarios = facets.and_then(|facets| facets.facets.iter().find(|facet| facet.name == "scenario"));
    let found = scenarios.map(|facet| facet.values.iter().map(|value| value.value.clone()).collect::<Vec<_>>());
    let chosen = which.all("scenario").next().is_some();
    let which = which.with("search", None);
    match found {
        Some(found) if !chosen => which.with_all("scenario", found),
        _ => which,
    }
}
