//! How programs play an environment, ready to be copied.

use domain::corpus::Side;
use leptos::prelude::*;
use leptos_router::components::A;

use super::snippets::{self, Snippet, Target};
use ui::address;
use ui::components::{Command, Tabs, use_tab};
use ui::session::Project;

#[component]
pub fn Connect(
    environment: String,
    /// The only part that it plays.
    split: Option<Side>,
) -> impl IntoView {
    let (chosen, choose) = use_tab("with", snippets::NAMES);
    let project = Project::here().0.get_untracked();
    let segments = [&project, &environment].map(|name| address::segment(name));
    let origin = window().location().origin().unwrap_or_default();
    let target = StoredValue::new(Target { origin, project, environment, segments, split });
    view! {
        <section class="panel" aria-labelledby="connect">
            <h2 id="connect">"Connect"</h2>
            <p>
                "Programs need a token with the permission run. " <A href="/tokens">"Make a token"</A>
                ", and set it before you use one of the lines below."
            </p>
            <Command label="Set the token" text=snippets::TOKEN />
            <Tabs label="Ways to connect" tabs=snippets::PROTOCOLS chosen choose />
            {move || {
                let tab = chosen.get();
                let all = target.with_value(|target| snippets::of(tab, target));
                view! {
                    <section role="tabpanel" class="stack" id=format!("panel-{tab}") aria-labelledby=format!("tab-{tab}")>
                        {all.into_iter().map(|snippet| view! { <Lines snippet /> }).collect_view()}
                    </section>
                }
            }}
        </section>
    }
}

#[component]
fn Lines(snippet: Snippet) -> impl IntoView {
    let Snippet { about, label, text } = snippet;
    view! {
        <div>
            <p class="muted">{about}</p>
            <Command label text />
        </div>
    }
}
