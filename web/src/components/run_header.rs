//! A run in one strip.

use std::collections::BTreeMap;

use domain::api::RunSummary;
use leptos::prelude::*;

use crate::components::Badge;
use crate::labels::{self, Tone};

#[component]
pub fn RunHeader(run: RunSummary) -> impl IntoView {
    let played_again = !run.played_again.is_empty();
    let started = run.created_at.format("%Y-%m-%d %H:%M UTC").to_string();
    view! {
        <dl class="strip">
            <div>
                <dt>"Playbook"</dt>
                <dd>{run.playbook}</dd>
            </div>
            <div>
                <dt>"Seed"</dt>
                <dd>{run.seed}</dd>
            </div>
            <div>
                <dt>"Started"</dt>
                <dd>
                    <time datetime=run.created_at.to_rfc3339()>{started}</time>
                </dd>
            </div>
            <div>
                <dt>"Finished"</dt>
                <dd>{format!("{} of {}", run.finished, run.planned)}</dd>
            </div>
            <div>
                <dt>"Accepted"</dt>
                <dd>{run.accepted}</dd>
            </div>
            <div>
                <dt>"Failed, by blame"</dt>
                <dd class="badges">
                    <Failures failures=run.failures />
                </dd>
            </div>
            {played_again.then(|| view! {
                <div>
                    <dt>"Played again, by blame"</dt>
                    <dd class="badges">
                        <Failures failures=run.played_again.clone() />
                    </dd>
                </div>
            })}
        </dl>
    }
}

#[component]
fn Failures(failures: BTreeMap<String, i64>) -> impl IntoView {
    if failures.is_empty() {
        return "none".into_any();
    }
    let badge = |(blame, count): (String, i64)| {
        view! { <Badge tone=Tone::Bad text=format!("{} {count}", labels::words(&blame)) /> }
    };
    failures.into_iter().map(badge).collect_view().into_any()
}
