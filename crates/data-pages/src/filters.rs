//! What the page's address asks for, and what else could be asked.

use domain::api::ConversationFacets;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate};

use super::query_params::QueryParams;
use ui::api_client::{self, ApiError};
use ui::session::Project;

/// What the address asks for. To ask for something else is to go to another address.
#[derive(Clone, Copy)]
pub struct Filters {
    pub params: Memo<QueryParams>,
    /// The address to go to, and whether it takes the place of this one in the history.
    go: Callback<(QueryParams, bool)>,
}

impl Filters {
    pub fn of_address() -> Self {
        let location = use_location();
        let navigate = StoredValue::new_local(use_navigate());
        let params = Memo::new(move |_| QueryParams::parse(&location.search.read()));
        let go = Callback::new(move |(params, replace): (QueryParams, bool)| {
            let to = format!("{}{}", location.pathname.get_untracked(), params.query());
            let options = NavigateOptions { scroll: false, replace, ..NavigateOptions::default() };
            navigate.with_value(|navigate| navigate(&to, options));
        });
        Self { params, go }
    }

    /// A choice, which the way back undoes.
    pub fn choose(self, change: impl FnOnce(&QueryParams) -> QueryParams) {
        self.change(change, false);
    }

    /// A step of typing or dragging, which it does not.
    pub fn refine(self, change: impl FnOnce(&QueryParams) -> QueryParams) {
        self.change(change, true);
    }

    fn change(self, change: impl FnOnce(&QueryParams) -> QueryParams, replace: bool) {
        let before = self.params.get_untracked();
        let after = change(&before);
        if after != before {
            self.go.run((after, replace));
        }
    }
}

/// How many conversations there are of each value: of the last answer, until the next is there.
#[derive(Clone, Copy)]
pub struct FacetCounts {
    pub facets: RwSignal<Option<ConversationFacets>>,
    pub error: RwSignal<Option<ApiError>>,
    pub busy: RwSignal<bool>,
    again: RwSignal<u32>,
}

impl FacetCounts {
    /// What is known of what the filters ask for, whatever the order.
    pub fn of(filters: Filters) -> Self {
        let counts = Self {
            facets: RwSignal::new(None),
            error: RwSignal::new(None),
            busy: RwSignal::new(false),
            again: RwSignal::new(0),
        };
        let project = Project::here();
        let which = Memo::new(move |_| filters.params.read().which());
        let latest = StoredValue::new(0_u32);
        Effect::new(move |_| {
            let (project, which) = (project.name(), which.get());
            counts.again.track();
            let own = latest.get_value() + 1;
            latest.set_value(own);
            counts.busy.set(true);
            spawn_local(async move {
                let answer = api_client::explore::facets(&project, &which.pairs()).await;
                // What was asked for later is what the reader waits for; and they may have left.
                if latest.try_get_value() != Some(own) {
                    return;
                }
                counts.busy.set(false);
                counts.error.set(answer.as_ref().err().cloned());
                if let Ok(facets) = answer {
                    counts.facets.set(Some(facets));
                }
            });
        });
        counts
    }

    pub fn ask_again(self) {
        self.again.update(|again| *again += 1);
    }

    /// Which of its kinds the page was made anew for.
    pub fn round(self) -> u32 {
        self.again.get()
    }

    pub fn matching(self) -> Option<u64> {
        self.facets.read().as_ref().map(|facets| facets.matching)
    }

    /// The scores that there are: `overall` first.
    pub fn scores(self) -> Vec<String> {
        let facets = self.facets.read();
        let mut names: Vec<String> = facets.iter().flat_map(|facets| facets.scores.keys().cloned()).collect();
        names.sort_by_key(|name| name != super::query_params::OVERALL);
        names
    }
}
