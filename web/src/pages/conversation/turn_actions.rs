//! What can be done at a turn, and what people did there.

use domain::access::Role;
use leptos::prelude::*;

use super::annotate::AnnotationForm;
use super::branch::BranchForm;
use super::correct::{CorrectionForm, TurnCorrection};
use super::cursor::Cursor;
use super::drafts::Drafts;
use super::notes::Notes;
use super::remarks::Remarks;
use ui::address;
use ui::components::{TurnRef, copy};
use ui::session::Project;

/// What is open below the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    None,
    Annotate,
    Correct,
    Branch,
}

#[component]
pub fn TurnActions(place: TurnRef, cursor: Cursor, notes: Notes) -> impl IntoView {
    let TurnRef { seq, spoke, parts } = place;
    let (form, drafts) = (RwSignal::new(Form::None), Drafts::new());
    let project = Project::here();
    let author = project.may(Role::Author);
    let own = Memo::new(move |_| {
        let annotations = notes.annotations.read();
        annotations.iter().filter(|one| cursor.home(one.seq) == Some(seq.get())).cloned().collect::<Vec<_>>()
    });
    let toggle = move |which: Form| {
        if !drafts.is_sent() {
            form.update(|form| *form = if *form == which { Form::None } else { which });
        }
    };
    let writing = author.then(|| {
        view! {
            <button type="button" class="quiet" on:click=move |_| toggle(Form::Annotate)>
                "Annotate"
            </button>
            {spoke.map(|_| view! {
                <button type="button" class="quiet" on:click=move |_| toggle(Form::Correct)>
                    "Correct"
                </button>
            })}
        }
    });
    let branching = (parts.is_some() && project.may(Role::Runner)).then(|| {
        view! {
            <button type="button" class="quiet" on:click=move |_| toggle(Form::Branch)>
                "Branch"
            </button>
        }
    });
    let close = Callback::new(move |()| form.set(Form::None));
    view! {
        <div class="turn-actions" class:open=move || form.get() != Form::None>
            <button type="button" class="quiet" title="Choose this turn" on:click=move |_| cursor.go(seq.get_untracked())>
                {move || format!("#{}", seq.get())}
            </button>
            <button type="button" class="quiet" on:click=move |_| copy(link(&project.name(), &notes.conversation(), seq.get_untracked()))>
                "Copy link"
            </button>
            {writing}
            {branching}
        </div>
        {move || match (form.get(), spoke, parts) {
            (Form::Annotate, ..) => view! { <AnnotationForm seq notes drafts close /> }.into_any(),
            (Form::Correct, Some(spoke), _) => view! { <CorrectionForm spoke notes drafts close /> }.into_any(),
            (Form::Branch, _, Some((seq, whose))) => view! { <BranchForm seq whose notes drafts close /> }.into_any(),
            _ => ().into_any(),
        }}
        {spoke.map(|spoke| view! { <TurnCorrection spoke notes /> })}
        <Remarks own notes />
    }
}

/// The turn's address, for others: without how somebody came there.
fn link(project: &str, conversation: &str, seq: u32) -> String {
    let origin = window().location().origin().unwrap_or_default();
    format!("{origin}{}?turn={seq}", address::conversation(project, conversation))
}
