//! Who is in a project, and what they may do there.

use domain::access::Role;
use domain::api::MemberSummary;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use crate::action::act;
use crate::api_client;
use crate::app::set_title;
use crate::components::{Confirm, Labelled, Problems, Refused, Send, TextField, Toasts, send, show};
use crate::session::Project;

#[component]
pub fn MembersPage() -> impl IntoView {
    set_title("Members");
    let project = Project::here();
    let members = LocalResource::new(move || {
        let name = project.name();
        async move { api_client::projects::members(&name).await }
    });
    let again = Callback::new(move |()| members.refetch());
    let list = show("members", members, move |members: Vec<MemberSummary>| {
        view! {
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Name"</th>
                        <th scope="col">"Role"</th>
                        <td></td>
                    </tr>
                </thead>
                <tbody>
                    {members.into_iter().map(|member| view! { <Row member again /> }).collect_view()}
                </tbody>
            </table>
        }
    });
    view! {
        <h1>"Members"</h1>
        <p class="muted lead">"Administrators of the installation may do everything here and need not stand in this list."</p>
        {list}
        {move || project.may(Role::Admin).then(|| view! { <Add again /> })}
    }
}

#[component]
fn Row(member: MemberSummary, again: Callback<()>) -> impl IntoView {
    let (project, busy, sure) = (Project::here(), RwSignal::new(false), RwSignal::new(false));
    let MemberSummary { user, role } = member;
    let own = StoredValue::new(user.clone());
    let set = move |role: Role| {
        let (name, user) = (project.0.get_untracked(), own.get_value());
        let done = format!("{user} is {} now.", role.as_str());
        let ask = async move { api_client::projects::set_member(&name, &user, role).await };
        act(busy, done, ask, move |_| again.run(()));
    };
    let remove = move || {
        let (name, user) = (project.0.get_untracked(), own.get_value());
        let ask = async move { api_client::projects::remove_member(&name, &user).await };
        act(busy, "The membership has ended.", ask, move |()| again.run(()));
    };
    let choice = move || {
        let change = move |name: String| Role::named(&name).into_iter().for_each(set);
        view! {
            <select
                aria-label=format!("Role of {}", own.get_value())
                on:change:target=move |event| change(event.target().value())
            >
                <Roles chosen=role />
            </select>
        }
    };
    view! {
        <tr>
            <td class="scenario text">{user.clone()}</td>
            <td>
                {move || if project.may(Role::Admin) { choice().into_any() } else { role.as_str().into_any() }}
            </td>
            <td>
                {move || project.may(Role::Admin).then(|| view! {
                    <button
                        type="button"
                        class="danger"
                        aria-label=format!("Remove {}", own.get_value())
                        on:click=move |_| sure.set(true)
                    >
                        "Remove …"
                    </button>
                })}
                <Confirm
                    title=format!("Remove {user} from the project?")
                    text="They see nothing of it any more. What they made stays."
                    yes_says="Remove"
                    open=sure
                    yes=move |()| remove()
                />
            </td>
        </tr>
    }
}

#[component]
fn Roles(chosen: Role) -> impl IntoView {
    let option = move |role: Role| {
        view! {
            <option value=role.as_str() selected=role == chosen>
                {format!("{}: {}", role.as_str(), may(role))}
            </option>
        }
    };
    Role::ALL.map(option).into_iter().collect_view()
}

#[component]
fn Add(again: Callback<()>) -> impl IntoView {
    let project = Project::here();
    let (user, role) = (RwSignal::new(String::new()), RwSignal::new(Role::Viewer.as_str().to_owned()));
    let (problems, busy, toasts) = (Problems::default(), RwSignal::new(false), Toasts::here());
    let submit = move |event: SubmitEvent| {
        let (name, who) = (project.0.get_untracked(), user.get_untracked().trim().to_owned());
        let role = Role::named(&role.read_untracked()).unwrap_or(Role::Viewer);
        let ask = async move { api_client::projects::set_member(&name, &who, role).await };
        send(&event, busy, problems, ask, move |member| {
            toasts.good(format!("{} is {} now.", member.user, member.role.as_str()));
            user.try_set(String::new());
            again.run(());
        });
    };
    view! {
        <form class="panel stack narrow" on:submit=submit>
            <h2>"Add a member"</h2>
            <Refused why=problems />
            <TextField
                label="Name"
                value=user
                hint="Of somebody who can sign in; administrators invite them on the page People."
                wrong=problems.at("/user")
            />
            <Labelled label="Role" wrong=problems.at("/role")>
                <select bind:value=role>
                    <Roles chosen=Role::Viewer />
                </select>
            </Labelled>
            <div class="actions">
                <Send label="Add" busy />
            </div>
        </form>
    }
}

const fn may(role: Role) -> &'static str {
    match role {
        Role::Viewer => "looks at everything",
        Role::Author => "also writes documents and corpora, and reviews",
        Role::Runner => "also starts runs and judgings",
        Role::Admin => "also decides who is a member",
    }
}
