//! Datasets of a project, and uploads for them.

use domain::api::{
    DatasetRowParams, DatasetRows, DatasetSummary, DatasetUpload, NewDataset, NewDatasetUpload, Page, PageParams,
};
use domain::dataset::Column;
use web_sys::Blob;

use super::{Answer, NO_BODY, delete, get, get_with, patch_bytes, post};
use crate::address::segment;

/// Newest first: the first page, or the one after a cursor.
pub async fn list(project: &str, after: Option<String>) -> Answer<Page<DatasetSummary>> {
    get_with(&format!("/projects/{}/datasets", segment(project)), &PageParams::after(after)).await
}

pub async fn one(id: &str) -> Answer<DatasetSummary> {
    get(&path(id, "")).await
}

pub async fn columns(id: &str) -> Answer<Vec<Column>> {
    get(&path(id, "/columns")).await
}

pub async fn rows(id: &str, params: &DatasetRowParams) -> Answer<DatasetRows> {
    get_with(&path(id, "/rows"), params).await
}

pub async fn create(project: &str, new: &NewDataset) -> Answer<DatasetSummary> {
    post(&format!("/projects/{}/datasets", segment(project)), new).await
}

pub async fn cancel(id: &str) -> Answer<DatasetSummary> {
    post(&path(id, "/cancel"), NO_BODY).await
}

pub async fn remove(id: &str) -> Answer<()> {
    delete(&path(id, "")).await
}

/// Uploads that are no datasets yet.
pub async fn uploads(project: &str) -> Answer<Vec<DatasetUpload>> {
    get(&uploads_path(project)).await
}

pub async fn begin_upload(project: &str, new: &NewDatasetUpload) -> Answer<DatasetUpload> {
    post(&uploads_path(project), new).await
}

pub async fn upload(project: &str, id: &str) -> Answer<DatasetUpload> {
    get(&format!("{}/{}", uploads_path(project), segment(id))).await
}

/// Sends the piece that begins at an offset.
pub async fn send_piece(project: &str, id: &str, offset: i64, piece: &Blob) -> Answer<DatasetUpload> {
    patch_bytes(&format!("{}/{}?offset={offset}", uploads_path(project), segment(id)), piece).await
}

pub async fn remove_upload(project: &str, id: &str) -> Answer<()> {
    delete(&format!("{}/{}", uploads_path(project), segment(id))).await
}

fn uploads_path(project: &str) -> String {
    format!("/projects/{}/datasets/uploads", segment(project))
}

fn path(id: &str, below: &str) -> String {
    format!("/datasets/{}{below}", segment(id))
}
