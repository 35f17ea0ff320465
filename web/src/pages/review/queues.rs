//! Review queues of a project, where people disagree, and how far judges can be trusted.

use domain::access::Role;
use domain::api::{QueueState, ReviewQueue};
use leptos::prelude::*;
use leptos_router::components::A;

use super::agreement::{Agreements, Disagreements};
use super::calibrations::Calibrations;
use super::progress::Bar;
use ui::components::{Badge, Empty, PagedList, Tabs, set_title, use_tab};
use ui::labels::Tone;
use ui::session::Project;
use ui::{address, api_client, format};

const PARTS: [&str; 3] = ["queues", "disagreements", "calibrations"];
const TABS: [(&str, &str); 3] =
    [("queues", "Queues"), ("disagreements", "Disagreements"), ("calibrations", "Calibrations")];

/// Raters that are named in a row.
const NAMES: usize = 3;

#[component]
pub fn ReviewsPage() -> impl IntoView {
    set_title("Reviews");
    let project = Project::here();
    let (part, choose) = use_tab("part", &PARTS);
    view! {
        <div class="above">
            <h1>"Reviews"</h1>
            {move || project.may(Role::Author).then(|| view! {
                <A href=address::project(&project.name(), "/reviews/new") {..} class="button main">
                    "New queue"
                </A>
            })}
        </div>
        <Tabs label="Reviews" tabs=&TABS chosen=part choose />
        <section
            role="tabpanel"
            id=move || format!("panel-{}", part.get())
            aria-labelledby=move || format!("tab-{}", part.get())
        >
            {move || {
                let name = project.name();
                match part.get() {
                    "disagreements" => view! { <ProjectAgreement project=name /> }.into_any(),
                    "calibrations" => view! { <Calibrations project=name /> }.into_any(),
                    _ => view! { <Queues project=name /> }.into_any(),
                }
            }}
        </section>
    }
}

/// How people agree in the whole project.
#[component]
fn ProjectAgreement(project: String) -> impl IntoView {
    let name = project.clone();
    let agreement = move || {
        let name = name.clone();
        async move { api_client::ratings::agreement(&name).await }
    };
    let disagreements = move |spread, after| {
        let name = project.clone();
        async move { api_client::ratings::disagreements(&name, spread, after).await }
    };
    view! {
        <Agreements load=agreement />
        <Disagreements load=disagreements />
    }
}

#[component]
fn Queues(project: String) -> impl IntoView {
    let load = move |after| {
        let project = project.clone();
        async move { api_client::reviews::list(&project, after).await }
    };
    view! {
        <PagedList what="review queues" load empty=|| view! { <NoQueues /> } let:rows>
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Queue"</th>
                        <th scope="col">"State"</th>
                        <th scope="col">"Complete"</th>
                        <th scope="col" class="number">
                            "Ratings"
                        </th>
                        <th scope="col">"Raters"</th>
                        <th scope="col">"Created"</th>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || rows.get() key=|queue: &ReviewQueue| queue.id.clone() let:queue>
                        <Row queue />
                    </For>
                </tbody>
            </table>
        </PagedList>
    }
}

#[component]
fn NoQueues() -> impl IntoView {
    view! {
        <Empty title="No review queues yet.">
            <p>
                "A queue holds conversations that people are to rate, each by one person or by several. What they say shows how \
                 far they agree with each other, and how far a judge can be trusted."
            </p>
        </Empty>
    }
}

#[component]
fn Row(queue: ReviewQueue) -> impl IntoView {
    let href = address::project(&Project::here().name(), &format!("/reviews/{}", address::segment(&queue.id)));
    let progress = queue.progress;
    let raters = few(progress.raters.iter().map(|one| one.rater.as_str()));
    view! {
        <tr>
            <td class="scenario">
                <A href>
                    <bdi>{queue.name}</bdi>
                </A>
            </td>
            <td>
                <State state=queue.state blind=queue.blind />
            </td>
            <td>
                <Bar done=progress.complete of=progress.items label="Complete" />
            </td>
            <td class="number">{format::count(progress.done)}</td>
            <td>
                <bdi>{raters}</bdi>
            </td>
            <td>
                <time datetime=queue.created_at.to_rfc3339()>{format::time(queue.created_at)}</time>
            </td>
        </tr>
    }
}

/// The first of many names, and how many more there are.
fn few<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(NAMES);
    let somebody = |name| if str::is_empty(name) { "somebody" } else { name };
    let first = names.take(NAMES).map(somebody).collect::<Vec<_>>().join(", ");
    if more == 0 { first } else { format!("{first} and {more} more") }
}

/// Whether a queue gives anything out, and whether its raters see verdicts.
#[component]
pub fn State(state: QueueState, blind: bool) -> impl IntoView {
    let tone = match state {
        QueueState::Open => Tone::Good,
        QueueState::Closed => Tone::Neutral,
    };
    view! {
        <span class="badges">
            <Badge tone text=state.into_str() />
            {blind.then(|| view! { <Badge tone=Tone::Neutral text="blind" /> })}
        </span>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_raters_a_few_are_named() {
        let named = |all: &[&'static str]| few(all.iter().copied());
        assert_eq!(named(&[]), "");
        assert_eq!(named(&["mira", "", "noor"]), "mira, somebody, noor");
        assert_eq!(named(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
