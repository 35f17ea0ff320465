//! The registry of models, and how their endpoints do.

use std::time::Duration;

use domain::api::ModelSummary;
use leptos::prelude::*;

use super::model_form::ModelForm;
use super::probe::Probe;
use ui::components::{
    AsyncView, Badge, Confirm, Dialog, Empty, FirstRows, MoreRows, Polling, Replicas, act, refresh, set_title,
};
use ui::labels::Tone;
use ui::session::Session;
use ui::{api_client, format};

const EVERY: Duration = Duration::from_secs(3);

#[component]
pub fn ModelsPage() -> impl IntoView {
    set_title("Models");
    let models = refresh(EVERY, Signal::derive(|| true), api_client::models::list);
    let (add, first) = (RwSignal::new(false), FirstRows::new());
    let list = models.show("models", move |known: Signal<Vec<ModelSummary>>| {
        let names = move || first.of(known.read().iter().map(|model| model.name.clone()));
        let none = Memo::new(move |_| known.read().is_empty());
        view! {
            <Show when=move || none.get()>
                <Empty title="No models yet.">
                    <p>
                        "Until a model is added, every role of a run is scripted. Any endpoint with an \
                         OpenAI-compatible chat API works: vLLM, SGLang, llama.cpp or a hosted one. Administrators add \
                         models here or in models.yaml."
                    </p>
                </Empty>
            </Show>
            <For each=names key=Clone::clone let:name>
                <Model name known models />
            </For>
            <MoreRows first all=Signal::derive(move || known.read().len()) />
        }
    });
    view! {
        <header class="head">
            <h1>"Models"</h1>
            {move || Session::here().is_administrator().then(|| view! {
                <button type="button" class="main" on:click=move |_| add.set(true)>
                    "Add a model"
                </button>
            })}
        </header>
        <p class="muted lead">"Health and limits as this server sees them. Each player process has its own."</p>
        {list}
        <Dialog title="Add a model" open=add>
            <ModelForm model=None open=add models />
        </Dialog>
    }
}

#[component]
fn Model(name: String, known: Signal<Vec<ModelSummary>>, models: Polling<Vec<ModelSummary>>) -> impl IntoView {
    let own = name.clone();
    let found = Memo::new(move |_| known.read().iter().find(|model| model.name == own).cloned());
    let first = found.get_untracked()?;
    let model = Signal::derive(move || found.get().unwrap_or_else(|| first.clone()));
    let said = Memo::new(move |_| ModelFacts::of(&model.read()));
    let editable = Memo::new(move |_| !model.read().from_file);
    let waiting = move || format::count(i64::try_from(model.read().waiting).unwrap_or(i64::MAX));
    let heading = format!("model-{name}");
    let heading_of = heading.clone();
    Some(view! {
        <section class="panel model" aria-labelledby=heading_of>
            <header class="head">
                <h2 id=heading>{name.clone()}</h2>
                <Buttons name=name.clone() editable models />
            </header>
            {move || view! { <ModelDetails said=said.get() /> }}
            <p class="muted">{waiting} " calls wait for a slot"</p>
            <Replicas model />
            <Probe name />
        </section>
    })
}

/// What changes only when somebody changes the model.
#[derive(Clone, PartialEq)]
struct ModelFacts {
    model: String,
    key: Option<(String, bool)>,
    price: Option<String>,
    limit: Option<u32>,
    editable: bool,
}

impl ModelFacts {
    fn of(model: &ModelSummary) -> Self {
        let price = model.price.as_ref().map(|price| {
            let (read, written) = (format::money(price.prompt), format::money(price.completion));
            format!("{read} read, {written} written, a million tokens")
        });
        Self {
            model: model.model.clone(),
            key: model.key_env.clone().or_else(|| model.key_file.clone()).map(|place| (place, model.key_found)),
            price,
            limit: model.max_in_flight,
            editable: !model.from_file,
        }
    }
}

#[component]
fn ModelDetails(said: ModelFacts) -> impl IntoView {
    let key = match said.key {
        None => view! { "none" }.into_any(),
        Some((place, found)) => {
            let (tone, says) = if found { (Tone::Good, "found") } else { (Tone::Bad, "not found on this server") };
            view! {
                <code>{place}</code>
                " "
                <Badge tone text=says />
            }
            .into_any()
        }
    };
    view! {
        <dl class="strip">
            <div>
                <dt>"Model name at the endpoints"</dt>
                <dd>{said.model}</dd>
            </div>
            <div>
                <dt>"Key from"</dt>
                <dd>{key}</dd>
            </div>
            <div>
                <dt>"Price"</dt>
                <dd>{said.price.unwrap_or_else(|| "not known".to_owned())}</dd>
            </div>
            <div>
                <dt>"Maximum in flight"</dt>
                <dd>{said.limit.map_or_else(|| "no fixed limit".to_owned(), |limit| limit.to_string())}</dd>
            </div>
            <div>
                <dt>"Defined"</dt>
                <dd>{if said.editable { "by an administrator" } else { "in models.yaml" }}</dd>
            </div>
        </dl>
    }
}

/// For what an administrator added; what stands in models.yaml is changed there.
#[component]
fn Buttons(name: String, editable: Memo<bool>, models: Polling<Vec<ModelSummary>>) -> impl IntoView {
    let (edit, gone, busy) = (RwSignal::new(false), RwSignal::new(false), RwSignal::new(false));
    let name = StoredValue::new(name);
    let remove = move || {
        let name = name.get_value();
        let done = format!("{name} is removed.");
        act(busy, done, async move { api_client::models::remove(&name).await }, move |()| models.ask());
    };
    view! {
        <Show when=move || editable.get() && Session::here().is_administrator()>
            <span class="actions">
                <button type="button" on:click=move |_| edit.set(true)>
                    "Edit"
                </button>
                <button type="button" class="danger" on:click=move |_| gone.set(true)>
                    "Remove …"
                </button>
            </span>
            <Dialog title=format!("Edit {}", name.get_value()) open=edit>
                <EditModel name=name.get_value() open=edit models />
            </Dialog>
            <Confirm
                title=format!("Remove {}?", name.get_value())
                text="New runs can no longer use it. Runs that were started with it keep it."
                yes_says="Remove it"
                open=gone
                yes=move |()| remove()
            />
        </Show>
    }
}

/// Asked for each time it opens: what is saved replaces all of the model, whoever changed it last.
#[component]
fn EditModel(name: String, open: RwSignal<bool>, models: Polling<Vec<ModelSummary>>) -> impl IntoView {
    let load = move || {
        let name = name.clone();
        async move { api_client::models::one(&name).await }
    };
    view! {
        <AsyncView what="the model" load let:found>
            {match found {
                Some(model) => view! { <ModelForm model=Some(model) open models /> }.into_any(),
                None => view! { <p>"It was removed."</p> }.into_any(),
            }}
        </AsyncView>
    }
}
