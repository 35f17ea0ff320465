//! All that is wrong with a document; each leads to its line.

use domain::api::documents::{Counts, DocumentFinding};
use leptos::prelude::*;

use super::checking::{CheckState, Checks};
use super::files::short;
use crate::pages::authoring::draft::{Draft, SourceLocation};
use crate::pages::authoring::words;
use ui::components::{Badge, FirstRows, MoreRows};

#[component]
pub fn ProblemList() -> impl IntoView {
    let draft = Draft::here();
    let Checks(checked) = expect_context();
    let first = FirstRows::new();
    let summary = move || {
        let found = draft.found.read();
        let counted: Vec<String> = words::counted(Counts::of(&*found)).into_iter().map(|(_, text)| text).collect();
        let told = if counted.is_empty() { "No problems found".to_owned() } else { counted.join(", ") };
        match checked.get() {
            CheckState::Whole => format!("{told}."),
            CheckState::Here => format!("{told} so far; the server checks when you stop typing."),
            CheckState::Failed(why) => format!("{told} here. The server could not check it: {why}"),
        }
    };
    let sorted = move || {
        let mut found = draft.found.get();
        found.sort_by(|a, b| b.grade.cmp(&a.grade).then_with(|| a.cmp(b)));
        first.of(found)
    };
    let all = Signal::derive(move || draft.found.read().len());
    view! {
        <section class="problems" aria-labelledby="problems">
            <h2 id="problems" class="unseen">
                "Problems"
            </h2>
            <p class="muted" role="status">
                {summary}
            </p>
            <ul>
                <For each=sorted key=|found: &DocumentFinding| format!("{found:?}") let:found>
                    <Item found />
                </For>
            </ul>
            <MoreRows first all />
        </section>
    }
}

#[component]
fn Item(found: DocumentFinding) -> impl IntoView {
    let draft = Draft::here();
    let DocumentFinding { grade, rule, file, line, field, pointer, message } = found;
    let name = short(&file);
    let place = match (line, field.is_empty()) {
        (0, true) => name,
        (0, false) => format!("{name}: {field}"),
        (line, true) => format!("{name}:{line}"),
        (line, false) => format!("{name}:{line} {field}"),
    };
    let spot = SourceLocation { file: file.clone(), pointer, line };
    // What is wrong with another document, because of this one, is mended there or here: nothing to lead to.
    let own = draft.files.with_untracked(|files| files.contains_key(&file));
    let says = rule.map_or("", domain::finding::Rule::explanation);
    let body = view! {
        <Badge tone=words::tone(grade) text=grade.into_str() />
        <span class="text" dir="auto">
            {message}
        </span>
        <span class="muted text">{place}</span>
    };
    view! {
        <li title=says>
            {if own {
                view! {
                    <button type="button" class="quiet" on:click=move |_| draft.lead(spot.clone())>
                        {body}
                    </button>
                }
                    .into_any()
            } else {
                view! { <p>{body}</p> }.into_any()
            }}
        </li>
    }
}
