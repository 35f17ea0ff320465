//! What can be done with what is built in the background, a corpus or an export: cancelled, made again, deleted.

use domain::progress::Stage;
use leptos::prelude::*;

use ui::components::Confirm;

#[component]
pub fn JobActions(
    /// Such as "corpus".
    what: &'static str,
    stage: Stage,
    /// Whether whoever looks may change it.
    may: bool,
    busy: RwSignal<bool>,
    #[prop(into)] cancel: Callback<()>,
    #[prop(into)] again: Callback<()>,
    #[prop(into)] delete: Callback<()>,
    /// What goes with it, said before it is deleted.
    loses: &'static str,
    /// What it is for once it is ready.
    children: Children,
) -> impl IntoView {
    let params = RwSignal::new(false);
    let button = move |says: &'static str, class: &'static str, does: Callback<()>| {
        view! {
            <button type="button" class=class aria-disabled=move || busy.get().to_string() on:click=move |_| does.run(())>
                {says}
            </button>
        }
    };
    let ask = Callback::new(move |()| params.set(true));
    view! {
        <div class="actions">
            {stage.may_be_used().then(children)} {(stage.may_be_cancelled() && may).then(|| button("Cancel", "", cancel))}
            {(stage.may_be_built_again() && may).then(|| button("Make again", "main", again))}
            {(stage.may_be_deleted() && may).then(|| button("Delete", "danger", ask))}
        </div>
        <Confirm
            title=format!("Delete the {what}?")
            text=Signal::stored(loses.to_owned())
            yes_says=format!("Delete the {what}")
            open=params
            yes=delete
        />
    }
}
