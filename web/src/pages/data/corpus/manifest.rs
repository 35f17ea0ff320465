//! What the filter found and the corpus does not keep, with the reason of each.

use std::sync::Arc;

use domain::api::Page;
use domain::corpus::ManifestRow;
use leptos::prelude::*;

use super::super::report::cause;
use crate::address;
use crate::api_client::{self, PAGE, Place};
use crate::components::{Fetched, VirtualRows};
use crate::session::Project;

/// More rows than that are downloaded, not shown: the manifest comes in one piece.
const MOST: u64 = 50_000;

#[component]
pub fn Manifest(id: String, found: u64) -> impl IntoView {
    let files = [("Manifest as JSON lines", "jsonl"), ("Manifest as CSV", "csv")].map(|(says, format)| {
        view! {
            <a class="button" href=api_client::corpora::manifest_file(&id, format) download>
                {says}
            </a>
        }
    });
    view! {
        <div class="actions">{files}</div>
        {if found > MOST {
            view! { <p class="muted">"There are too many rows to show here; the manifest has them all, with their reasons."</p> }
                .into_any()
        } else {
            let load = move || {
                let id = id.clone();
                async move { api_client::corpora::manifest(&id).await }
            };
            view! {
                <Fetched what="the manifest" load let:rows>
                    <Dropped rows />
                </Fetched>
            }
            .into_any()
        }}
    }
}

#[component]
fn Dropped(rows: Vec<ManifestRow>) -> impl IntoView {
    let dropped: Arc<[ManifestRow]> = rows.into_iter().filter(|row| row.dropped_by.is_some()).collect();
    if dropped.is_empty() {
        return view! { <p class="muted">"Nothing was dropped: the corpus keeps all that the filter found."</p> }
            .into_any();
    }
    let (project, total) = (Project::here().name(), dropped.len() as u64);
    let load = move |place| {
        let page = page(&dropped, &place);
        async move { Ok(page) }
    };
    let row = move |row: ManifestRow| {
        let href = address::conversation(&project, &row.conversation);
        view! { <Row row href /> }.into_any()
    };
    let head = ViewFn::from(|| {
        ["Scenario", "Dropped by", "Reason"]
            .map(|name| view! { <span role="columnheader">{name}</span> })
            .collect_view()
    });
    view! {
        <div class="dropped-rows">
            <VirtualRows label="Dropped conversations" total=Signal::derive(move || Some(total)) load head row remember="" />
        </div>
    }
    .into_any()
}

/// A page of rows that are here already; the cursor is the place of its first.
fn page(rows: &[ManifestRow], place: &Place) -> Page<ManifestRow> {
    let first: usize = place.after.as_ref().and_then(|after| after.parse().ok()).unwrap_or(0);
    let from = (first + place.skip).min(rows.len());
    let to = (from + PAGE).min(rows.len());
    Page { items: rows[from..to].to_vec(), next: (to < rows.len()).then(|| to.to_string()) }
}

#[component]
fn Row(row: ManifestRow, href: String) -> impl IntoView {
    let reason = row.reason.unwrap_or_default();
    view! {
        <span role="cell">
            <a href=href>{row.scenario}</a>
        </span>
        <span role="cell">{row.dropped_by.map(cause)}</span>
        <span role="cell" dir="auto" title=reason.clone()>
            {reason.clone()}
        </span>
    }
}
