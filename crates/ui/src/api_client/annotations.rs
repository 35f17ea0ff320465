//! Remarks on the steps of conversations.

use domain::api::{Annotation, AnnotationChange, NewAnnotation};

use super::{Answer, delete, get, patch, post};
use crate::address::segment;

pub async fn of(conversation: &str) -> Answer<Vec<Annotation>> {
    get(&format!("/conversations/{}/annotations", segment(conversation))).await
}

pub async fn add(conversation: &str, new: &NewAnnotation) -> Answer<Annotation> {
    post(&format!("/conversations/{}/annotations", segment(conversation)), new).await
}

pub async fn change(id: &str, change: &AnnotationChange) -> Answer<Annotation> {
    patch(&format!("/annotations/{}", segment(id)), change).await
}

pub async fn remove(id: &str) -> Answer<()> {
    delete(&format!("/annotations/{}", segment(id))).await
}
