//! What a model is: its endpoints, its price, and where its key is. Keys themselves are never asked for.

use domain::api::{ModelDefinition, ModelSummary};
use domain::price::Price;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::naming;
use ui::api_client::{self, Answer};
use ui::components::{
    FieldReader, FormError, FormField, NumberField, Polling, Problems, Send, TextField, Toasts, send,
};

#[derive(Clone, Copy)]
struct Draft {
    name: RwSignal<String>,
    model: RwSignal<String>,
    replicas: RwSignal<String>,
    workers: RwSignal<bool>,
    key_env: RwSignal<String>,
    key_file: RwSignal<String>,
    prompt: RwSignal<String>,
    completion: RwSignal<String>,
    max_in_flight: RwSignal<String>,
    start_in_flight: RwSignal<String>,
    slow_after: RwSignal<String>,
    token_ids: RwSignal<bool>,
}

impl Draft {
    fn of(model: Option<&ModelSummary>) -> Self {
        let text = |of: &dyn Fn(&ModelSummary) -> Option<String>| RwSignal::new(model.and_then(of).unwrap_or_default());
        let urls = |model: &ModelSummary| {
            let own = model.replicas.iter().filter(|replica| !replica.worker);
            Some(own.map(|replica| replica.url.as_str()).collect::<Vec<_>>().join("\n"))
        };
        Self {
            name: text(&|model| Some(model.name.clone())),
            model: text(&|model| Some(model.model.clone()).filter(|own| *own != model.name)),
            replicas: text(&urls),
            workers: RwSignal::new(model.is_some_and(|model| model.workers)),
            key_env: text(&|model| model.key_env.clone()),
            key_file: text(&|model| model.key_file.clone()),
            prompt: text(&|model| model.price.map(|price| price.prompt.to_string())),
            completion: text(&|model| model.price.map(|price| price.completion.to_string())),
            max_in_flight: text(&|model| model.max_in_flight.map(|limit| limit.to_string())),
            start_in_flight: text(&|model| Some(model.start_in_flight.to_string())),
            slow_after: text(&|model| model.slow_after_seconds.map(|seconds| seconds.to_string())),
            token_ids: RwSignal::new(model.is_some_and(|model| model.token_ids)),
        }
    }

    fn definition(self) -> Answer<ModelDefinition> {
        let text =
            |field: RwSignal<String>| Some(field.get_untracked().trim().to_owned()).filter(|text| !text.is_empty());
        let mut fields = FieldReader::default();
        let prompt = fields.decimal("/price/prompt", &self.prompt.read_untracked());
        let completion = fields.decimal("/price/completion", &self.completion.read_untracked());
        let price = (prompt.is_some() || completion.is_some())
            .then(|| Price { prompt: prompt.unwrap_or_default(), completion: completion.unwrap_or_default() });
        let definition = ModelDefinition {
            model: text(self.model),
            replicas: self.replicas.read_untracked().split_whitespace().map(str::to_owned).collect(),
            workers: self.workers.get_untracked(),
            key_env: text(self.key_env),
            key_file: text(self.key_file),
            price,
            max_in_flight: fields.whole("/max_in_flight", &self.max_in_flight.read_untracked()),
            start_in_flight: fields.whole("/start_in_flight", &self.start_in_flight.read_untracked()),
            slow_after_seconds: fields.decimal("/slow_after_seconds", &self.slow_after.read_untracked()),
            token_ids: self.token_ids.get_untracked(),
        };
        fields.finish(definition)
    }
}

const TAKEN: &str = "A model with this name exists already; edit it instead.";

/// A new one takes no other's place.
async fn add(name: &str, definition: &ModelDefinition) -> Answer<ModelSummary> {
    match api_client::models::one(name).await? {
        None => api_client::models::set(name, definition).await,
        Some(_) => Err(naming::wrong("/name", TAKEN)),
    }
}

#[component]
pub fn ModelForm(
    /// To be changed; `None`: a new one.
    model: Option<ModelSummary>,
    open: RwSignal<bool>,
    models: Polling<Vec<ModelSummary>>,
) -> impl IntoView {
    let known = model.is_some();
    let draft = Draft::of(model.as_ref());
    let (problems, busy, toasts) = (Problems::default(), RwSignal::new(false), Toasts::here());
    let submit = move |event: SubmitEvent| {
        let (name, definition) = (draft.name.get_untracked().trim().to_owned(), draft.definition());
        if naming::missing(&event, &name, "/name", problems) {
            return;
        }
        let ask = async move {
            let definition = definition?;
            if known { api_client::models::set(&name, &definition).await } else { add(&name, &definition).await }
        };
        send(&event, busy, problems, ask, move |model| {
            toasts.good(format!("{} is in the registry.", model.name));
            models.ask();
            open.try_set(false);
        });
    };
    view! {
        <form class="stack" on:submit=submit>
            <FormError why=problems />
            <TextField
                label="Name"
                value=draft.name
                hint="Runs use this name."
                readonly=known
                wrong=problems.at("/name")
            />
            <FormField
                label="Endpoints"
                hint="Base URLs, one a line, usually ending in /v1. Requests are distributed among them."
                wrong=problems.at("/replicas")
            >
                <textarea rows="3" spellcheck="false" placeholder="http://gpu-1:8000/v1" bind:value=draft.replicas></textarea>
            </FormField>
            <label class="check">
                <input type="checkbox" bind:checked=draft.workers />
                <span>"Workers that serve it may join"</span>
            </label>
            <TextField
                label="Model name at the endpoints"
                value=draft.model
                placeholder="the same as the name"
                wrong=problems.at("/model")
            />
            <TextField
                label="Environment variable of the key"
                value=draft.key_env
                placeholder="no key"
                hint="The variable's name, set where Groundstate plays. The key itself is never stored."
                wrong=problems.at("/key_env")
            />
            <TextField
                label="Or file of the key"
                value=draft.key_file
                placeholder="no file"
                hint="Its absolute path where Groundstate plays, such as /run/secrets/qwen. It holds the key and nothing else."
                wrong=problems.at("/key_file")
            />
            <Limits draft problems />
            <label class="check">
                <input type="checkbox" bind:checked=draft.token_ids />
                <span>"Keep token ids and log-probabilities of the agent's replies, for training on them"</span>
            </label>
            <div class="actions">
                <Send label="Save" busy />
                <button type="button" on:click=move |_| open.set(false)>
                    "Cancel"
                </button>
            </div>
        </form>
    }
}

/// What it costs, and how much is asked of it at once.
#[component]
fn Limits(draft: Draft, problems: Problems) -> impl IntoView {
    view! {
        <div class="fields">
            <NumberField
                label="Price per million tokens read"
                value=draft.prompt
                default="not known"
                min="0"
                step="any"
                wrong=problems.at("/price")
            />
            <NumberField
                label="Price per million tokens written"
                value=draft.completion
                default="not known"
                min="0"
                step="any"
                wrong=problems.at("/price/completion")
            />
            <NumberField
                label="Maximum in flight"
                value=draft.max_in_flight
                default="no fixed limit"
                min="1"
                hint="Requests to one endpoint at once."
                wrong=problems.at("/max_in_flight")
            />
            <NumberField
                label="In flight at the start"
                value=draft.start_in_flight
                default="16"
                min="1"
                hint="Requests to one endpoint at once, until its capacity is known."
                wrong=problems.at("/start_in_flight")
            />
            <NumberField
                label="Slow after, in seconds"
                value=draft.slow_after
                default="never"
                min="0"
                step="any"
                hint="If the first byte takes longer, the endpoint counts as overloaded."
                wrong=problems.at("/slow_after_seconds")
            />
        </div>
    }
}
