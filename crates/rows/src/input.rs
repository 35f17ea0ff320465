//! The datasets and indexes that an order names.

use std::collections::BTreeMap;

use domain::api::workflows::DatasetRows;
use sqlx::PgConnection;
use store::{datasets, indexes};
use uuid::Uuid;

use crate::spec::Source;

/// Rows of a dataset of a project.
///
/// # Errors
/// The database; within: what is wrong with what is named.
pub async fn of_dataset(
    db: &mut PgConnection,
    project: Uuid,
    wanted: &DatasetRows,
) -> store::Result<Result<Source, String>> {
    let DatasetRows { name, version, first, count } = wanted;
    let Some(id) = datasets::named(db, project, name, *version).await? else {
        let version = version.map(|version| format!(" with a version {version}")).unwrap_or_default();
        return Ok(Err(format!("there is no dataset `{name}`{version}")));
    };
    let found = datasets::get(db, id).await?;
    let Some(contents) = found.and_then(|dataset| dataset.contents) else {
        return Ok(Err(format!("the dataset `{name}` is not ready")));
    };
    let (first, rows) = (first.unwrap_or(0), u64::try_from(contents.rows).unwrap_or_default());
    let left = rows.saturating_sub(first);
    Ok(match count.unwrap_or(left) {
        _ if left == 0 => Err(format!("the dataset `{name}` has {rows} rows, and none from position {first} on")),
        count => Ok(Source::Dataset { id, first, count: count.min(left) }),
    })
}

/// The ids of indexes that are named, by the names that the workflow has for them.
///
/// # Errors
/// The database; within: indexes that are not there.
pub async fn indexes(
    db: &mut PgConnection,
    project: Uuid,
    named: &BTreeMap<String, String>,
) -> store::Result<Result<BTreeMap<String, Uuid>, String>> {
    let mut found = BTreeMap::new();
    for (own, name) in named {
        match indexes::named(db, project, name).await? {
            Some(id) => drop(found.insert(own.clone(), id)),
            None => return Ok(Err(format!("there is no index `{name}`"))),
        }
    }
    Ok(Ok(found))
}
