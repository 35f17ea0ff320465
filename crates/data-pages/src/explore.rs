//! Conversations of a project, narrowed until what is wanted is left.

mod facet;
mod list;
mod panel;
mod range;
mod toolbar;

use leptos::prelude::*;

use super::chips::Chips;
use super::filters::{FacetCounts, Filters};
use super::sources::NothingPlayed;
use ui::components::{Empty, Failure, set_title};
use ui::keys::use_shortcut;

#[component]
pub fn ExplorePage() -> impl IntoView {
    set_title("Conversations");
    let filters = Filters::of_address();
    let counts = FacetCounts::of(filters);
    let open = RwSignal::new(false);
    use_shortcut("/", "Search in scenarios", toolbar::focus_search);
    use_shortcut("x", "Remove all filters", move || filters.choose(super::query_params::QueryParams::everything));
    let nothing_began = move || counts.facets.read().as_ref().is_some_and(|facets| facets.total == 0);
    view! {
        <header class="heading">
            <h1>"Conversations"</h1>
            <toolbar::Select filters counts />
        </header>
        {move || {
            counts.error.get().map(|error| view! { <Failure error retry=move || counts.ask_again() /> })
        }}
        <Show
            when=move || !nothing_began()
            fallback=|| {
                view! {
                    <Empty title="No conversation has begun.">
                        <NothingPlayed says="The conversations of runs appear here. You can filter them and make a corpus of them." />
                    </Empty>
                }
            }
        >
            <div class="explore">
                <button
                    type="button"
                    class="more-filters"
                    aria-expanded=move || open.get().to_string()
                    aria-controls="filters"
                    on:click=move |_| open.update(|open| *open = !*open)
                >
                    {move || if open.get() { "Hide filters" } else { "Filters" }}
                </button>
                <aside class="filters" id="filters" aria-label="Filters" class:open=open>
                    <panel::Panel filters counts />
                </aside>
                <section class="found" aria-label="Conversations">
                    <toolbar::Toolbar filters counts />
                    <Chips filters />
                    <list::List filters counts />
                </section>
            </div>
        </Show>
    }
}
