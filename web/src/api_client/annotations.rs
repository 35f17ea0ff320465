//! Remarks on the steps of conversations.

use domain::api::Annotation;
use serde_json::json;

use super::{Answer, delete, get, patch, post};
use crate::address::segment;

pub async fn of(conversation: &str) -> Answer<Vec<Annotation>> {
    get(&format!("/conversations/{}/annotations", segment(conversation))).await
}

pub async fn add(conversation: &str, seq: u32, text: &str, labels: &[String]) -> Answer<Annotation> {
    let body = json!({"seq": seq, "text": text, "labels": labels});
    post(&format!("/conversations/{}/annotations", segment(conversation)), &body).await
}

pub async fn resolve(id: &str, resolved: bool) -> Answer<Annotation> {
    patch(&format!("/annotations/{}", segment(id)), &json!({"resolved": resolved})).await
}

pub async fn remove(id: &str) -> Answer<()> {
    delete(&format!("/annotations/{}", segment(id))).await
}
