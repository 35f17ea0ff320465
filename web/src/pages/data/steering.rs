//! What can be done with what is built in the background, a corpus or an export: cancelled, made again, deleted.

use domain::corpus::CorpusState;
use domain::export::ExportState;
use leptos::prelude::*;

use crate::components::Confirm;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Building,
    Ready,
    /// It failed, or somebody cancelled it.
    Unfinished,
}

impl From<CorpusState> for Stage {
    fn from(state: CorpusState) -> Self {
        match state {
            CorpusState::Building => Self::Building,
            CorpusState::Ready => Self::Ready,
            CorpusState::Failed | CorpusState::Cancelled => Self::Unfinished,
        }
    }
}

impl From<ExportState> for Stage {
    fn from(state: ExportState) -> Self {
        match state {
            ExportState::Building => Self::Building,
            ExportState::Ready => Self::Ready,
            ExportState::Failed | ExportState::Cancelled => Self::Unfinished,
        }
    }
}

#[component]
pub fn Steering(
    /// Such as "corpus".
    what: &'static str,
    #[prop(into)] stage: Stage,
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
    let asked = RwSignal::new(false);
    let button = move |says: &'static str, class: &'static str, does: Callback<()>| {
        view! {
            <button type="button" class=class aria-disabled=move || busy.get().to_string() on:click=move |_| does.run(())>
                {says}
            </button>
        }
    };
    let ask = Callback::new(move |()| asked.set(true));
    view! {
        <div class="actions">
            {(stage == Stage::Ready).then(children)} {(stage == Stage::Building && may).then(|| button("Cancel", "", cancel))}
            {(stage == Stage::Unfinished && may).then(|| button("Make again", "main", again))}
            {(stage != Stage::Building && may).then(|| button("Delete", "danger", ask))}
        </div>
        <Confirm
            title=format!("Delete the {what}?")
            text=Signal::stored(loses.to_owned())
            yes_says=format!("Delete the {what}")
            open=asked
            yes=delete
        />
    }
}
