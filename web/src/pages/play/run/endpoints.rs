//! How the endpoints of the run's models do.

use std::collections::BTreeSet;

use domain::api::{ModelSummary, RunTerms};
use leptos::prelude::*;

use super::{EVERY, LiveRun};
use ui::components::{Replicas, refresh};
use ui::{api_client, format};

#[component]
pub fn Endpoints(followed: LiveRun) -> impl IntoView {
    let body = followed.terms.show("the models of the run", move |terms: Signal<RunTerms>| {
        let used = Memo::new(move |_| terms.read().models.clone());
        move || {
            let used = used.get();
            if used.is_empty() {
                view! { <p class="muted">"No model is asked: every role is scripted."</p> }.into_any()
            } else {
                view! { <EndpointPools used followed /> }.into_any()
            }
        }
    });
    view! {
        <section class="panel" aria-labelledby="endpoints">
            <h2 id="endpoints">"Endpoints"</h2>
            {body}
        </section>
    }
}

#[component]
fn EndpointPools(used: BTreeSet<String>, followed: LiveRun) -> impl IntoView {
    let models = refresh(EVERY, followed.live, api_client::models::list);
    models.show("the endpoints", move |models: Signal<Vec<ModelSummary>>| {
        let names = used.iter().cloned().map(|name| view! { <Pool name models /> });
        names.collect_view()
    })
}

#[component]
fn Pool(name: String, models: Signal<Vec<ModelSummary>>) -> impl IntoView {
    let own = name.clone();
    let model = Memo::new(move |_| models.read().iter().find(|model| model.name == own).cloned());
    let waiting = move || {
        let waiting = model.read().as_ref().map_or(0, |model| model.waiting);
        format::count(i64::try_from(waiting).unwrap_or(i64::MAX))
    };
    let first = model.get_untracked();
    let body = match first {
        Some(first) => {
            let model = Signal::derive(move || model.get().unwrap_or_else(|| first.clone()));
            view! { <Replicas model /> }.into_any()
        }
        None => {
            view! { <p class="muted">"It is no longer in the registry; the run keeps its definition."</p> }.into_any()
        }
    };
    view! {
        <h3>{name} " · " {waiting} " calls wait"</h3>
        {body}
    }
}
