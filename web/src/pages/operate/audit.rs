//! Who changed what, in a project or everywhere.

use domain::access::Role;
use domain::api::AuditEntry;
use leptos::prelude::*;

use super::people::OnlyAdministrators;
use ui::api_client;
use ui::components::{Empty, PagedList, set_title};
use ui::session::{Project, Session};

#[component]
pub fn AuditPage() -> impl IntoView {
    set_title("Audit log");
    let session = Session::here();
    move || {
        if session.is_administrator() {
            view! {
                <h1>"Audit log"</h1>
                <p class="muted lead">"Every change of this installation, newest first."</p>
                <Entries project=None />
            }
            .into_any()
        } else {
            view! { <OnlyAdministrators /> }.into_any()
        }
    }
}

#[component]
pub fn ProjectAuditPage() -> impl IntoView {
    set_title("Audit log of the project");
    let project = Project::here();
    move || {
        if project.may(Role::Admin) {
            view! {
                <h1>"Audit log of the project"</h1>
                <p class="muted lead">"Every change in it, newest first."</p>
                <Entries project=Some(project.name()) />
            }
            .into_any()
        } else {
            view! {
                <Empty title="This page is for admins of the project.">
                    <p>"Ask one of them; the page Members lists them."</p>
                </Empty>
            }
            .into_any()
        }
    }
}

#[component]
fn Entries(project: Option<String>) -> impl IntoView {
    let load = move |after| {
        let project = project.clone();
        async move { api_client::projects::audit(project.as_deref(), after).await }
    };
    view! {
        <PagedList what="the audit log" load empty=|| view! { <p class="muted">"No changes yet."</p> } let:rows>
            <table class="rows audit">
                <thead>
                    <tr>
                        <th scope="col">"When"</th>
                        <th scope="col">"Who"</th>
                        <th scope="col">"Action"</th>
                        <th scope="col">"Subject"</th>
                        <th scope="col">"Details"</th>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || rows.get() key=|entry: &AuditEntry| entry.id let:entry>
                        <Row entry />
                    </For>
                </tbody>
            </table>
        </PagedList>
    }
}

#[component]
fn Row(entry: AuditEntry) -> impl IntoView {
    let AuditEntry { at, actor, token, action, subject, detail, .. } = entry;
    let who = if actor.is_empty() { "a command on the machine".to_owned() } else { actor };
    let by = token.map(|token| format!(", by the token {token}"));
    let says = !detail.is_null() && detail.as_object().is_none_or(|fields| !fields.is_empty());
    let detail = if says { detail.to_string() } else { String::new() };
    let action = action.replacen("/api/v1", "", 1);
    view! {
        <tr>
            <td class="when">
                <time datetime=at.to_rfc3339()>{at.format("%Y-%m-%d %H:%M:%S UTC").to_string()}</time>
            </td>
            <td class="text who">{who} <span class="muted">{by}</span></td>
            <td>
                <code>{action}</code>
            </td>
            <td class="text">{subject}</td>
            <td>
                <code class="text" dir="auto">
                    {detail}
                </code>
            </td>
        </tr>
    }
}
