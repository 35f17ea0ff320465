//! The way to the conversations before and after this one, in the order of the list that led here.

use domain::api;
use domain::filter::list_parameters;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};
use leptos_router::location::Url;
use leptos_router::params::ParamsMap;

use crate::pages::review::is_rating;
use ui::api_client::Answer;
use ui::components::failed;
use ui::keys::use_shortcut;
use ui::session::Project;
use ui::{address, api_client};

/// Which corpus' list led here.
const CORPUS: &str = "corpus";

#[component]
pub fn Neighbours(conversation: String) -> impl IntoView {
    let project = Project::here().name();
    let list = list(&use_query_map().get_untracked());
    let query = text(&list);
    let answer = LocalResource::new(move || {
        let (conversation, list) = (conversation.clone(), list.clone());
        async move { ask(&conversation, &list).await }
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

/// What the list was asked for, as it stands in the address; whatever else stands there is about this page. A corpus has a
/// list of what it keeps and one of what it dropped.
fn list(address: &ParamsMap) -> Vec<(&'static str, String)> {
    let values = |name: &'static str| address.get_all(name).into_iter().flatten().map(move |value| (name, value));
    if address.get_str(CORPUS).is_some() {
        return [CORPUS, "split", "dropped_by"].into_iter().flat_map(values).collect();
    }
    list_parameters().chain(["sort", "order"]).flat_map(values).collect()
}

async fn ask(conversation: &str, list: &[(&'static str, String)]) -> Answer<api::Neighbours> {
    match list.split_first() {
        Some(((CORPUS, corpus), among)) => api_client::corpora::neighbours(corpus, conversation, among).await,
        _ => api_client::conversations::neighbours(conversation, list).await,
    }
}

fn text(list: &[(&str, String)]) -> String {
    let pairs: Vec<String> = list.iter().map(|(name, value)| format!("{name}={}", Url::escape(value))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}
