//! Ordering runs: what may be ordered, and what an order would play.

use domain::api::documents::DocumentSummary;
use domain::api::{OrderPreview, Page, RunOrder};
use domain::project::{Kind, PERSONA_MODEL};

use super::{AbortSignal, Answer, post_abortable, query};
use crate::address::segment;

/// Checks an order without storing anything.
pub async fn preview(signal: &AbortSignal, project: &str, order: &RunOrder) -> Answer<OrderPreview> {
    post_abortable(signal, &format!("/projects/{}/runs/preview", segment(project)), order).await
}

/// A project with more documents of a kind than these pages hold is ordered from by REST.
const MOST_PAGES: usize = 50;
const PAGE: &str = "200";

/// All documents of a kind that runs can use: those with a promoted version.
pub async fn playable(project: &str, kind: Kind) -> Answer<Vec<DocumentSummary>> {
    let path = format!("/projects/{}/{}", segment(project), kind.folder());
    let mut all = Vec::new();
    let mut after: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let mut params = vec![("limit", PAGE.to_owned())];
        params.extend(after.map(|after| ("after", after)));
        let page: Page<DocumentSummary> = query(&path, &params).await?;
        all.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    // The model of personas is a document beside the profiles, and nobody is drawn from it alone.
    all.retain(|document| document.promoted.is_some() && !(kind == Kind::Persona && document.name == PERSONA_MODEL));
    Ok(all)
}
