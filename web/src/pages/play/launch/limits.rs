//! How much is played, and what it may take.

use domain::persona::Complexity;
use leptos::prelude::*;

use super::draft::Draft;
use ui::components::{NumberField, Problems};
use ui::labels::words;

#[component]
pub fn Amount(draft: Draft, problems: Problems) -> impl IntoView {
    view! {
        <div class="fields">
            <NumberField label="Conversations" value=draft.n default="24" min="1" wrong=problems.at("/n") />
            <NumberField
                label="Samples of each"
                value=draft.samples
                default="1"
                min="1"
                hint="With the same user, world and faults: a group for training from rewards."
                wrong=problems.at("/samples")
            />
            <NumberField
                label="Seed"
                value=draft.seed
                default="1"
                hint="Everything random is derived from it."
                wrong=problems.at("/seed")
            />
        </div>
    }
}

/// How users put things.
#[component]
pub fn Mix(draft: Draft, problems: Problems) -> impl IntoView {
    let field = |(name, weight): (Complexity, RwSignal<String>)| {
        let label = words(name.into_str());
        let (default, wrong) = ("0", problems.at(pointer(name)));
        view! { <NumberField label value=weight default min="0" step="any" wrong /> }
    };
    view! {
        <fieldset class="mix">
            <legend>"Complexity mix"</legend>
            <p class="muted hint">
                "Relative weights. If all are empty: the weights of the persona model."
            </p>
            <div class="fields">{draft.complexity.map(field).collect_view()}</div>
        </fieldset>
    }
}

const fn pointer(complexity: Complexity) -> &'static str {
    match complexity {
        Complexity::Simple => "/complexity/simple",
        Complexity::Medium => "/complexity/medium",
        Complexity::Complex => "/complexity/complex",
        Complexity::Vague => "/complexity/vague",
    }
}

#[component]
pub fn Limits(draft: Draft, problems: Problems) -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="launch-limits">
            <h2 id="launch-limits">"Limits"</h2>
            <p class="muted">"At any of these caps the run pauses; calls in flight finish."</p>
            <BudgetFields
                tokens=draft.tokens
                money=draft.money
                conversations=draft.conversations
                minutes=draft.minutes
                problems
            />
            <div class="fields">
                <NumberField
                    label="Priority"
                    value=draft.priority
                    default="0"
                    hint="Of the runs of a project, those of higher priority are played first."
                    wrong=problems.at("/priority")
                />
                <NumberField
                    label="Conversations at once"
                    value=draft.max_in_flight
                    default="no limit"
                    min="1"
                    wrong=problems.at("/max_in_flight")
                />
                <NumberField
                    label="Retries"
                    value=draft.retries
                    default="2"
                    min="0"
                    hint="How often a spoiled conversation is played again."
                    wrong=problems.at("/retries")
                />
                <NumberField
                    label="Forecast after"
                    value=draft.forecast
                    default="no forecast"
                    min="1"
                    hint="Plays this many, then pauses and shows a forecast of the whole run."
                    wrong=problems.at("/forecast")
                />
            </div>
            <label class="check">
                <input type="checkbox" bind:checked=draft.paused />
                <span>"Start paused"</span>
            </label>
        </section>
    }
}

/// The caps of a budget.
#[component]
pub fn BudgetFields(
    tokens: RwSignal<String>,
    money: RwSignal<String>,
    conversations: RwSignal<String>,
    minutes: RwSignal<String>,
    problems: Problems,
) -> impl IntoView {
    view! {
        <div class="fields">
            <NumberField label="Tokens" value=tokens default="no cap" min="1" wrong=problems.at("/budget/tokens") />
            <NumberField
                label="Money"
                value=money
                default="no cap"
                min="0"
                step="any"
                hint="In the unit of the models' prices."
                wrong=problems.at("/budget/money")
            />
            <NumberField
                label="Conversations started"
                value=conversations
                default="no cap"
                min="1"
                wrong=problems.at("/budget/conversations")
            />
            <NumberField
                label="Minutes"
                value=minutes
                default="no cap"
                min="0"
                step="any"
                hint="Time of playing; pauses do not count."
                wrong=problems.at("/budget/seconds")
            />
        </div>
    }
}
