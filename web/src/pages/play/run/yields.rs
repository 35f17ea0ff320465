//! What becomes of what was planned, and who is to blame for the rest.

use leptos::prelude::*;

use super::{EVERY, LiveRun};
use ui::components::{Stale, refresh};
use ui::{api_client, format, labels};

/// From what was planned to what was accepted.
#[component]
pub fn Funnel(followed: LiveRun) -> impl IntoView {
    let run = followed.run;
    let judgings = refresh(EVERY, followed.live, move || {
        let id = followed.id();
        async move { api_client::judgings::of_run(&id).await }
    });
    let judged = move || {
        let judgings = judgings.newest().get().unwrap_or_default();
        let told = judgings.iter().find(|judging| judging.original).map_or(0, |judging| judging.judged);
        // Told less often than the rest: never less than were accepted, nor more than have ended.
        let (accepted, finished) = (run.read().accepted, run.read().finished);
        told.max(accepted).min(finished)
    };
    let planned = Signal::derive(move || run.read().planned);
    let steps = [
        ("Planned", planned),
        ("Finished", Signal::derive(move || run.read().finished)),
        ("Judged", Signal::derive(judged)),
        ("Accepted", Signal::derive(move || run.read().accepted)),
    ];
    let step =
        move |(name, n): (&'static str, Signal<i64>)| view! { <Bar name n all=planned good=name == "Accepted" /> };
    view! {
        <section class="panel" aria-labelledby="funnel">
            <h2 id="funnel">"Yield"</h2>
            <Stale error=judgings.error() />
            <dl class="bars">{steps.map(step).into_iter().collect_view()}</dl>
        </section>
    }
}

/// Who failed.
#[component]
pub fn Blame(followed: LiveRun) -> impl IntoView {
    let run = followed.run;
    let names = Memo::new(move |_| run.read().failures.keys().cloned().collect::<Vec<_>>());
    let all = Signal::derive(move || run.read().finished);
    let again = move || run.read().played_again.values().sum::<i64>();
    let bar = move |blame: String| {
        let name = labels::words(&blame);
        let n = Signal::derive(move || run.read().failures.get(&blame).copied().unwrap_or(0));
        view! { <Bar name n all /> }
    };
    view! {
        <section class="panel" aria-labelledby="blame">
            <h2 id="blame">"Failures, by blame"</h2>
            {move || names.read().is_empty().then(|| view! { <p>"None."</p> })}
            <dl class="bars">
                <For each=move || names.get() key=Clone::clone let:name>
                    {bar(name)}
                </For>
            </dl>
            <p class="muted hint">
                {move || match again() {
                    0 => "Only failures of the agent are data; others are played again.".to_owned(),
                    n => format!("{} spoiled attempts were played again and count nowhere else.", format::count(n)),
                }}
            </p>
        </section>
    }
}

#[component]
pub fn Bar(
    #[prop(into)] name: String,
    n: Signal<i64>,
    all: Signal<i64>,
    #[prop(optional)] good: bool,
) -> impl IntoView {
    let share = Memo::new(move |_| share(n.get(), all.get()));
    view! {
        <div class="bar">
            <dt>{name}</dt>
            <dd>
                <span class="bar-room" aria-hidden="true">
                    <span
                        class="bar-filled"
                        class:good=good
                        style:width=move || format!("{:.2}%", share.get() * 100.0)
                    ></span>
                </span>
                <span>{move || format::count(n.get())}</span>
                <span class="muted">{move || format::percent(share.get())}</span>
            </dd>
        </div>
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share is shown")]
pub fn share(of: i64, all: i64) -> f64 {
    if all > 0 { of as f64 / all as f64 } else { 0.0 }
}
