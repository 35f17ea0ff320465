//! What an agent should have said: writing it, and how it differs from what was played.

use std::collections::BTreeMap;

use domain::access::Role;
use domain::api::{CorrectedMessage, DiffKind, DiffPiece};
use domain::message::Message;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::correction_draft::CorrectionDraft;
use super::drafts::Drafts;
use super::form_keys::press;
use super::notes::Notes;
use ui::components::{
    Failure, FormError, FormField, Loading, LongText, Problems, Send, ShowMore, Toasts, cut, explain,
};
use ui::session::Project;
use ui::{api_client, labels};

/// Letters of a tool's name in a label.
const NAME: usize = 100;

/// The form, filled with the turn as it reads once that is known. What somebody is writing stays when it is read again.
#[component]
pub fn CorrectionForm(spoke: u32, notes: Notes, drafts: Drafts, close: Callback<()>) -> impl IntoView {
    let first = Memo::new(move |before: Option<&Option<CorrectedMessage>>| {
        before.cloned().flatten().or_else(|| notes.message(spoke))
    });
    // What fails once it is known disturbs nobody who writes.
    let failed = Memo::new(move |_| if first.read().is_none() { notes.unread.get() } else { None });
    move || match (first.get(), failed.get()) {
        (Some(CorrectedMessage { message: Message::Assistant { content, reasoning_content, tool_calls }, .. }), _) => {
            let draft =
                drafts.correction(|| CorrectionDraft::of(content, reasoning_content.unwrap_or_default(), tool_calls));
            view! { <DraftForm spoke notes drafts close draft /> }.into_any()
        }
        (_, Some(error)) => view! { <Failure error retry=move || notes.read_again() /> }.into_any(),
        _ => view! { <Loading what="the turn" /> }.into_any(),
    }
}

#[component]
fn DraftForm(spoke: u32, notes: Notes, drafts: Drafts, close: Callback<()>, draft: CorrectionDraft) -> impl IntoView {
    let (busy, problems, unread) = (drafts.sending, Problems::default(), RwSignal::new(None::<String>));
    let leave = move || {
        if !drafts.is_sent() {
            close.run(());
        }
    };
    let toasts = Toasts::here();
    let fields = draft.clone();
    let save = move || {
        if busy.get_untracked() {
            return;
        }
        problems.clear();
        let body = match draft.body(spoke) {
            Ok(body) => body,
            Err(wrong) => return unread.set(Some(wrong)),
        };
        unread.set(None);
        busy.set(true);
        spawn_local(async move {
            let answer = api_client::corrections::add(&notes.conversation(), &body).await;
            busy.try_set(false);
            match answer {
                Ok(made) => {
                    toasts.good(format!("Corrected: version {}.", made.version));
                    drafts.forget_correction();
                    let _ = close.try_run(());
                    notes.read_again();
                }
                Err(error) => problems.set(error),
            }
        });
    };
    let CorrectionDraft { content, reasoning, calls, note, .. } = fields;
    let call = move |(name, arguments): (String, RwSignal<String>)| {
        view! {
            <FormField label=format!("Arguments of {}", short(&name)) wrong=problems.at("/tool_calls")>
                <textarea rows="5" class="code" spellcheck="false" bind:value=arguments></textarea>
            </FormField>
        }
    };
    view! {
        <form
            class="panel turn-form"
            aria-label="Correct"
            on:submit=move |event| {
                event.prevent_default();
                save();
            }
            on:keydown=move |event| press(&event, leave)
        >
            <FormError why=problems />
            {move || unread.get().map(|text| view! { <p class="refusal" role="alert">{text}</p> })}
            <FormField label="What it should have said" wrong=problems.at("/content")>
                <textarea rows="5" dir="auto" bind:value=content></textarea>
            </FormField>
            <FormField label="What it should have thought" wrong=problems.at("/reasoning")>
                <textarea rows="3" dir="auto" bind:value=reasoning></textarea>
            </FormField>
            {calls.into_iter().map(call).collect_view()}
            <FormField label="Why" hint="The following turns are not played again, and nothing is judged again." wrong=problems.at("/note")>
                <textarea rows="2" dir="auto" required bind:value=note></textarea>
            </FormField>
            <div class="inline">
                <Send label="Save the correction" busy />
                <button
                    type="button"
                    on:click=move |_| {
                        if !drafts.is_sent() {
                            drafts.forget_correction();
                            close.run(());
                        }
                    }
                >
                    "Cancel"
                </button>
            </div>
        </form>
    }
}

/// Enough of a name to tell it from others: a model may call whatever it likes.
fn short(name: &str) -> String {
    name.chars().take(NAME).collect()
}

/// How a turn reads after its corrections, if it was corrected.
#[component]
pub fn TurnCorrection(spoke: u32, notes: Notes) -> impl IntoView {
    let message = Memo::new(move |_| notes.message(spoke).filter(|message| message.corrected_by.is_some()));
    move || {
        let CorrectedMessage { corrected_by, diff, .. } = message.get()?;
        let version = corrected_by?;
        let found = notes.corrected.with_untracked(|corrected| {
            let corrections = corrected.as_ref().map(|corrected| corrected.corrections.as_slice()).unwrap_or_default();
            corrections.iter().find(|one| one.version == version).map(|one| (one.author.clone(), one.note.clone()))
        });
        let (author, note) = found.unwrap_or_default();
        Some(view! {
            <aside class="remark corrected" aria-label="Correction">
                <p class="inline">
                    <strong>{format!("Corrected, version {version}")}</strong>
                    <bdi class="muted">{author}</bdi>
                </p>
                <LongText text=note muted=true />
                <Diff diff />
                <Withdraw spoke notes />
            </aside>
        })
    }
}

#[component]
fn Diff(diff: BTreeMap<String, Vec<DiffPiece>>) -> impl IntoView {
    let part = |(name, pieces): (String, Vec<DiffPiece>)| {
        view! {
            <h4>{labels::words(&name)}</h4>
            <Pieces pieces />
        }
    };
    diff.into_iter().map(part).collect_view()
}

/// Cut as long text is: what is changed far behind is a button away.
#[component]
fn Pieces(pieces: Vec<DiffPiece>) -> impl IntoView {
    let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let cut = cut(&text);
    let whole = RwSignal::new(cut.is_none());
    let rest = cut.map(|_| view! { <ShowMore whole letters=text.chars().count() /> });
    let piece = |DiffPiece { kind, text }: DiffPiece| match kind {
        DiffKind::Equal => view! { <span>{text}</span> }.into_any(),
        DiffKind::Delete => view! { <del>{text}</del> }.into_any(),
        DiffKind::Insert => view! { <ins>{text}</ins> }.into_any(),
    };
    let shown = move || {
        let end = if whole.get() { usize::MAX } else { cut.unwrap_or(usize::MAX) };
        first(&pieces, end).into_iter().map(piece).collect_view()
    };
    view! {
        <p class="text diff" dir="auto" tabindex="0">
            {shown}
        </p>
        {rest}
    }
}

/// The pieces up to a place in their whole text, which lies between two letters.
fn first(pieces: &[DiffPiece], end: usize) -> Vec<DiffPiece> {
    let mut left = end;
    let mut shown = Vec::new();
    for DiffPiece { kind, text } in pieces {
        let here = left.min(text.len());
        shown.push(DiffPiece { kind: *kind, text: text[..here].to_owned() });
        left -= here;
        if left == 0 {
            break;
        }
    }
    shown
}

/// Lets the turn read as it was played; a reason is asked for.
#[component]
fn Withdraw(spoke: u32, notes: Notes) -> impl IntoView {
    let (asked, note, busy) = (RwSignal::new(false), RwSignal::new(String::new()), RwSignal::new(false));
    let toasts = Toasts::here();
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        spawn_local(async move {
            let answer = api_client::corrections::withdraw(&notes.conversation(), spoke, &note.get_untracked()).await;
            busy.try_set(false);
            match answer {
                Ok(_) => {
                    toasts.good("Withdrawn: the turn is as it was played.");
                    notes.read_again();
                }
                Err(error) => toasts.bad(explain(error)),
            }
        });
    };
    let may = Project::here().may(Role::Author);
    move || {
        match (may, asked.get()) {
        (false, _) => ().into_any(),
        (true, false) => view! {
            <button type="button" class="small" on:click=move |_| asked.set(true)>
                "Withdraw"
            </button>
        }
        .into_any(),
        (true, true) => view! {
            <form
                class="inline"
                aria-label="Withdraw"
                on:submit=send
                on:keydown=move |event| press(&event, || asked.set(false))
            >
                <input type="text" aria-label="Why it is withdrawn" placeholder="Why it is withdrawn" required bind:value=note />
                <Send label="Withdraw" busy />
            </form>
        }
        .into_any(),
    }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_cut_as_one_text() {
        let piece = |kind, text: &str| DiffPiece { kind, text: text.to_owned() };
        let all = [piece(DiffKind::Equal, "für "), piece(DiffKind::Delete, "uns"), piece(DiffKind::Insert, "alle")];
        assert_eq!(first(&all, usize::MAX), all);
        assert_eq!(first(&all, 7), [all[0].clone(), piece(DiffKind::Delete, "un")]);
        assert_eq!(first(&all, 5), [all[0].clone()]);
    }
}
