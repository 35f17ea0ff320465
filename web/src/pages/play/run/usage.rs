//! What was asked of models, by role and model.

use domain::api::UsageSummary;
use leptos::prelude::*;

use super::LiveRun;
use ui::components::Badge;
use ui::{format, labels};

#[component]
pub fn UsageTable(followed: LiveRun) -> impl IntoView {
    let run = followed.run;
    let keys = Memo::new(move |_| {
        run.read().usage.iter().map(|usage| (usage.role.clone(), usage.model.clone())).collect::<Vec<_>>()
    });
    let total = move |of: fn(&UsageSummary) -> i64| {
        view! { <td class="number">{move || format::count(run.read().usage.iter().map(of).sum())}</td> }
    };
    let cost = move || format::money(run.read().usage.iter().fold(0.0, |sum, usage| sum + usage.cost));
    let number = |name: &'static str| {
        view! {
            <th scope="col" class="number">
                {name}
            </th>
        }
    };
    view! {
        <section class="panel" aria-labelledby="spent">
            <h2 id="spent">"Tokens and cost"</h2>
            <div class="scroll-x" tabindex="0" role="region" aria-label="Tokens and cost by role and model">
                <table class="grid">
                    <thead>
                        <tr>
                            <th scope="col">"Role"</th>
                            <th scope="col">"Model"</th>
                            {["Calls", "Retries", "Tokens read", "From cache", "Tokens written", "Cost"].map(number).into_iter().collect_view()}
                        </tr>
                    </thead>
                    <tbody>
                        <For each=move || keys.get() key=Clone::clone let:key>
                            <Row key followed />
                        </For>
                    </tbody>
                    <tfoot>
                        <tr>
                            <th scope="row" colspan="2">
                                "All"
                            </th>
                            {total(|usage| usage.calls)} {total(|usage| usage.retries)}
                            {total(|usage| usage.prompt_tokens)} <td></td>
                            {total(|usage| usage.completion_tokens)}
                            <td class="number">{cost}</td>
                        </tr>
                    </tfoot>
                </table>
            </div>
        </section>
    }
}

#[component]
fn Row(key: (String, String), followed: LiveRun) -> impl IntoView {
    let (role, model) = key.clone();
    let usage = Memo::new(move |_| {
        let run = followed.run.read();
        run.usage.iter().find(|usage| usage.role == key.0 && usage.model == key.1).cloned()
    });
    let figure = move |of: fn(&UsageSummary) -> String| {
        view! { <td class="number">{move || usage.read().as_ref().map(of)}</td> }
    };
    let (tone, text) = labels::model(&model);
    view! {
        <tr>
            <th scope="row">{labels::words(&role)}</th>
            <td>
                <Badge tone text />
            </td>
            {figure(|usage| format::count(usage.calls))} {figure(|usage| format::count(usage.retries))}
            {figure(|usage| format::count(usage.prompt_tokens))}
            {figure(|usage| usage.cache_hits().map_or_else(|| "–".to_owned(), format::percent))}
            {figure(|usage| format::count(usage.completion_tokens))} {figure(|usage| format::money(usage.cost))}
        </tr>
    }
}
