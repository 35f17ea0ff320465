//! The way to the conversations before and after this one, in the order of the list that led here.

use domain::api::{self, ConversationOrderParams, CorpusNeighbourParams};
use domain::filter::list_parameters;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};
use leptos_router::params::ParamsMap;

use crate::pages::ratings::is_rating;
use ui::address::{self, CORPUS};
use ui::api_client;
use ui::api_client::Answer;
use ui::components::failed;
use ui::keys::use_shortcut;
use ui::session::Project;

#[component]
pub fn Neighbours(conversation: String) -> impl IntoView {
    let project = Project::here().name();
    let list = List::of(&use_query_map().get_untracked());
    let query = list.query();
    let answer = LocalResource::new(move || {
        let (conversation, list) = (conversation.clone(), list.clone());
        async move { list.neighbours(&conversation).await }
    });
    let href = move |id: &str| format!("{}{query}", address::conversation(&project, id));
    let href = StoredValue::new(href);
    let lead = move |which: fn(&api::Neighbours) -> Option<&String>| {
        let found = answer.read();
        let neighbours = found.as_ref()?.as_ref().ok()?;
        which(neighbours).map(|id| href.with_value(|href| href(id)))
    };
    let previous = Signal::derive(move || lead(|neighbours| neighbours.previous.as_ref()));
    let next = Signal::derive(move || lead(|neighbours| neighbours.next.as_ref()));
    let navigate = StoredValue::new_local(use_navigate());
    for (key, does, to) in [("p", "Previous conversation", previous), ("n", "Next conversation", next)] {
        use_shortcut(key, does, move || {
            // A letter that was meant for a slider leads nowhere.
            if let Some(to) = to.get_untracked().filter(|_| !is_rating()) {
                navigate.with_value(|navigate| navigate(&to, NavigateOptions::default()));
            }
        });
    }
    view! {
        <nav class="neighbours" aria-label="Neighbours in the list">
            <NeighbourLink to=previous says="← Previous" key="p" />
            <NeighbourLink to=next says="Next →" key="n" />
        </nav>
        {failed(answer)}
    }
}

#[component]
fn NeighbourLink(to: Signal<Option<String>>, says: &'static str, key: &'static str) -> impl IntoView {
    move || match to.get() {
        Some(href) => view! {
            <a href=href title=key>
                {says}
            </a>
        }
        .into_any(),
        None => view! { <span class="muted">{says}</span> }.into_any(),
    }
}

/// The list that led here.
#[derive(Clone)]
enum List {
    /// By the parameters of lists of conversations.
    Filtered(Vec<(String, String)>),
    /// What a corpus keeps, or what it dropped.
    OfCorpus(String, CorpusNeighbourParams),
}

impl List {
    /// As it is in the address; all else there is about this page.
    fn of(address: &ParamsMap) -> Self {
        if let Some(corpus) = address.get(CORPUS) {
            let list = CorpusNeighbourParams {
                split: address.get_str("split").and_then(|side| side.parse().ok()),
                dropped_by: address.get_str("dropped_by").and_then(|step| step.parse().ok()),
            };
            return Self::OfCorpus(corpus, list);
        }
        let values =
            |name: &'static str| address.get_all(name).into_iter().flatten().map(move |value| (name.to_owned(), value));
        Self::Filtered(list_parameters().chain(ConversationOrderParams::NAMES).flat_map(values).collect())
    }

    async fn neighbours(&self, conversation: &str) -> Answer<api::Neighbours> {
        match self {
            Self::Filtered(list) => api_client::conversations::neighbours(conversation, list).await,
            Self::OfCorpus(corpus, list) => api_client::corpora::neighbours(corpus, conversation, *list).await,
        }
    }

    /// As it is in the address of a neighbour.
    fn query(&self) -> String {
        match self {
            Self::Filtered(list) => address::query(list),
            Self::OfCorpus(corpus, list) => address::in_corpus(corpus, *list),
        }
    }
}
