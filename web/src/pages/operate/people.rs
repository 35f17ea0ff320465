//! Who may sign in, for administrators.

use domain::api::{Invitation, UserChange, UserSummary};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::invite::{InviteForm, Link};
use ui::components::{Badge, Confirm, Dialog, Empty, PagedList, act, set_title};
use ui::labels::Tone;
use ui::session::Session;
use ui::{api_client, format};

#[component]
pub fn PeoplePage() -> impl IntoView {
    set_title("People");
    let session = Session::here();
    move || {
        if session.is_administrator() {
            view! { <People /> }.into_any()
        } else {
            view! { <OnlyAdministrators /> }.into_any()
        }
    }
}

/// In place of a page that only administrators see.
#[component]
pub fn OnlyAdministrators() -> impl IntoView {
    view! {
        <Empty title="This page is for administrators.">
            <p>"Ask one of them for what you need here."</p>
        </Empty>
    }
}

#[component]
fn People() -> impl IntoView {
    let invite = RwSignal::new(false);
    // Whoever was invited stands in a list that is read anew.
    let read = RwSignal::new(0_u32);
    let link = RwSignal::new(None::<Invitation>);
    let shown = RwSignal::new(false);
    let give = Callback::new(move |invitation: Invitation| {
        link.set(Some(invitation));
        shown.set(true);
    });
    view! {
        <header class="head">
            <h1>"People"</h1>
            <button type="button" class="main" on:click=move |_| invite.set(true)>
                "Invite somebody"
            </button>
        </header>
        {move || {
            read.track();
            view! { <List give /> }
        }}
        <Dialog title="Invite somebody" open=invite>
            <InviteForm open=invite invited=Callback::new(move |()| read.update(|read| *read += 1)) />
        </Dialog>
        <Dialog title="A new link" open=shown>
            {move || link.get().map(|invitation| view! { <Link invitation open=shown /> })}
        </Dialog>
    }
}

#[component]
fn List(give: Callback<Invitation>) -> impl IntoView {
    let key = |user: &UserSummary| (user.name.clone(), user.administrator, user.disabled, user.invited);
    view! {
        <PagedList what="people" load=api_client::people::list empty=|| () let:rows>
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Name"</th>
                        <th scope="col">"State"</th>
                        <th scope="col">"Since"</th>
                        <td></td>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || rows.get() key=key let:user>
                        <Row user rows give />
                    </For>
                </tbody>
            </table>
        </PagedList>
    }
}

const TAKEN_FROM_ONESELF: &str =
    "This is you: you lose access to pages for administrators at once, and only another administrator can undo it.";
const TAKEN_FROM_OTHERS: &str = "They may then do only what their roles in projects allow.";

#[component]
fn Row(user: UserSummary, rows: RwSignal<Vec<UserSummary>>, give: Callback<Invitation>) -> impl IntoView {
    let (busy, sure, take) = (RwSignal::new(false), RwSignal::new(false), RwSignal::new(false));
    let session = Session::here();
    let UserSummary { name, administrator, disabled, invited, created_at } = user;
    let own = StoredValue::new(name.clone());
    let change = move |change: UserChange, done: &'static str| {
        let name = own.get_value();
        let ask = async move { api_client::people::change(&name, &change).await };
        act(busy, done, ask, move |new: UserSummary| {
            if untrack(|| session.name()).as_ref() == Some(&new.name) {
                look_again(session);
            }
            rows.update(|rows| rows.iter_mut().filter(|row| row.name == new.name).for_each(|row| *row = new.clone()));
        });
    };
    let another = move |_| {
        let name = own.get_value();
        act(busy, "", async move { api_client::people::invite_again(&name).await }, move |link| give.run(link));
    };
    let set_administrator = move |to: bool, done| change(UserChange { administrator: Some(to), disabled: None }, done);
    let set_disabled = move |to: bool, done| change(UserChange { administrator: None, disabled: Some(to) }, done);
    let rank = move |_| {
        if administrator { take.set(true) } else { set_administrator(true, "This user is now an administrator.") }
    };
    let oneself = untrack(|| session.name()).as_ref() == Some(&name);
    view! {
        <tr>
            <td class="scenario text">{name.clone()}</td>
            <td>
                <span class="badges">
                    {administrator.then(|| view! { <Badge tone=Tone::Notable text="administrator" /> })}
                    {invited.then(|| view! { <Badge tone=Tone::Neutral text="invited" /> })}
                    {disabled.then(|| view! { <Badge tone=Tone::Bad text="disabled" /> })}
                    {(!disabled && !invited).then(|| view! { <Badge tone=Tone::Good text="active" /> })}
                </span>
            </td>
            <td>{format::time(created_at)}</td>
            <td>
                <span class="actions" role="group" aria-label=format!("Actions for {name}")>
                    <button type="button" on:click=another>
                        "New link"
                    </button>
                    <button type="button" on:click=rank>
                        {if administrator { "Remove administrator …" } else { "Make administrator" }}
                    </button>
                    {if disabled {
                        let enable = move |_| set_disabled(false, "The user was enabled and can sign in again.");
                        view! {
                            <button type="button" on:click=enable>
                                "Enable"
                            </button>
                        }
                            .into_any()
                    } else {
                        view! {
                            <button type="button" class="danger" on:click=move |_| sure.set(true)>
                                "Disable …"
                            </button>
                        }
                            .into_any()
                    }}
                </span>
                <Confirm
                    title=format!("Disable {name}?")
                    text="They are signed out, and their tokens are refused. What they made is kept, and they can be enabled again."
                    yes_says="Disable"
                    open=sure
                    yes=move |()| set_disabled(true, "The user was disabled.")
                />
                <Confirm
                    title=format!("Remove administrator rights from {name}?")
                    text=if oneself { TAKEN_FROM_ONESELF } else { TAKEN_FROM_OTHERS }
                    yes_says="Remove"
                    open=take
                    yes=move |()| set_administrator(false, "This user is no longer an administrator.")
                />
            </td>
        </tr>
    }
}

/// Who changed themselves may see other pages than before. If it fails, the server still has the last word.
fn look_again(session: Session) {
    spawn_local(async move {
        if let Ok(now) = api_client::session::current().await {
            session.set(Some(now));
        }
    });
}
