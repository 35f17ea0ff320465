//! Rows of a dataset: from a position on, or drawn at random.

use std::sync::Arc;

use domain::api::{DatasetRow, DatasetRowParams, DatasetRows};
use leptos::prelude::*;
use serde_json::Value;

use crate::inputs::BoundInput;
use ui::api_client::{self, Answer};
use ui::components::{JsonTree, beginning, settled, show};
use ui::format;

const ROWS: u16 = 20;
/// Columns of the table, and letters of a value in it: all of a row is shown once it is opened.
const COLUMNS: usize = 12;
const LETTERS: usize = 160;

#[component]
pub fn Rows(id: StoredValue<String>, names: Vec<String>, total: i64) -> impl IntoView {
    if total == 0 {
        return view! { <p class="muted">"The dataset has no rows."</p> }.into_any();
    }
    let wanted = RwSignal::new(DatasetRowParams { limit: Some(ROWS), ..DatasetRowParams::default() });
    let answer = LocalResource::new(move || {
        let (id, params) = (id.get_value(), wanted.get());
        async move { api_client::datasets::rows(&id, &params).await.map(|found| Found { seed: params.seed, found }) }
    });
    let names = StoredValue::new(names);
    view! {
        <Turn wanted found=settled(answer) total />
        {show("rows", answer, move |answer| view! { <Table rows=answer.found.rows names /> })}
    }
    .into_any()
}

/// Rows, and by which seed they were drawn, if they were.
#[derive(Clone)]
struct Found {
    seed: Option<u64>,
    found: DatasetRows,
}

/// Leads to other rows.
#[component]
fn Turn(wanted: RwSignal<DatasetRowParams>, found: Signal<Option<Answer<Found>>>, total: i64) -> impl IntoView {
    let from = Memo::new(move |_| wanted.read().from.unwrap_or_default());
    let go = move |from: u64| wanted.update(|params| (params.from, params.seed) = (Some(from), None));
    let samples = RwSignal::new(0_u64);
    let draw = move |_| {
        samples.update(|samples| *samples += 1);
        wanted.update(|params| (params.from, params.seed) = (None, Some(samples.get_untracked())));
    };
    // Long rows are fewer than were asked for.
    let next = Memo::new(move |_| match &*found.read() {
        Some(Ok(Found { seed: None, found })) => {
            found.rows.last().map(|row| row.position + 1).filter(|next| *next < found.total)
        }
        _ => None,
    });
    let first = Signal::derive(move || wanted.read().seed.is_none().then(|| u32::try_from(from.get()).ok()).flatten());
    let last = u32::try_from(total - 1).unwrap_or(u32::MAX);
    view! {
        <div class="toolbar">
            <label class="order">
                "From position"
                <BoundInput
                    says="Position of the first row"
                    value=first
                    limit=Some(last)
                    change=Callback::new(move |position: Option<u32>| go(position.unwrap_or_default().into()))
                />
            </label>
            <button
                type="button"
                disabled=move || from.get() == 0
                on:click=move |_| go(from.get_untracked().saturating_sub(ROWS.into()))
            >
                "Previous"
            </button>
            <button
                type="button"
                disabled=move || next.get().is_none()
                on:click=move |_| next.get_untracked().into_iter().for_each(go)
            >
                "Next"
            </button>
            <button type="button" on:click=draw>
                "Random rows"
            </button>
            <span class="muted" role="status">
                {move || found.read().as_ref().and_then(|found| found.as_ref().ok()).map(shown)}
            </span>
        </div>
    }
}

fn shown(Found { seed, found }: &Found) -> String {
    let total = count(found.total);
    match (seed, found.rows.first(), found.rows.last()) {
        (Some(seed), ..) => format!("{} of {total}, drawn with seed {seed}", found.rows.len()),
        (None, Some(first), Some(last)) => format!("{} to {} of {total}", count(first.position), count(last.position)),
        (None, ..) => format!("none of {total}"),
    }
}

fn count(n: u64) -> String {
    format::count(i64::try_from(n).unwrap_or(i64::MAX))
}

#[component]
fn Table(rows: Vec<DatasetRow>, names: StoredValue<Vec<String>>) -> impl IntoView {
    let head = |name: &String| view! { <th scope="col">{beginning(name, LETTERS)}</th> };
    let (head, all) = names.with_value(|names| (names.iter().take(COLUMNS).map(head).collect_view(), names.len()));
    let more = (all > COLUMNS).then(|| {
        let text = format!("The table shows {COLUMNS} of {all} columns. Open a row to see all of it.");
        view! { <p class="muted">{text}</p> }
    });
    view! {
        // It scrolls by itself, so the keyboard must reach it.
        <div class="scrolls whole" tabindex="0" role="region" aria-label="Table of rows">
            <table class="figures dataset-rows">
                <thead>
                    <tr>
                        <th scope="col">"Position"</th>
                        {head}
                    </tr>
                </thead>
                <tbody>{rows.into_iter().map(|row| view! { <Row row names /> }).collect_view()}</tbody>
            </table>
        </div>
        {more}
    }
}

/// The beginnings of a row's values; below them, once it is opened, the whole row.
#[component]
fn Row(row: DatasetRow, names: StoredValue<Vec<String>>) -> impl IntoView {
    let open = RwSignal::new(false);
    let position = row.position;
    let cells = names.with_value(|names| {
        let value = |name: &String| cell(row.values.get(name).unwrap_or(&Value::Null));
        names.iter().take(COLUMNS).map(value).collect_view()
    });
    let width = names.with_value(|names| names.len().min(COLUMNS) + 1);
    let whole = StoredValue::new(Arc::new(Value::Object(row.values)));
    view! {
        <tr>
            <th scope="row">
                <button
                    type="button"
                    class="quiet"
                    aria-expanded=move || open.get().to_string()
                    aria-label=format!("Row {position}")
                    on:click=move |_| open.update(|open| *open = !*open)
                >
                    {count(position)}
                </button>
            </th>
            {cells}
        </tr>
        <Show when=move || open.get()>
            <tr>
                <td colspan=width>
                    <JsonTree label="The whole row" document=whole.get_value() />
                </td>
            </tr>
        </Show>
    }
}

fn cell(value: &Value) -> AnyView {
    match value {
        Value::Null => view! { <td class="muted">"–"</td> }.into_any(),
        Value::Number(number) => view! { <td class="number">{number.to_string()}</td> }.into_any(),
        Value::String(text) => view! { <td dir="auto">{beginning(text, LETTERS)}</td> }.into_any(),
        other => view! {
            <td>
                <code>{beginning(&other.to_string(), LETTERS)}</code>
            </td>
        }
        .into_any(),
    }
}
