//! What is in a queue, and who has it.

use domain::access::Role;
use domain::api::{AssignmentState, MemberSummary, ReviewAssignment, ReviewItem};
use leptos::prelude::*;
use leptos_router::components::A;

use super::agreement::short;
use ui::address;
use ui::api_client::{self, Answer};
use ui::components::{Badge, PagedList, act, failed};
use ui::labels::Tone;
use ui::session::{Project, Session};

#[component]
pub fn Items(queue: String) -> impl IntoView {
    let project = Project::here();
    let id = StoredValue::new(queue);
    let load = move |after| async move { api_client::reviews::items(&id.get_value(), after).await };
    // Only admins assign conversations to people.
    let members = LocalResource::new(move || {
        let (name, admin) = (project.name(), project.may(Role::Admin));
        async move { if admin { api_client::reviews::members(&name).await } else { Ok(Vec::new()) } }
    });
    view! {
        {failed(members)}
        <PagedList what="its conversations" load empty=|| view! { <p class="muted">"Empty."</p> } let:rows>
            <table class="rows plain">
                <thead>
                    <tr>
                        <th scope="col" class="number">
                            "#"
                        </th>
                        <th scope="col">"Conversation"</th>
                        <th scope="col">"Raters"</th>
                        {project.may(Role::Admin).then(|| view! { <th scope="col">"Assign to"</th> })}
                    </tr>
                </thead>
                <tbody>
                    <For each=move || rows.get() key=|item: &ReviewItem| item.ordinal let:item>
                        <Row queue=id item members />
                    </For>
                </tbody>
            </table>
        </PagedList>
    }
}

#[component]
fn Row(
    queue: StoredValue<String>,
    item: ReviewItem,
    members: LocalResource<Answer<Vec<MemberSummary>>>,
) -> impl IntoView {
    let project = Project::here();
    let href = address::conversation(&project.name(), &item.conversation);
    let (says, number) = (short(&item.conversation), item.ordinal + 1);
    let conversation = StoredValue::new(item.conversation);
    let assignments = RwSignal::new(item.assignments);
    let admin = project.may(Role::Admin);
    let (busy, asked) = (RwSignal::new(false), RwSignal::new(false));
    // A queue may hold thousands of rows, and a project thousands of people: names are there where somebody looks for one.
    let names = move || asked.get().then(|| raters(members.get().and_then(Result::ok).unwrap_or_default()));
    let assign = move |rater: String| {
        let change =
            async move { api_client::reviews::assign(&queue.get_value(), &conversation.get_value(), &rater).await };
        act(busy, "It is assigned.", change, move |item: ReviewItem| drop(assignments.try_set(item.assignments)));
    };
    view! {
        <tr>
            <td class="number muted">{number}</td>
            <td class="scenario">
                <A href>{says}</A>
            </td>
            <td>
                {move || {
                    let all = assignments.get();
                    if all.is_empty() {
                        return view! { <span class="muted">"nobody yet"</span> }.into_any();
                    }
                    let one = |one| view! { <Assignment one queue conversation assignments admin /> };
                    view! { <ul class="badges">{all.into_iter().map(one).collect_view()}</ul> }.into_any()
                }}
            </td>
            {admin.then(|| view! {
                <td>
                    <select
                        aria-label=format!("Assign conversation {number} to")
                        on:pointerdown=move |_| asked.set(true)
                        on:focus=move |_| asked.set(true)
                        on:change:target=move |event| {
                            let rater = event.target().value();
                            if !rater.is_empty() {
                                event.target().set_value("");
                                assign(rater);
                            }
                        }
                    >
                        <option value="">"Choose …"</option>
                        {move || {
                            let name = |name: String| view! { <option value=name.clone()>{name.clone()}</option> };
                            names().into_iter().flatten().map(name).collect_view()
                        }}
                    </select>
                </td>
            })}
        </tr>
    }
}

/// Who may rate: members, and whoever asks, who may be an administrator of the installation.
fn raters(members: Vec<MemberSummary>) -> Vec<String> {
    let members = members.into_iter().filter(|member| member.role.rates()).map(|member| member.user);
    let mut names: Vec<String> = members.chain(Session::here().name()).collect();
    names.sort();
    names.dedup();
    names
}

#[component]
fn Assignment(
    one: ReviewAssignment,
    queue: StoredValue<String>,
    conversation: StoredValue<String>,
    assignments: RwSignal<Vec<ReviewAssignment>>,
    admin: bool,
) -> impl IntoView {
    let busy = RwSignal::new(false);
    let (tone, state) = match one.state {
        AssignmentState::Assigned => (Tone::Notable, "assigned"),
        AssignmentState::Done => (Tone::Good, "rated"),
        AssignmentState::Skipped => (Tone::Neutral, "skipped"),
    };
    let name = if one.rater.is_empty() { "somebody".to_owned() } else { one.rater.clone() };
    let rater = StoredValue::new(one.rater);
    let withdraw = move |_| {
        let change = async move {
            api_client::reviews::withdraw(&queue.get_value(), &conversation.get_value(), &rater.get_value()).await
        };
        act(busy, "It is no longer assigned.", change, move |()| {
            let gone = rater.try_get_value();
            assignments.try_update(|all| all.retain(|one| Some(&one.rater) != gone.as_ref()));
        });
    };
    let back = (admin && one.state == AssignmentState::Assigned).then(|| {
        view! {
            <button type="button" class="quiet" aria-label=format!("Take back from {name}") on:click=withdraw>
                "✕"
            </button>
        }
    });
    view! {
        <li>
            <Badge tone text=format!("{name}: {state}") />
            {back}
        </li>
    }
}
