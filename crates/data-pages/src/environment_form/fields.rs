//! The fields of an environment's form, part by part.

use domain::api::CorpusSummary;
use domain::api::documents::DocumentSummary;
use domain::corpus::Side;
use domain::role::Role;
use leptos::prelude::*;
use leptos_router::components::A;
use strum::VariantArray;

use super::draft::{Draft, OTHER, SCRIPTED};
use super::{built, named};
use crate::inputs::Choice;
use ui::components::{Checks, FormField, NumberField, Problems, TextField};
use ui::labels::words;

const EXAMPLE: &str = r#"{"temperatures": {"simulated_user": 0.9}}"#;

/// Fields for playbooks, scenarios and the part.
#[component]
pub fn Selection(
    draft: Draft,
    problems: Problems,
    playbooks: Vec<DocumentSummary>,
    personas: Vec<DocumentSummary>,
    corpora: Vec<CorpusSummary>,
) -> impl IntoView {
    let sides = Side::VARIANTS.iter().map(Side::into_str).zip(["train", "golden"]);
    let parts = [("", "train and golden: each request may choose")].into_iter().chain(sides);
    let parts: Vec<_> = parts.map(|(key, says)| (key.to_owned(), says.to_owned())).collect();
    let mut from = vec![(String::new(), "no corpus: a tenth of the families, drawn by their names".to_owned())];
    from.extend(built(corpora));
    let from = with_chosen(from, draft.corpus);
    view! {
        <section class="panel" aria-labelledby="environment-selection">
            <h2 id="environment-selection">"Selection"</h2>
            <Checks
                label="Playbooks"
                options=named(playbooks)
                chosen=draft.playbooks
                hint="None selected: all of the project."
                wrong=problems.at("/playbooks")
            />
            <FormField
                label="Scenarios"
                hint="Their names, with spaces or line breaks between them. Empty: all scenarios of the playbooks."
                wrong=problems.at("/scenarios")
            >
                <textarea rows="2" spellcheck="false" bind:value=draft.scenarios></textarea>
            </FormField>
            <div class="fields">
                <Choice
                    label="Part"
                    hint="A family of scenarios is in one part only, so that you never test with what you trained on."
                    wrong=problems.at("/split")
                    options=parts
                    value=draft.split
                    change=Callback::new(move |to| draft.split.set(to))
                />
                <Choice
                    label="Golden part from"
                    hint="With a corpus, the families of its golden part are golden. Choose a part, too."
                    wrong=problems.at("/corpus")
                    options=from
                    value=draft.corpus
                    change=Callback::new(move |to| draft.corpus.set(to))
                />
            </div>
            <Checks
                label="Persona profiles"
                options=named(personas)
                chosen=draft.personas
                hint="None selected: all of them. Each user is drawn from one."
                wrong=problems.at("/personas")
            />
        </section>
    }
}

/// Who plays the other roles.
#[component]
pub fn Models(draft: Draft, problems: Problems, models: Vec<String>) -> impl IntoView {
    let none = models.is_empty();
    let row = |(role, model): (Role, RwSignal<String>)| {
        let scripted = (SCRIPTED.to_owned(), "scripted (asks no model)".to_owned());
        let known = models.iter().map(|name| (name.clone(), name.clone()));
        let options = with_chosen([scripted].into_iter().chain(known).collect(), model);
        let change = Callback::new(move |to| model.set(to));
        view! { <Choice label=words(role.as_str()) wrong=problems.at(pointer(role)) options value=model change /> }
    };
    let rows = draft.models.map(row).into_iter().collect_view();
    view! {
        <section class="panel" aria-labelledby="environment-models">
            <h2 id="environment-models">"Models"</h2>
            <p class="muted">
                "The agent comes from outside. A scripted user says the lines of its script and answers no questions, so name a \
                 model for the simulated user if you train. Judges do not change the reward."
            </p>
            {none.then(|| view! {
                <p class="muted">
                    "The registry has no model yet. An administrator adds models on the page " <A href="/models">"Models"</A> "."
                </p>
            })}
            <div class="fields">{rows}</div>
            <TextField
                label="Variant of the agent"
                value=draft.variant
                placeholder="as each playbook says"
                hint="Uses other tools and another prompt, as defined in the playbook."
                wrong=problems.at("/variant")
            />
        </section>
    }
}

const fn pointer(role: Role) -> &'static str {
    match role {
        Role::SimulatedUser => "/models/simulated_user",
        Role::Agent => "/models/agent",
        Role::ToolSimulator => "/models/tool_simulator",
        Role::StateManager => "/models/state_manager",
        Role::Judge => "/models/judge",
    }
}

/// How many tasks there are, and how long an episode may wait.
#[component]
pub fn Tasks(draft: Draft, problems: Problems) -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="environment-tasks">
            <h2 id="environment-tasks">"Tasks"</h2>
            <div class="fields">
                <NumberField
                    label="Tasks of each scenario"
                    value=draft.groups
                    default="1"
                    min="1"
                    hint="In the lists that trainers read. Each task has another user."
                    wrong=problems.at("/groups")
                />
                <NumberField
                    label="Seed"
                    value=draft.seed
                    default="1"
                    hint="Everything random is derived from it."
                    wrong=problems.at("/seed")
                />
                <NumberField
                    label="Given up after, in seconds"
                    value=draft.idle_seconds
                    default="1800"
                    min="1"
                    hint="An episode whose agent sends nothing for so long has no reward."
                    wrong=problems.at("/idle_seconds")
                />
            </div>
        </section>
    }
}

/// The caps of all its episodes together.
#[component]
pub fn Budget(draft: Draft, problems: Problems) -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="environment-budget">
            <h2 id="environment-budget">"Budget"</h2>
            <p class="muted">
                "Of all episodes together. At one of these caps the run of the episodes pauses, and no more can be opened."
            </p>
            <div class="fields">
                <NumberField
                    label="Tokens"
                    value=draft.tokens
                    default="no cap"
                    min="1"
                    wrong=problems.at("/budget/tokens")
                />
                <NumberField
                    label="Money"
                    value=draft.money
                    default="no cap"
                    min="0"
                    step="any"
                    hint="In the unit of the models' prices."
                    wrong=problems.at("/budget/money")
                />
                <NumberField
                    label="Episodes"
                    value=draft.conversations
                    default="no cap"
                    min="1"
                    wrong=problems.at("/budget/conversations")
                />
                <NumberField
                    label="Seconds of playing"
                    value=draft.seconds
                    default="no cap"
                    min="1"
                    wrong=problems.at("/budget/seconds")
                />
            </div>
        </section>
    }
}

/// Settings without fields of their own.
#[component]
pub fn Other(draft: Draft, problems: Problems) -> impl IntoView {
    let all = [OTHER, "/complexity", "/sub_agents", "/temperatures", "/user_style", "/faults"];
    let all = all.map(|pointer| problems.at(pointer));
    let wrong = Signal::derive(move || all.iter().find_map(Signal::get));
    view! {
        <section class="panel" aria-labelledby="environment-other">
            <h2 id="environment-other">"Other settings"</h2>
            <FormField
                label="As JSON"
                hint="complexity, sub_agents, temperatures, user_style and faults, as the reference of the API describes them."
                wrong
            >
                <textarea
                    rows="3"
                    spellcheck="false"
                    placeholder=EXAMPLE
                    bind:value=draft.other
                ></textarea>
            </FormField>
        </section>
    }
}

/// Options among which is also what was chosen when there were others.
fn with_chosen(mut options: Vec<(String, String)>, chosen: RwSignal<String>) -> Vec<(String, String)> {
    let chosen = chosen.get_untracked();
    if !options.iter().any(|(key, _)| *key == chosen) {
        options.push((chosen.clone(), chosen));
    }
    options
}
