//! Which scenarios: all of the playbooks, or some from a list that can be searched.

use std::collections::BTreeSet;

use domain::api::documents::{DocumentMetadata, DocumentSummary};
use leptos::prelude::*;

use super::draft::Draft;
use ui::components::{NumberField, Problems, Suggest, TextField};
use ui::format;

/// Rows that stand there at first, and that come with each "More".
const STEP: usize = 50;

#[component]
pub fn Scenarios(scenarios: Vec<DocumentSummary>, draft: Draft, problems: Problems) -> impl IntoView {
    let wrong = problems.at("/scenarios");
    let all = StoredValue::new(scenarios);
    let here = Memo::new(move |_| {
        let playbooks = draft.playbooks.read();
        all.with_value(|all| all.iter().filter(|one| of_playbooks(&one.about, &playbooks)).count())
    });
    let way = move |every: bool, says: Signal<String>| {
        view! {
            <label class="check">
                <input
                    type="radio"
                    name="which-scenarios"
                    prop:checked=move || draft.every_scenario.get() == every
                    on:change=move |_| draft.every_scenario.set(every)
                />
                <span>{says}</span>
            </label>
        }
    };
    let every = Signal::derive(move || format!("All {} scenarios of these playbooks, in turn", count(here.get())));
    let some = Signal::derive(move || format!("Only some: {} chosen", count(draft.scenarios.read().len())));
    view! {
        <fieldset class="field checks-of">
            <legend class="name">"Scenarios"</legend>
            <div class="checks-list">{way(true, every)} {way(false, some)}</div>
            {move || wrong.get().map(|text| view! { <p class="wrong">{text}</p> })}
        </fieldset>
        <Show when=move || !draft.every_scenario.get()>
            <Picker all draft />
        </Show>
        <SolveRates draft problems />
    }
}

/// Of these, those that are neither always solved nor never.
#[component]
fn SolveRates(draft: Draft, problems: Problems) -> impl IntoView {
    let (min, max) = (problems.at("/solve_rates/min"), problems.at("/solve_rates/max"));
    let any = problems.at("/solve_rates");
    let of_the_rest = Signal::derive(move || any.get().filter(|_| min.get().is_none() && max.get().is_none()));
    view! {
        <fieldset class="mix">
            <legend>"Solve rate"</legend>
            <p class="muted hint">
                "Only scenarios whose solve rate in an earlier run is in this band, from 0 to 1: nothing is learned from what is always solved, or never. The tab Groups of a run fills this in."
            </p>
            <div class="fields">
                <TextField label="In the run" value=draft.solved_in wrong=of_the_rest placeholder="id of a run" />
                <NumberField label="At least" value=draft.solved_from default="0" min="0" step="any" wrong=min />
                <NumberField label="At most" value=draft.solved_to default="1" min="0" step="any" wrong=max />
            </div>
        </fieldset>
    }
}

#[component]
fn Picker(all: StoredValue<Vec<DocumentSummary>>, draft: Draft) -> impl IntoView {
    let shown = RwSignal::new(STEP);
    let found = Memo::new(move |_| {
        let (playbooks, words) = (draft.playbooks.read(), draft.search.read().to_lowercase());
        let (family, tag) = (draft.family.read(), draft.tag.read());
        let fits =
            |one: &&DocumentSummary| of_playbooks(&one.about, &playbooks) && matches_search(one, &words, &family, &tag);
        all.with_value(|all| all.iter().filter(fits).cloned().collect::<Vec<_>>())
    });
    let rows = move || found.read().iter().take(shown.get()).cloned().collect::<Vec<_>>();
    let rest = move || found.read().len().saturating_sub(shown.get());
    let choose = move |_| draft.scenarios.update(|chosen| chosen.extend(names(&found.read_untracked())));
    let drop_found = move |_| {
        let gone: BTreeSet<String> = names(&found.read_untracked()).collect();
        draft.scenarios.update(|chosen| chosen.retain(|name| !gone.contains(name)));
    };
    view! {
        <div class="picker">
            <ScenarioFilter all draft />
            <p class="actions">
                <button type="button" on:click=choose>
                    {move || format!("Select the {} below", count(found.read().len()))}
                </button>
                <button type="button" on:click=drop_found>
                    "Deselect those below"
                </button>
            </p>
            <ul class="picks" tabindex="0" aria-label="Scenarios to choose from">
                <For each=rows key=|one| one.name.clone() let:one>
                    <ScenarioRow one draft />
                </For>
                {move || found.read().is_empty().then(|| view! { <li class="muted">"No matches."</li> })}
            </ul>
            <Show when=move || { rest() > 0 }>
                <button type="button" on:click=move |_| shown.update(|rows| *rows += STEP)>
                    {move || format!("More: {} are not shown", count(rest()))}
                </button>
            </Show>
        </div>
    }
}

#[component]
fn ScenarioFilter(all: StoredValue<Vec<DocumentSummary>>, draft: Draft) -> impl IntoView {
    let families = all.with_value(|all| distinct(all.iter().map(|one| one.about.family.as_str())));
    let tags = all.with_value(|all| distinct(all.iter().flat_map(|one| one.about.tags.iter().map(String::as_str))));
    let choice = move |label: &'static str,
                       id: &'static str,
                       none: &'static str,
                       names: Vec<String>,
                       value: RwSignal<String>| {
        let choose = Callback::new(move |name| value.set(name));
        (!names.is_empty()).then(|| view! { <Suggest label id names value=value.into() choose none /> })
    };
    view! {
        <div class="fields">
            <label class="field">
                <span class="name">"Search"</span>
                <input type="search" placeholder="name, title or description" bind:value=draft.search />
            </label>
            {choice("Family", "families", "any family", families, draft.family)}
            {choice("Tag", "tags", "any tag", tags, draft.tag)}
        </div>
    }
}

#[component]
fn ScenarioRow(one: DocumentSummary, draft: Draft) -> impl IntoView {
    let (own, name) = (one.name.clone(), one.name.clone());
    let title = if one.about.title.is_empty() { one.about.description } else { one.about.title };
    let toggle = move |on: bool| {
        draft.scenarios.update(|chosen| {
            if on {
                chosen.insert(name.clone());
            } else {
                chosen.remove(&name);
            }
        });
    };
    view! {
        <li>
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || draft.scenarios.read().contains(&own)
                    on:change:target=move |event| toggle(event.target().checked())
                />
                <span class="pick">
                    <span class="pick-name">{one.name}</span>
                    <span class="muted text" dir="auto">
                        {title}
                    </span>
                </span>
            </label>
        </li>
    }
}

fn of_playbooks(about: &DocumentMetadata, playbooks: &BTreeSet<String>) -> bool {
    playbooks.is_empty() || playbooks.contains(&about.playbook)
}

/// `words` in small letters; each of them must stand somewhere.
fn matches_search(one: &DocumentSummary, words: &str, family: &str, tag: &str) -> bool {
    let text = format!("{} {} {}", one.name, one.about.title, one.about.description).to_lowercase();
    words.split_whitespace().all(|word| text.contains(word))
        && (family.is_empty() || one.about.family == family)
        && (tag.is_empty() || one.about.tags.iter().any(|own| own == tag))
}

fn names(documents: &[DocumentSummary]) -> impl Iterator<Item = String> {
    documents.iter().map(|one| one.name.clone())
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let all: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    all.into_iter().map(str::to_owned).collect()
}

fn count(n: usize) -> String {
    format::count(i64::try_from(n).unwrap_or(i64::MAX))
}
