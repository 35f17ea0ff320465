//! Queues of conversations that people are to rate.

use domain::api::{
    MemberSummary, NewAssignment, NewQueue, NextReview, Page, PageParams, QueueChange, ReviewAgreement, ReviewItem,
    ReviewQueue,
};
use domain::calibration::Disagreement;

use super::{Answer, NO_BODY, PageStart, delete, explore, get, get_with, patch, post, ratings};
use crate::address::segment;

/// Newest first: the first page, or the one after a cursor.
pub async fn list(project: &str, after: Option<String>) -> Answer<Page<ReviewQueue>> {
    get_with(&format!("/projects/{}/review-queues", segment(project)), &PageParams::after(after)).await
}

pub async fn make(project: &str, queue: &NewQueue) -> Answer<ReviewQueue> {
    post(&format!("/projects/{}/review-queues", segment(project)), queue).await
}

pub async fn one(id: &str) -> Answer<ReviewQueue> {
    get(&format!("/review-queues/{}", segment(id))).await
}

pub async fn change(id: &str, change: &QueueChange) -> Answer<ReviewQueue> {
    patch(&format!("/review-queues/{}", segment(id)), change).await
}

pub async fn items(id: &str, after: Option<String>) -> Answer<Page<ReviewItem>> {
    get_with(&format!("/review-queues/{}/items", segment(id)), &PageParams::after(after)).await
}

/// Takes a conversation to rate.
pub async fn next(id: &str) -> Answer<NextReview> {
    post(&format!("/review-queues/{}/next", segment(id)), NO_BODY).await
}

pub async fn skip(id: &str, conversation: &str) -> Answer<ReviewItem> {
    post(&format!("{}/skip", item(id, conversation)), NO_BODY).await
}

pub async fn assign(id: &str, conversation: &str, rater: &str) -> Answer<ReviewItem> {
    post(&format!("{}/assignments", item(id, conversation)), &NewAssignment { rater: rater.to_owned() }).await
}

/// Takes a conversation back from somebody who has not rated it.
pub async fn withdraw(id: &str, conversation: &str, rater: &str) -> Answer<()> {
    delete(&format!("{}/assignments/{}", item(id, conversation), segment(rater))).await
}

pub async fn agreement(id: &str) -> Answer<ReviewAgreement> {
    get(&format!("/review-queues/{}/agreement", segment(id))).await
}

/// Those that are at least so many points apart: the first page, or the one after a cursor.
pub async fn disagreements(id: &str, spread: u8, after: Option<String>) -> Answer<Page<Disagreement>> {
    ratings::disagreement_page(&format!("/review-queues/{}/disagreements", segment(id)), spread, after).await
}

/// Who may be given something.
pub async fn members(project: &str) -> Answer<Vec<MemberSummary>> {
    get(&format!("/projects/{}/members", segment(project))).await
}

/// The first conversations of a project that pass a filter, by id. `went_on` is told how many were read so far.
pub async fn chosen(
    project: &str,
    filter: &[(String, String)],
    n: usize,
    went_on: impl Fn(usize),
) -> Answer<Vec<String>> {
    let (mut ids, mut place) = (Vec::new(), PageStart::default());
    loop {
        let page = explore::list(project, filter, place).await?;
        ids.extend(page.items.into_iter().map(|row| row.id));
        went_on(ids.len());
        place = PageStart { after: page.next, skip: 0 };
        if place.after.is_none() || ids.len() >= n {
            ids.truncate(n);
            return Ok(ids);
        }
    }
}

fn item(queue: &str, conversation: &str) -> String {
    format!("/review-queues/{}/items/{}", segment(queue), segment(conversation))
}
