//! The datasets and indexes that an order names.

use std::collections::BTreeMap;

use domain::api::BuildState;
use domain::api::workflows::DatasetRows;
use domain::dataset::Column;
use domain::problem::did_you_mean;
use sqlx::PgConnection;
use store::{datasets, indexes};
use uuid::Uuid;
use workflow::Workflow;
use workflow::types::Type;

use crate::spec::{RowSample, Source};

/// Rows of a dataset of a project for a workflow. `columns`: by input, the column that it is taken from, where the names differ.
/// `seed`: that of the run, by which a sample is drawn that has none of its own.
///
/// # Errors
/// The database; within: what is wrong with what is named.
pub async fn of_dataset(
    db: &mut PgConnection,
    project: Uuid,
    wanted: &DatasetRows,
    (workflow, columns): (Option<&Workflow>, &BTreeMap<String, String>),
    seed: i64,
) -> store::Result<Result<Source, String>> {
    let DatasetRows { name, version, first, count, sample, seed: own_seed } = wanted;
    let Some(id) = datasets::named(db, project, name, *version).await? else {
        let version = version.map(|version| format!(" with a version {version}")).unwrap_or_default();
        return Ok(Err(format!("there is no dataset `{name}`{version}")));
    };
    let found = datasets::get(db, id).await?;
    let Some(contents) = found.and_then(|dataset| dataset.contents) else {
        return Ok(Err(format!("the dataset `{name}` is not ready")));
    };
    if let Some(message) = workflow.and_then(|workflow| missing_column(workflow, columns, &contents.columns)) {
        return Ok(Err(format!("the dataset `{name}` {message}")));
    }
    let (first, rows) = (first.unwrap_or(0), u64::try_from(contents.rows).unwrap_or_default());
    let left = rows.saturating_sub(first);
    let count = count.unwrap_or(left).min(left);
    Ok(match *sample {
        _ if left == 0 => Err(format!("the dataset `{name}` has {rows} rows, and none from position {first} on")),
        None if own_seed.is_some() => Err("`seed` draws a sample; say with `sample` how many rows it has".to_owned()),
        None => Ok(Source::Dataset { id, first, count, sample: None }),
        Some(0) => Err("a sample has at least 1 row".to_owned()),
        Some(drawn) if drawn > count => Err(format!("a sample of {drawn} rows cannot be drawn from {count} rows")),
        Some(drawn) => {
            let sample = Some(RowSample { rows: count, seed: own_seed.unwrap_or(seed) });
            Ok(Source::Dataset { id, first, count: drawn, sample })
        }
    })
}

/// The first column that the workflow needs and the dataset lacks: every row would end as `invalid_input`.
fn missing_column(workflow: &Workflow, columns: &BTreeMap<String, String>, there: &[Column]) -> Option<String> {
    let Type::Record(inputs) = &workflow.input else { return None };
    let is_there = |column: &str| there.iter().any(|own| own.name == column);
    inputs.iter().find_map(|(input, of)| {
        let (column, is_named) = columns.get(input).map_or((input, false), |column| (column, true));
        let is_needed = is_named || !matches!(of, Type::Optional(_) | Type::Any);
        if is_there(column) || !is_needed {
            return None;
        }
        let hint = did_you_mean(column, there.iter().map(|own| own.name.as_str()));
        Some(format!("has no column `{column}`, which the input `{input}` is taken from{hint}"))
    })
}

/// The ids of indexes that are named, by the names that the workflow has for them.
///
/// # Errors
/// The database; within: indexes that are not there, or cannot be searched.
pub async fn indexes(
    db: &mut PgConnection,
    project: Uuid,
    named: &BTreeMap<String, String>,
) -> store::Result<Result<BTreeMap<String, Uuid>, String>> {
    let mut found = BTreeMap::new();
    for (own, name) in named {
        let index = match indexes::named(db, project, name).await? {
            Some(id) => indexes::get(db, id).await?,
            None => None,
        };
        let Some(index) = index else { return Ok(Err(format!("there is no index `{name}`"))) };
        let state = index.summary.state;
        if state != BuildState::Ready {
            return Ok(Err(format!("the index `{name}` is {state}, so it cannot be searched")));
        }
        found.insert(own.clone(), index.id);
    }
    Ok(Ok(found))
}
