//! Above the list: how many there are, in which order, and what can be done with them.

use domain::access::Role;
use domain::api::ConversationFacets;
use domain::filter::Dimension;
use leptos::prelude::*;
use leptos::web_sys::HtmlElement;
use leptos_router::components::A;
use wasm_bindgen::JsCast;

use super::super::filters::{FacetCounts, Filters};
use super::super::names;
use super::super::query_params::QueryParams;
use ui::session::Project;
use ui::{address, format};

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
pub fn Toolbar(filters: Filters, counts: FacetCounts) -> impl IntoView {
    let counted = move || {
        let facets = counts.facets.read();
        facets.as_ref().map_or_else(|| "Counting …".to_owned(), |facets| count_text(facets.matching, facets.total))
    };
    let searched = move || filters.params.read().one("search").unwrap_or_default().to_owned();
    view! {
        <div class="toolbar">
            <p class="count" role="status" class:waits=counts.busy>
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
                    filters.choose(|params| params.with("search", Some(text)));
                }
            />
            <Order filters counts />
            <button type="button" on:click=move |_| counts.ask_again()>
                "Refresh"
            </button>
        </div>
    }
}

/// Leads on: to a corpus of what is asked for, to a queue of it for people to rate, and to what the run is like if it is one
/// alone.
#[component]
pub fn Select(filters: Filters, counts: FacetCounts) -> impl IntoView {
    let project = Project::here();
    let corpus = Memo::new(move |_| {
        let (facets, params) = (counts.facets.read(), filters.params.read());
        let counted = match facets.as_ref() {
            _ if counts.busy.get() => Err(COUNTING),
            _ if counts.error.read().is_some() => Err(NOT_COUNTED),
            facets => facets.ok_or(COUNTING),
        };
        selected(&params, counted).map(|params| format!("/corpora/new{}", params.query()))
    });
    let analytics = move || {
        let params = filters.params.read();
        let mut runs = params.all("run");
        let (Some(run), None) = (runs.next(), runs.next()) else { return None };
        let href = format!("{}/analytics", address::run(&project.name(), run));
        Some(view! {
            <A href={href} {..} class="button">
                "Analytics of the run"
            </A>
        })
    };
    // A queue is made of what a search finds, too.
    let queue = move || {
        let below = format!("/reviews/new{}", filters.params.read().which().query());
        address::project(&project.name(), &below)
    };
    view! {
        <div class="actions">
            {analytics}
            <Show when=move || project.may(Role::Author)>
                {move || view! {
                    <A href=queue() {..} class="button">
                        "Queue for review"
                    </A>
                }}
                {move || match corpus.get() {
                    Ok(below) => {
                        let href = address::project(&project.name(), &below);
                        view! {
                            <A href={href} {..} class="button main">
                                "Make a corpus"
                            </A>
                        }
                            .into_any()
                    }
                    Err(why) => view! { <SelectDisabled why /> }.into_any(),
                }}
            </Show>
        </div>
    }
}

#[component]
fn SelectDisabled(why: &'static str) -> impl IntoView {
    view! {
        <button type="button" class="main" disabled aria-describedby="unselectable">
            "Make a corpus"
        </button>
        <p class="muted" id="unselectable" role="status">
            {why}
        </p>
    }
}

#[component]
fn Order(filters: Filters, counts: FacetCounts) -> impl IntoView {
    let chosen = Memo::new(move |_| filters.params.read().one("sort").unwrap_or("position").to_owned());
    let choose = move |sort: String| {
        filters.choose(|params| params.with("order", None).with("sort", Some(sort).filter(|sort| sort != "position")));
    };
    let names = Memo::new(move |_| counts.scores());
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
            aria-label=move || order_says(&filters.params.read())
            on:click=move |_| filters.choose(turned)
        >
            {move || if descends(&filters.params.read()) { "↓" } else { "↑" }}
        </button>
    }
}

/// Whether the greatest come first: positions begin at the first, scores at the best.
pub fn descends(params: &QueryParams) -> bool {
    params.one("order").map_or(params.one("sort").is_some_and(|sort| sort != "position"), |order| order == "desc")
}

/// What comes first, on the button that turns it around.
fn order_says(params: &QueryParams) -> &'static str {
    let of_scores = params.one("sort").is_some_and(|sort| sort != "position");
    match (of_scores, descends(params)) {
        (true, true) => "Best first. Reverse the order.",
        (true, false) => "Worst first. Reverse the order.",
        (false, true) => "Last conversation first. Reverse the order.",
        (false, false) => "First conversation first. Reverse the order.",
    }
}

pub fn turned(params: &QueryParams) -> QueryParams {
    params.with("order", Some(if descends(params) { "asc" } else { "desc" }.to_owned()))
}

fn count_text(matching: u64, total: u64) -> String {
    let count = |n: u64| format::count(i64::try_from(n).unwrap_or(i64::MAX));
    if matching == total {
        format!("{} conversations", count(total))
    } else {
        format!("{} of {}", count(matching), count(total))
    }
}

const COUNTING: &str = "The search results are still being counted.";
const NOT_COUNTED: &str = "The search results could not be counted. Try again first.";
const NOTHING: &str = "The search finds nothing.";
const TOO_MANY: &str = "The search finds more scenarios than can be listed. Narrow it further.";

/// What a corpus would select by, or why it cannot be said. It knows no search: the scenarios that were found take its
/// place, and none of them must be missing. No scenario at all would mean every one.
fn selected(
    params: &QueryParams,
    counted: Result<&ConversationFacets, &'static str>,
) -> Result<QueryParams, &'static str> {
    let which = params.selected();
    if which.one("search").is_none() {
        return Ok(which);
    }
    let counted = counted?;
    let scenarios = counted.facet(Dimension::Scenario).filter(|_| counted.matching > 0);
    let scenarios = scenarios.ok_or(NOTHING)?;
    if u64::try_from(scenarios.values.len()).is_ok_and(|listed| scenarios.distinct > listed) {
        return Err(TOO_MANY);
    }
    // The facet is counted as if no scenario were chosen.
    let chosen = |name: &String| which.one("scenario").is_none() || which.has("scenario", name);
    let found: Vec<_> = scenarios.values.iter().map(|value| value.value.clone()).filter(chosen).collect();
    if found.is_empty() {
        return Err(NOTHING);
    }
    Ok(which.with("search", None).with_all("scenario", found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::api::{Facet, FacetValue};

    fn counted(matching: u64, distinct: u64, names: &[&str]) -> ConversationFacets {
        let values = names.iter().map(|name| FacetValue { value: (*name).to_owned(), count: 1 }).collect();
        let scenario = Facet { name: "scenario".to_owned(), values, distinct };
        let (scores, lengths) = Default::default();
        ConversationFacets { matching, total: 9, facets: vec![scenario], scores, lengths }
    }

    fn chosen(query: &str, counted: Result<&ConversationFacets, &'static str>) -> Result<String, &'static str> {
        let pair = |(name, value): (String, String)| format!("{name}={value}");
        selected(&QueryParams::parse(query), counted)
            .map(|params| params.pairs().into_iter().map(pair).collect::<Vec<_>>().join("&"))
    }

    #[test]
    fn the_scenarios_that_a_search_finds_take_its_place() {
        let found = counted(3, 2, &["card_lost", "card_late"]);
        let query = chosen("?search=card&outcome=failed&sort=overall", Ok(&found));
        assert_eq!(query.as_deref(), Ok("outcome=failed&scenario=card_lost&scenario=card_late"));
        let both = chosen("?search=card&scenario=card_late&scenario=refund", Ok(&found));
        assert_eq!(both.as_deref(), Ok("scenario=card_late"), "of those that were chosen, what was found");
    }

    #[test]
    fn without_a_search_the_address_says_it_all() {
        for counted in [Err(COUNTING), Err(NOT_COUNTED), Ok(&counted(0, 0, &[]))] {
            assert_eq!(chosen("?scenario=hats", counted).as_deref(), Ok("scenario=hats"));
        }
    }

    #[test]
    fn what_becomes_of_the_conversations_comes_along() {
        let query = chosen("?golden=0.3&sort=overall&scenario=hats&seed=7", Ok(&counted(3, 2, &[])));
        assert_eq!(query.as_deref(), Ok("golden=0.3&scenario=hats&seed=7"));
        let found = counted(3, 1, &["card_lost"]);
        assert_eq!(chosen("?search=card&seed=7", Ok(&found)).as_deref(), Ok("seed=7&scenario=card_lost"));
    }

    #[test]
    fn the_order_is_called_what_it_is() {
        let said = |query: &str| order_says(&QueryParams::parse(query));
        let all = ["", "?order=desc", "?sort=overall", "?sort=score:goal&order=asc"].map(said);
        let first = all.map(|says| says.split('.').next().unwrap_or_default());
        assert_eq!(first, ["First conversation first", "Last conversation first", "Best first", "Worst first"]);
    }

    #[test]
    fn a_search_is_not_selected_before_it_was_counted() {
        assert_eq!(chosen("?search=card", Err(COUNTING)), Err(COUNTING));
        assert_eq!(chosen("?search=card", Err(NOT_COUNTED)), Err(NOT_COUNTED));
    }

    #[test]
    fn a_search_that_finds_nothing_is_not_selected() {
        assert_eq!(chosen("?search=card", Ok(&counted(0, 0, &[]))), Err(NOTHING));
        // Others are found than those that were chosen.
        assert_eq!(chosen("?search=card&scenario=hats", Ok(&counted(0, 1, &["card_lost"]))), Err(NOTHING));
        assert_eq!(chosen("?search=card&scenario=hats", Ok(&counted(1, 1, &["card_lost"]))), Err(NOTHING));
    }

    #[test]
    fn a_search_that_finds_more_than_is_listed_is_not_selected() {
        assert_eq!(chosen("?search=card", Ok(&counted(9, 101, &["card_lost"]))), Err(TOO_MANY));
    }
}
