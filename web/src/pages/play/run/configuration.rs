//! Everything that decided how the run is played.

use domain::api::RunTerms;
use domain::budget::Budget;
use leptos::prelude::*;

use super::LiveRun;
use ui::components::Command;
use ui::format;

#[component]
pub fn Configuration(followed: LiveRun) -> impl IntoView {
    followed.terms.show("the configuration", |terms: Signal<RunTerms>| {
        let json = Signal::derive(move || serde_json::to_string_pretty(&terms.read().config).unwrap_or_default());
        let at_once = move || terms.read().max_in_flight.map_or_else(|| "no limit".to_owned(), |n| n.to_string());
        view! {
            <h2>"Configuration"</h2>
            <dl class="pairs narrow">
                <div>
                    <dt>"Caps"</dt>
                    <dd>{move || caps(&terms.read().budget)}</dd>
                </div>
                <div>
                    <dt>"Conversations at once"</dt>
                    <dd>{at_once}</dd>
                </div>
                <div>
                    <dt>"Hash of its documents"</dt>
                    <dd>
                        <code>{move || terms.read().library.clone()}</code>
                    </dd>
                </div>
            </dl>
            <Command label="Configuration as JSON" text=json />
        }
    })
}

fn caps(budget: &Budget) -> String {
    #[expect(clippy::cast_precision_loss, reason = "to the second")]
    let seconds = budget.seconds.map(|n| format::duration(n as f64));
    let caps = [
        budget.tokens.map(|n| format!("{} tokens", format::count(n))),
        budget.money.map(format::money),
        budget.conversations.map(|n| format!("{} conversations", format::count(n.into()))),
        seconds,
    ];
    let caps: Vec<String> = caps.into_iter().flatten().collect();
    if caps.is_empty() { "none".to_owned() } else { caps.join(", ") }
}
