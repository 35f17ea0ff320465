//! Who is in a project, and what they may do there.

use domain::access::Role;
use domain::api::MemberSummary;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use strum::VariantArray;

use super::naming;
use ui::api_client;
use ui::components::{
    Confirm, FormError, FormField, PagedList, Problems, Send, TextField, Toasts, act, act_at_once, send, set_title,
};
use ui::session::Project;

#[component]
pub fn MembersPage() -> impl IntoView {
    set_title("Members");
    let project = Project::here();
    // Whoever was added stands in a list that is read anew.
    let read = RwSignal::new(0_u32);
    view! {
        <h1>"Members"</h1>
        <p class="muted lead">"Administrators of the installation may do everything here and need not be members."</p>
        {move || {
            read.track();
            view! { <List name=project.name() /> }
        }}
        {move || project.may(Role::Admin).then(|| view! { <Add added=Callback::new(move |()| read.update(|read| *read += 1)) /> })}
    }
}

#[component]
fn List(
    /// The project.
    name: String,
) -> impl IntoView {
    let load = move |after| {
        let name = name.clone();
        async move { api_client::projects::members(&name, after).await }
    };
    let nobody = || view! { <p class="muted">"No members yet."</p> };
    view! {
        <PagedList what="members" load empty=nobody let:rows>
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Name"</th>
                        <th scope="col">"Role"</th>
                        <td></td>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || rows.get() key=|member: &MemberSummary| member.user.clone() let:member>
                        <Row member rows />
                    </For>
                </tbody>
            </table>
        </PagedList>
    }
}

#[component]
fn Row(member: MemberSummary, rows: RwSignal<Vec<MemberSummary>>) -> impl IntoView {
    let (project, busy, sure) = (Project::here(), RwSignal::new(false), RwSignal::new(false));
    let MemberSummary { user, role } = member;
    let (own, role) = (StoredValue::new(user.clone()), RwSignal::new(role));
    let remove = move || {
        let (name, user) = (project.0.get_untracked(), own.get_value());
        let ask = async move { api_client::projects::remove_member(&name, &user).await };
        act(busy, "The member was removed.", ask, move |()| {
            let gone = own.get_value();
            rows.update(|rows| rows.retain(|row| row.user != gone));
        });
    };
    view! {
        <tr>
            <td class="scenario text">{user.clone()}</td>
            <td>
                {move || if project.may(Role::Admin) {
                    view! { <RoleOf user=own.get_value() role busy /> }.into_any()
                } else {
                    role.read().into_str().into_any()
                }}
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
                    text="They can no longer see it. What they made is kept."
                    yes_says="Remove"
                    open=sure
                    yes=move |()| remove()
                />
            </td>
        </tr>
    }
}

/// What is chosen stands there at once, and again what was there if the server refuses it.
#[component]
fn RoleOf(user: String, role: RwSignal<Role>, busy: RwSignal<bool>) -> impl IntoView {
    let (project, label) = (Project::here(), format!("Role of {user}"));
    let set = move |to: Role| {
        let (name, user) = (project.0.get_untracked(), user.clone());
        let done = format!("{user} is now {to}.");
        let change = async move { api_client::projects::set_member(&name, &user, to).await.map(|member| member.role) };
        act_at_once(busy, done, role, to, change);
    };
    view! {
        <select
            aria-label=label
            aria-disabled=move || busy.get().to_string()
            prop:value=move || role.read().into_str()
            on:change:target=move |event| {
                match event.target().value().parse().ok().filter(|_| !busy.get_untracked()) {
                    Some(to) => set(to),
                    // One change at a time: what was chosen too early is not what holds.
                    None => event.target().set_value(role.read_untracked().into_str()),
                }
            }
        >
            <Roles chosen=role.get_untracked() />
        </select>
    }
}

#[component]
fn Roles(chosen: Role) -> impl IntoView {
    let option = move |role: Role| {
        view! {
            <option value=role.into_str() selected=role == chosen>
                {format!("{role}: {}", may(role))}
            </option>
        }
    };
    Role::VARIANTS.iter().copied().map(option).collect_view()
}

#[component]
fn Add(added: Callback<()>) -> impl IntoView {
    let project = Project::here();
    let (user, role) = (RwSignal::new(String::new()), RwSignal::new(Role::Viewer.to_string()));
    let (problems, busy, toasts) = (Problems::default(), RwSignal::new(false), Toasts::here());
    let submit = move |event: SubmitEvent| {
        let (name, who) = (project.0.get_untracked(), user.get_untracked().trim().to_owned());
        let role = role.read_untracked().parse().unwrap_or(Role::Viewer);
        if naming::missing(&event, &who, "/user", problems) {
            return;
        }
        let ask = async move { api_client::projects::set_member(&name, &who, role).await };
        send(&event, busy, problems, ask, move |member| {
            toasts.good(format!("{} is now {}.", member.user, member.role));
            user.try_set(String::new());
            added.run(());
        });
    };
    view! {
        <form class="panel stack narrow" on:submit=submit>
            <h2>"Add a member"</h2>
            <FormError why=problems />
            <TextField
                label="Name"
                value=user
                hint="A user who can sign in; administrators invite users on the page People."
                wrong=problems.at("/user")
            />
            <FormField label="Role" wrong=problems.at("/role")>
                <select bind:value=role>
                    <Roles chosen=Role::Viewer />
                </select>
            </FormField>
            <div class="actions">
                <Send label="Add" busy />
            </div>
        </form>
    }
}

const fn may(role: Role) -> &'static str {
    match role {
        Role::Viewer => "can read everything",
        Role::Author => "can also write documents and corpora, and review",
        Role::Runner => "can also start runs and judgings, and make exports",
        Role::Admin => "can also manage members",
    }
}
