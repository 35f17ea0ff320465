//! Workers: who serves a model on a machine of its own, and how it does.

use std::time::Duration;

use domain::api::workers::{Engine, Gpu, WorkerOrder, WorkerState, WorkerSummary};
use leptos::prelude::*;

use super::join::Join;
use ui::components::{Badge, Confirm, Dialog, Empty, FirstRows, MoreRows, Polling, act, refresh};
use ui::labels::Tone;
use ui::session::Session;
use ui::{api_client, format};

const EVERY: Duration = Duration::from_secs(2);

#[component]
pub fn Serving() -> impl IntoView {
    let workers = refresh(EVERY, Signal::derive(|| true), api_client::workers::list);
    let (add, first) = (RwSignal::new(false), FirstRows::new());
    let list = workers.show("workers", move |known: Signal<Vec<WorkerSummary>>| {
        let ids = move || first.of(known.read().iter().map(|worker| worker.id));
        let none = Memo::new(move |_| known.read().is_empty());
        view! {
            <Show when=move || none.get()>
                <Empty title="No worker has joined.">
                    <p>
                        "A worker serves a model on a machine of its own, with a GPU or without: it starts vLLM, SGLang or \
                         llama-server, watches it, and joins with one command."
                    </p>
                </Empty>
            </Show>
            <For each=ids key=|id| *id let:id>
                <Worker id known workers />
            </For>
            <MoreRows first all=Signal::derive(move || known.read().len()) />
        }
    });
    view! {
        <header class="head">
            <h2>"Workers"</h2>
            {move || Session::here().is_administrator().then(|| view! {
                <button type="button" class="main" on:click=move |_| add.set(true)>
                    "Add a worker"
                </button>
            })}
        </header>
        {list}
        <Dialog title="Add a worker" open=add>
            <Join open=add />
        </Dialog>
    }
}

#[component]
fn Worker(id: i64, known: Signal<Vec<WorkerSummary>>, workers: Polling<Vec<WorkerSummary>>) -> impl IntoView {
    let found = Memo::new(move |_| known.read().iter().find(|worker| worker.id == id).cloned());
    let first = found.get_untracked()?;
    let (name, model, engine, url) = (first.name.clone(), first.model.clone(), first.engine, first.url.clone());
    let worker = Signal::derive(move || found.get().unwrap_or_else(|| first.clone()));
    let heading = format!("worker-{id}");
    let heading_of = heading.clone();
    let (own, external) = (name.clone(), engine == Engine::External);
    Some(view! {
        <section class="panel model" aria-labelledby=heading_of>
            <header class="head">
                <h3 id=heading>
                    {name}
                    " "
                    {move || {
                        let (tone, says) = standing(&worker.read());
                        view! { <Badge tone text=says /> }
                    }}
                </h3>
                <Orders id name=own external workers />
            </header>
            {move || worker.read().detail.clone().map(|detail| view! { <p class="muted">{detail}</p> })}
            <dl class="strip">
                <Figure label="Model" value=move || model.clone() />
                <Figure label="Engine" value=move || engine.to_string() />
                <Figure label="Address" value=move || url.clone() />
                <Figure label="Running" value=move || count(worker.read().load.running) />
                <Figure label="Waiting" value=move || count(worker.read().load.waiting) />
                <Figure label="Tokens a second" value=move || rate(worker.read().load.tokens_per_second) />
                <Figure label="Prefix cache hits" value=move || share(worker.read().load.prefix_cache_hits) />
                <Figure label="Engine restarts" value=move || worker.read().restarts.to_string() />
            </dl>
            {move || worker.read().gpus.iter().map(|gpu| view! { <p class="muted">{describe_gpu(gpu)}</p> }).collect_view()}
        </section>
    })
}

#[component]
fn Figure(label: &'static str, value: impl Fn() -> String + Send + 'static) -> impl IntoView {
    view! {
        <div>
            <dt>{label}</dt>
            <dd>{value}</dd>
        </div>
    }
}

/// What an administrator may ask of it.
#[component]
fn Orders(id: i64, name: String, external: bool, workers: Polling<Vec<WorkerSummary>>) -> impl IntoView {
    let (sure, busy) = (RwSignal::new(false), RwSignal::new(false));
    let name = StoredValue::new(name);
    let order = move |order: WorkerOrder| {
        let done = match order {
            WorkerOrder::Restart => format!("{} finishes its requests and restarts.", name.get_value()),
            WorkerOrder::Drain | WorkerOrder::Serve => format!("{} finishes its requests.", name.get_value()),
        };
        act(busy, done, async move { api_client::workers::order(id, order).await }, move |_| workers.ask());
    };
    Session::here().is_administrator().then(|| {
        view! {
            <span class="actions">
                {(!external).then(|| view! {
                    <button type="button" on:click=move |_| order(WorkerOrder::Restart)>
                        "Restart"
                    </button>
                })}
                <button type="button" class="danger" on:click=move |_| sure.set(true)>
                    "Drain …"
                </button>
            </span>
            <Confirm
                title=format!("Drain {}?", name.get_value())
                text="It gets no new requests, finishes those that it has, and leaves. No conversation is lost."
                yes_says="Drain it"
                open=sure
                yes=move |()| order(WorkerOrder::Drain)
            />
        }
    })
}

const fn standing(worker: &WorkerSummary) -> (Tone, &'static str) {
    match (worker.lost, worker.state, worker.order) {
        (true, ..) => (Tone::Bad, "silent"),
        (_, WorkerState::Unhealthy, _) => (Tone::Bad, "engine does not answer"),
        (_, WorkerState::Starting, _) => (Tone::Neutral, "starting"),
        (_, WorkerState::Draining, _) | (_, _, WorkerOrder::Drain | WorkerOrder::Restart) => {
            (Tone::Neutral, "draining")
        }
        (_, WorkerState::Ready, WorkerOrder::Serve) => (Tone::Good, "ready"),
    }
}

fn count(figure: Option<u32>) -> String {
    figure.map_or_else(|| "–".to_owned(), |figure| figure.to_string())
}

fn rate(figure: Option<f64>) -> String {
    figure.map_or_else(|| "–".to_owned(), |figure| format!("{figure:.0}"))
}

fn share(figure: Option<f64>) -> String {
    figure.map_or_else(|| "–".to_owned(), format::percent)
}

fn describe_gpu(gpu: &Gpu) -> String {
    let busy = gpu.utilisation.map_or_else(String::new, |busy| format!(", {busy} % busy"));
    format!("GPU {}: {}, {} of {} MiB{busy}", gpu.index, gpu.name, gpu.memory_used, gpu.memory_total)
}
