//! Rows of a dataset, a page of them or some that are drawn at random.

use axum::Json;
use axum::extract::State;
use domain::api::{DatasetRow, DatasetRowParams, DatasetRows, MOST_ROWS_OF_PAGE};
use uuid::Uuid;

use super::open;
use crate::http::access::Reader;
use crate::http::app::App;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::{Path, Query};
use datasets::dataset::{OpenDataset, sample};

const ROWS: u16 = 50;
/// Bytes of rows that one answer holds, unless it holds one row.
const MOST_BYTES: usize = 16 << 20;

/// Rows of a dataset
///
/// From a position on, or drawn at random with `seed`. If rows are long, there are fewer than were asked for.
#[utoipa::path(get, path = "/datasets/{dataset}/rows", tag = "datasets",
    params(("dataset" = Uuid, Path), DatasetRowParams), responses((status = 200, body = DatasetRows), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn show(
    State(app): State<App>,
    reader: Reader,
    Path(id): Path<Uuid>,
    Query(params): Query<DatasetRowParams>,
) -> Result<Json<DatasetRows>> {
    let limit = match params.limit.unwrap_or(ROWS) {
        limit @ 1..=MOST_ROWS_OF_PAGE => limit,
        other => return Err(HttpError::parameter("limit", format!("{other} is not from 1 to {MOST_ROWS_OF_PAGE}"))),
    };
    if params.from.is_some() && params.seed.is_some() {
        return Err(HttpError::parameter("from", "`seed` draws rows from all positions: choose one"));
    }
    let dataset = open(&mut *app.pool().acquire().await?, &reader, id).await?;
    let missing = || HttpError::Damaged(format!("dataset {id} has no rows"));
    let dataset = OpenDataset::of(app.objects().clone(), dataset).ok_or_else(missing)?;
    let total = dataset.len();
    let positions = match params.seed {
        Some(seed) => sample::positions(total, limit.into(), seed),
        None => {
            let from = params.from.unwrap_or_default().min(total);
            (from..total.min(from + u64::from(limit))).collect()
        }
    };
    let (mut rows, mut bytes) = (Vec::new(), 0);
    for position in positions {
        let values = dataset.row(position).await.map_err(HttpError::Internal)?;
        bytes += serde_json::to_vec(&values).map_or(0, |text| text.len());
        if !rows.is_empty() && bytes > MOST_BYTES {
            break;
        }
        rows.push(DatasetRow { position, values });
    }
    Ok(Json(DatasetRows { total, rows }))
}
