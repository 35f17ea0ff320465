//! The datasets and indexes that runs read. What stores a run holds them until its transaction ends, and what deletes one looks for
//! runs after the deletion, which waits for those that hold it. So of two at once, the later one is refused.

use serde_json::{Map, Value};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Result, StoreError};

/// Keeps what a run's spec names from being deleted until the transaction ends.
///
/// # Errors
/// [`StoreError::Deleted`]: something of it is not there.
pub async fn hold(tx: &mut PgConnection, spec: &Value) -> Result<()> {
    let id = |named: &Value| named.as_str().and_then(|id| id.parse::<Uuid>().ok());
    let dataset = spec.pointer("/source/dataset/id").and_then(id);
    let indexes = spec.get("indexes").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let indexes: Vec<Uuid> = indexes.filter_map(id).collect();
    if let Some(dataset) = dataset {
        hold_dataset(&mut *tx, dataset).await?;
    }
    for index in indexes {
        hold_index(&mut *tx, index).await?;
    }
    Ok(())
}

/// As [`hold`], for one dataset.
pub async fn hold_dataset(tx: &mut PgConnection, id: Uuid) -> Result<()> {
    let held = sqlx::query_scalar!("SELECT id FROM datasets WHERE id = $1 FOR KEY SHARE", id);
    match held.fetch_optional(tx).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::Deleted { what: "dataset", id }),
    }
}

async fn hold_index(tx: &mut PgConnection, id: Uuid) -> Result<()> {
    let held = sqlx::query_scalar!("SELECT id FROM indexes WHERE id = $1 FOR KEY SHARE", id);
    match held.fetch_optional(tx).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::Deleted { what: "index", id }),
    }
}

/// Refuses if an unfinished run reads this dataset or index: its rows could not be played on. Call it after the deletion.
///
/// # Errors
/// [`StoreError::InUse`]; the transaction must not be committed.
pub async fn refuse_if_read(tx: &mut PgConnection, what: &'static str, id: Uuid) -> Result<()> {
    let run = sqlx::query_scalar!(
        "SELECT id FROM runs WHERE finished_at IS NULL AND state <> 'cancelled' AND (
             spec #>> '{source,dataset,id}' = $1
             OR EXISTS (SELECT FROM jsonb_each_text(coalesce(spec -> 'indexes', '{}')) WHERE value = $1)) LIMIT 1",
        id.to_string()
    );
    match run.fetch_optional(tx).await? {
        Some(run) => Err(StoreError::InUse { what, run }),
        None => Ok(()),
    }
}
