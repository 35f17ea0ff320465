//! What an export would look like, before it is built.

use axum::Json;
use axum::extract::State;
use domain::api::ExportPreview;
use domain::export::ExportSpec;
use sqlx::PgPool;

use super::{check_blind, checked};
use crate::http::access::Reader;
use crate::http::audit::Audit;
use crate::http::error::{Problems, Result};
use crate::http::extract::Body;
use datasets::export::contents::{self, Order};
use datasets::export::preview::{self as first, Preview};

/// The first record of an export and the card of a bundle, without building it
#[utoipa::path(post, path = "/projects/{project}/exports/preview", tag = "exports", params(("project" = String, Path)),
    request_body = ExportSpec, responses((status = 200, body = ExportPreview), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn preview(
    State(pool): State<PgPool>,
    reader: Reader,
    audit: Audit,
    Body(spec): Body<ExportSpec>,
) -> Result<Json<ExportPreview>> {
    audit.nothing_changed();
    let checked = checked(&pool, &spec, reader.project).await?;
    check_blind(&mut *pool.acquire().await?, &reader, &spec).await?;
    let order = Order::of(&pool, &spec, &checked).await?;
    let Preview { record, card, looked_at } = first::preview(&pool, &order).await?;
    let file_name = contents::file_name(&order.title, &order.shape);
    Ok(Json(ExportPreview { file_name, total: order.size(&pool).await?, record, card, looked_at }))
}
