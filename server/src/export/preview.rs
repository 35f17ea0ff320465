//! The first record of an export, without building it.

use domain::row::Row;
use serde_json::Value;
use sqlx::PgPool;

use super::build::Order;
use super::pairs;
use super::profile::{self, Place};
use super::row::{self, Made};
use crate::store::material;

/// Conversations that are looked at.
const FIRST: i64 = 32;

/// `None` if the first conversations give no record.
///
/// # Errors
/// The database, or documents that cannot be read.
pub async fn record(pool: &PgPool, order: &Order) -> anyhow::Result<Option<Value>> {
    let Some((split, source)) = order.sources.first() else { return Ok(None) };
    let mut db = pool.acquire().await?;
    let wanted = source.after(&mut db, -1, FIRST).await?;
    let read = material::of(&mut db, &wanted, source.all).await?;
    drop(db);
    let mut rows: Vec<(Place, Row)> = Vec::new();
    for material in &read {
        let Some(context) = source.contexts.get(&material.run) else { continue };
        let place = Place { index: material.index, split: split.as_str() };
        if let Made::Rows(made) = row::rows(context, material, source.all, source.branches)? {
            rows.extend(made.into_iter().filter_map(Result::ok).map(|row| (place, row)));
        }
    }
    let record = if order.shape.profile.is_of_pairs() {
        let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        pairs::first(&order.shape, order.pairs, &rows)
    } else {
        rows.iter().find_map(|(place, row)| {
            let mut out = Vec::new();
            profile::record(&order.shape, row, *place, &mut out).ok().map(|()| out)
        })
    };
    Ok(record.map(|json| serde_json::from_slice(&json)).transpose()?)
}
