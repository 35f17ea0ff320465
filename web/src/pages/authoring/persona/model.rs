//! The persona model, without which no profile can be read.

use std::sync::Arc;

use domain::persona::PersonaModel;
use domain::project::{Kind, PERSONA_MODEL};
use leptos::prelude::*;
use leptos_router::components::A;

use crate::pages::authoring::draft::Draft;
use crate::pages::authoring::list::add_model;
use crate::pages::authoring::references::{NoModel, References};
use ui::address;
use ui::components::{Change, Changing, Failure, Loading};
use ui::session::Project;

/// Shows what is made of it once it is there; until then, that it is on its way, or why it does not come.
pub fn with_model<V: IntoView + 'static>(shown: impl Fn(Arc<PersonaModel>) -> V + Send + 'static) -> impl IntoView {
    let references = References::here();
    move || match (references.model.get(), references.no_model.get()) {
        (Some(model), _) => shown(model).into_any(),
        (None, Some(NoModel::Unanswered(error))) if error.is_missing() => view! { <ModelMissing /> }.into_any(),
        (None, Some(NoModel::Unanswered(error))) => {
            view! { <Failure error retry=move || references.ask_again() /> }.into_any()
        }
        (None, Some(NoModel::Wrong)) => view! { <ModelUnreadable /> }.into_any(),
        (None, None) => view! { <Loading what="the persona model" /> }.into_any(),
    }
}

#[component]
fn ModelUnreadable() -> impl IntoView {
    let href = address::document(&Project::here().name(), Kind::Persona, PERSONA_MODEL);
    view! {
        <p class="refusal" role="alert">
            "The persona model cannot be read. Its problems are listed on "
            <A href>"its own page"</A>
            "."
        </p>
    }
}

#[component]
fn ModelMissing() -> impl IntoView {
    let (references, draft, adding) = (References::here(), Draft::here(), Change::new());
    let add = move |_| {
        let project = draft.place().project;
        let change = move |signal| async move { add_model(&signal, &project).await };
        adding.act("The persona model was added and promoted.", change, move |()| references.ask_again());
    };
    view! {
        <p>
            "The project has no persona model. It defines traits, emotions and attributes, and profiles cannot be read \
             without it."
        </p>
        <Show when=move || draft.may_write.get()>
            <button type="button" class="main" aria-disabled=move || adding.busy().to_string() on:click=add>
                "Add the one that ships with Groundstate"
            </button>
            <Changing change=adding what="Adding the persona model" />
        </Show>
    }
}
