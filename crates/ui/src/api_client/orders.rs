//! Ordering runs: what may be ordered, and what an order would play.

use domain::api::documents::{DocumentListParams, DocumentSummary};
use domain::api::{OrderPreview, RunOrder};
use domain::project::{Kind, PERSONA_MODEL};

use super::{AbortSignal, Answer, documents, post_abortable};
use crate::address::segment;

/// Checks an order without storing anything.
pub async fn preview(signal: &AbortSignal, project: &str, order: &RunOrder) -> Answer<OrderPreview> {
    post_abortable(signal, &format!("/projects/{}/runs/preview", segment(project)), order).await
}

/// A project with more documents of a kind than these pages hold is ordered from by REST.
const MOST_PAGES: usize = 50;
const PAGE: u16 = 200;

/// All documents of a kind that runs can use: those with a promoted version.
pub async fn playable(project: &str, kind: Kind) -> Answer<Vec<DocumentSummary>> {
    let mut params = DocumentListParams { limit: Some(PAGE), ..DocumentListParams::default() };
    let mut all = Vec::new();
    for _ in 0..MOST_PAGES {
        let page = documents::list(project, kind, &params).await?;
        all.extend(page.items);
        if page.next.is_none() {
            break;
        }
        params.after = page.next;
    }
    // The model of personas is a document beside the profiles, and nobody is drawn from it alone.
    all.retain(|document| document.promoted.is_some() && !(kind == Kind::Persona && document.name == PERSONA_MODEL));
    Ok(all)
}
