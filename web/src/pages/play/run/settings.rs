//! Priority and caps, which can be changed while a run goes on.

use domain::api::RunChange;
use domain::budget::Budget;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::LiveRun;
use crate::pages::play::launch::{BudgetFields, budget as caps};
use ui::api_client;
use ui::components::{AsyncView, Dialog, FieldReader, FormError, NumberField, Problems, Send, Toasts};

#[component]
pub fn Settings(followed: LiveRun) -> impl IntoView {
    let open = RwSignal::new(false);
    // Asked for each time: what is saved replaces all of them, whoever set them.
    let load = move || {
        let id = followed.id();
        async move { api_client::runs::terms(&id).await }
    };
    view! {
        <Show when=move || followed.live.get()>
            <button type="button" on:click=move |_| open.set(true)>
                "Priority and caps …"
            </button>
        </Show>
        <Dialog title="Priority and caps" open>
            <AsyncView what="its caps" load let:terms>
                <Form followed open budget=terms.budget />
            </AsyncView>
        </Dialog>
    }
}

#[component]
fn Form(followed: LiveRun, open: RwSignal<bool>, budget: Budget) -> impl IntoView {
    let run = followed.run;
    let problems = Problems::default();
    let (toasts, busy) = (Toasts::here(), RwSignal::new(false));
    let text = |value: Option<String>| RwSignal::new(value.unwrap_or_default());
    let priority = RwSignal::new(run.read_untracked().priority.to_string());
    let tokens = text(budget.tokens.map(|n| n.to_string()));
    let money = text(budget.money.map(|n| n.to_string()));
    let conversations = text(budget.conversations.map(|n| n.to_string()));
    let minutes = text(budget.seconds.map(minutes_of));
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        problems.clear();
        let mut fields = FieldReader::default();
        let change = RunChange {
            priority: Some(fields.whole("/priority", &priority.read_untracked()).unwrap_or_default()),
            budget: Some(untrack(|| caps(&mut fields, tokens, money, conversations, minutes))),
        };
        let (id, change) = (followed.id(), fields.finish(change));
        spawn_local(async move {
            let answer = async { api_client::runs::change(&id, &change?).await }.await;
            busy.try_set(false);
            match answer {
                Ok(new) => {
                    run.try_set(new);
                    followed.terms.ask();
                    toasts.good("Priority and caps are changed.");
                    open.try_set(false);
                }
                Err(error) => problems.set(error),
            }
        });
    };
    view! {
        <form class="stack" on:submit=submit novalidate>
            <FormError why=problems />
            <NumberField
                label="Priority"
                value=priority
                default="0"
                hint="Of the runs of a project, those of higher priority are played first."
                wrong=problems.at("/priority")
            />
            <BudgetFields tokens money conversations minutes problems />
            <p class="muted hint">"At any of these caps the run pauses. Empty: no cap."</p>
            <div class="actions">
                <Send label="Save" busy />
                <button type="button" on:click=move |_| open.set(false)>
                    "Cancel"
                </button>
            </div>
        </form>
    }
}

#[expect(clippy::cast_precision_loss, reason = "a cap of 285 million years is none")]
fn minutes_of(seconds: i64) -> String {
    (seconds as f64 / 60.0).to_string()
}
