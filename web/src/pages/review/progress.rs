//! How far a queue is.

use domain::api::QueueProgress;
use leptos::prelude::*;

use ui::components::{FirstRows, MoreRows};
use ui::format;

#[component]
pub fn Bar(done: i64, of: i64, #[prop(into)] label: String) -> impl IntoView {
    view! {
        <span class="how-far">
            <progress max=of.max(1).to_string() value=done.to_string() aria-label=label></progress>
            <span>{format!("{} of {}", format::count(done), format::count(of))}</span>
        </span>
    }
}

/// The queue as a whole, and each rater.
#[component]
pub fn Progress(progress: QueueProgress) -> impl IntoView {
    let QueueProgress { items, complete, done, skipped, assigned, raters } = progress;
    let one = move |one: domain::api::RaterProgress| {
        let name = if one.rater.is_empty() { "somebody".to_owned() } else { one.rater };
        let more = [(one.assigned, "assigned"), (one.skipped, "skipped")];
        let more: Vec<String> =
            more.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        view! {
            <li class="rater">
                <bdi>{name.clone()}</bdi>
                <Bar done=one.done of=items label=format!("Rated by {name}") />
                <span class="muted">{more.join(", ")}</span>
            </li>
        }
    };
    let (first, all) = (FirstRows::new(), raters.len());
    let nobody = raters.is_empty().then(|| view! { <p class="muted">"No raters yet."</p> });
    view! {
        <section class="panel" aria-labelledby="progress">
            <h2 id="progress">"Progress"</h2>
            <dl class="strip">
                <div>
                    <dt>"Complete"</dt>
                    <dd>
                        <Bar done=complete of=items label="Complete" />
                    </dd>
                </div>
                <div>
                    <dt>"Ratings"</dt>
                    <dd>{format::count(done)}</dd>
                </div>
                <div>
                    <dt>"Assigned"</dt>
                    <dd>{format::count(assigned)}</dd>
                </div>
                <div>
                    <dt>"Skipped"</dt>
                    <dd>{format::count(skipped)}</dd>
                </div>
            </dl>
            {nobody}
            <ul class="raters">
                {move || first.of(raters.iter().cloned()).into_iter().map(one).collect_view()}
            </ul>
            <MoreRows first all=Signal::stored(all) />
        </section>
    }
}
