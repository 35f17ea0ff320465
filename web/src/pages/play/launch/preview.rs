//! What the order would play, what is wrong with it, and the way to start it.

use std::time::Duration;

use domain::api::{OrderPreview, RunOrder, RunSummary};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::cast::PlaybookOptions;
use super::draft::{Draft, FormOrder};
use ui::api_client::orders::preview;
use ui::api_client::{AbortGuard, AbortSignal, Answer};
use ui::components::{Change, Changing, Command, FormError, Loading, Models, Problems};
use ui::session::Project;
use ui::{address, api_client, format};

/// So long nothing is asked while somebody types.
const CALM: Duration = Duration::from_millis(300);
/// Where a run is that was started.
const ELSEWHERE: &str = "Check the runs to see whether it was started before that.";
/// Names that are shown of a long list.
const SHOWN: usize = 8;

#[component]
pub fn PreviewPanel(draft: Draft, problems: Problems, offered: RwSignal<PlaybookOptions>) -> impl IntoView {
    let project = Project::here();
    let order = Memo::new(move |_| draft.order());
    let OrderCheck { found, waits, again } = OrderCheck::of(order, problems, offered);
    let refused = problems.all();
    view! {
        <aside class="panel launch-look" aria-labelledby="launch-look">
            <h2 id="launch-look">"Preview"</h2>
            <FormError why=problems />
            <Show when=move || problems.may_pass().get()>
                <button type="button" on:click=move |_| again.update(|again| *again += 1)>
                    "Try again"
                </button>
            </Show>
            <div class="looked" aria-busy=move || waits.get().to_string()>
                {move || match found.get() {
                    Some(found) => view! { <Preview found /> }.into_any(),
                    None if refused.read().is_some() => ().into_any(),
                    None => view! { <Loading what="the preview" /> }.into_any(),
                }}
            </div>
            <Start order problems />
            <details>
                <summary>"As a REST request"</summary>
                <p class="muted hint">"Needs a token with the scope run, from the page Tokens."</p>
                <Command
                    label="Command that starts this run"
                    text=Signal::derive(move || curl(&origin(), &address::segment(&project.name()), &order.read().order))
                />
            </details>
        </aside>
    }
}

/// What the server says of the newest order, once nobody has typed for a moment.
#[derive(Clone, Copy)]
struct OrderCheck {
    found: RwSignal<Option<OrderPreview>>,
    /// Whether what was found is of an older order.
    waits: RwSignal<bool>,
    /// Asks once more.
    again: RwSignal<u32>,
}

impl OrderCheck {
    fn of(order: Memo<FormOrder>, problems: Problems, offered: RwSignal<PlaybookOptions>) -> Self {
        let project = Project::here();
        let checked = Self { found: RwSignal::new(None), waits: RwSignal::new(false), again: RwSignal::new(0) };
        let newest = StoredValue::new(0_u32);
        // Dropped, it breaks off what is not waited for any more.
        let guard = StoredValue::new_local(None);
        Effect::new(move |_| {
            checked.again.track();
            let (order, name) = (order.get(), project.name());
            newest.update_value(|newest| *newest += 1);
            guard.set_value(None);
            checked.waits.set(true);
            let own = newest.get_value();
            let is_newest = move || newest.try_get_value() == Some(own);
            let ask = move || {
                if !is_newest() {
                    return;
                }
                let order = match order.checked() {
                    Ok(order) => order,
                    Err(error) => return checked.tell(Err(error), problems, offered),
                };
                let opened = AbortGuard::new();
                let signal = opened.signal();
                guard.set_value(Some(opened));
                spawn_local(async move {
                    let answer = preview(&signal, &name, &order).await;
                    if is_newest() {
                        checked.tell(answer, problems, offered);
                    }
                });
            };
            set_timeout(ask, CALM);
        });
        checked
    }

    fn tell(self, answer: Answer<OrderPreview>, problems: Problems, offered: RwSignal<PlaybookOptions>) {
        self.waits.try_set(false);
        match answer {
            Ok(sound) => {
                problems.clear();
                let (variants, sub_agents) = (sound.variants.clone(), sound.sub_agents.clone());
                offered.try_set(PlaybookOptions { variants, sub_agents });
                self.found.try_set(Some(sound));
            }
            Err(error) => {
                self.found.try_set(None);
                problems.set(error);
            }
        }
    }
}

#[component]
fn Preview(found: OrderPreview) -> impl IntoView {
    let OrderPreview { playbooks, planned, scenarios, personas, models, warnings, .. } = found;
    let each = planned.div_ceil(scenarios.len().max(1));
    let line = |name: &'static str, names: Vec<String>| {
        let (n, list) = (count(names.len()), some(&names));
        view! {
            <div>
                <dt>{format!("{name}: {n}")}</dt>
                <dd class="text">{list}</dd>
            </div>
        }
    };
    view! {
        <p class="launch-sum">
            <strong class="figure">{count(planned)}</strong>
            {format!(" conversations, at most {} of each scenario", count(each))}
        </p>
        <dl class="previewed">
            {line("Playbooks", playbooks)} {line("Scenarios", scenarios)} {line("Persona profiles", personas)}
        </dl>
        <Models models />
        {(!warnings.is_empty()).then(|| view! {
            <ul class="note notable" aria-label="Warnings">
                {warnings.into_iter().map(|warning| view! { <li class="text">{warning}</li> }).collect_view()}
            </ul>
        })}
    }
}

#[component]
fn Start(order: Memo<FormOrder>, problems: Problems) -> impl IntoView {
    let (project, starting) = (Project::here(), Change::new().seen_elsewhere(ELSEWHERE));
    let navigate = use_navigate();
    let start = move |_| {
        let (name, navigate, order) = (project.0.get_untracked(), navigate.clone(), order.get_untracked());
        let own = name.clone();
        let ask =
            move |signal: AbortSignal| async move { api_client::runs::start(&signal, &own, &order.checked()?).await };
        let show = move |run: RunSummary| navigate(&address::run(&name, &run.id), NavigateOptions::default());
        starting.send(problems, ask, show);
    };
    view! {
        <button type="button" class="main" aria-disabled=move || starting.busy().to_string() on:click=start>
            "Start the run"
        </button>
        <Changing change=starting what="Starting" />
    }
}

fn some(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {} more", count(more)),
    }
}

fn count(n: usize) -> String {
    format::count(i64::try_from(n).unwrap_or(i64::MAX))
}

fn origin() -> String {
    // It fails for no page that was loaded from a server.
    window().location().origin().unwrap_or_default()
}

/// `project`: as a segment of an address.
fn curl(origin: &str, project: &str, order: &RunOrder) -> String {
    let body = serde_json::to_string_pretty(order).unwrap_or_default().replace('\'', r"'\''");
    let path = format!("/api/v1/projects/{project}/runs");
    format!(
        "curl -X POST '{origin}{path}' \\\n  -H \"Authorization: Bearer $GROUNDSTATE_TOKEN\" \\\n  \
         -H 'Content-Type: application/json' \\\n  --data '{body}'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_ends_no_word_of_the_shell() {
        let command =
            curl("http://localhost:1", "default", &RunOrder { variant: Some("a'b".to_owned()), ..RunOrder::default() });
        assert!(command.contains(r#""variant": "a'\''b""#), "{command}");
    }
}
