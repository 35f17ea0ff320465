//! The order for another judging.

use std::collections::BTreeSet;

use domain::api::{JudgingSummary, NewJudging};
use leptos::prelude::*;

use crate::pages::play::run::LiveRun;
use ui::api_client;
use ui::components::{AsyncView, Checks, Polling, act};

#[component]
pub fn JudgeAgain(followed: LiveRun, judgings: Polling<Vec<JudgingSummary>>) -> impl IntoView {
    let (chosen, apart) = (RwSignal::new(BTreeSet::new()), RwSignal::new(false));
    let busy = RwSignal::new(false);
    let begin = move |_| {
        let models = chosen.get_untracked().into_iter().collect();
        let (id, new) = (followed.id(), NewJudging { models, criteria_apart: apart.get_untracked() });
        let ask = async move { api_client::judgings::begin(&id, &new).await };
        act(busy, "The run is being judged again.", ask, move |_| judgings.ask());
    };
    view! {
        <section class="panel" aria-labelledby="judge-again">
            <h2 id="judge-again">"Judge again"</h2>
            <p class="muted">
                "Nothing is played: judges get the conversations as they are. Existing verdicts are kept."
            </p>
            <AsyncView what="models" load=api_client::models::list let:models>
                <Checks
                    label="Judges"
                    options=models.into_iter().map(|model| (model.name.clone(), model.name)).collect()
                    chosen
                    hint="Several judges form a panel, and the median of its scores counts. None selected: the judges \
                          of the run."
                />
            </AsyncView>
            <label class="check">
                <input type="checkbox" bind:checked=apart />
                <span>"Ask about each criterion separately"</span>
            </label>
            <p>
                <button type="button" class="main" aria-disabled=move || busy.get().to_string() on:click=begin>
                    "Judge again"
                </button>
            </p>
        </section>
    }
}
