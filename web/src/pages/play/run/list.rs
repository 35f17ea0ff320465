//! The conversations of a run. While it goes on the list stays as it was read, and says that there is more.

use leptos::prelude::*;

use super::LiveRun;
use ui::components::ConversationList;
use ui::format;

#[component]
pub fn RunConversations(followed: LiveRun) -> impl IntoView {
    let run = followed.run;
    // How many had ended when the list was read.
    let read_at = RwSignal::new(run.read_untracked().finished);
    let newer = Memo::new(move |_| (run.read().finished - read_at.get()).max(0));
    view! {
        <Show when=move || { newer.get() > 0 }>
            <p class="newer">
                <button type="button" on:click=move |_| read_at.set(run.read_untracked().finished)>
                    {move || format!("{} more have ended: reload the list", format::count(newer.get()))}
                </button>
            </p>
        </Show>
        {move || {
            read_at.track();
            view! { <ConversationList run=followed.id() /> }
        }}
    }
}
