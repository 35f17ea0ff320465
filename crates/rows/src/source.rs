//! The input rows of a run.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use datasets::dataset::OpenDataset;
use datasets::dataset::sample::LargeSample;
use serde_json::{Map, Value};
use sqlx::PgPool;
use store::StoreError;
use store::objects::Objects;

use crate::spec::{RowsSpec, Source};

/// The rows of a run as a process reads them.
#[derive(Clone)]
pub struct InputRows {
    columns: BTreeMap<String, String>,
    rows: Rows,
}

#[derive(Clone)]
enum Rows {
    Here(Arc<Vec<Map<String, Value>>>),
    Dataset { dataset: OpenDataset, first: u64, sample: Option<LargeSample> },
}

impl InputRows {
    /// # Errors
    /// The dataset is not there, or this process has no way to it.
    pub async fn open(pool: &PgPool, objects: Option<&Objects>, spec: &RowsSpec) -> anyhow::Result<Self> {
        let rows = match &spec.source {
            Source::Rows(rows) => Rows::Here(Arc::new(rows.clone())),
            Source::Dataset { id, first, count, sample } => {
                let objects = objects.ok_or_else(|| {
                    anyhow!("its rows are in a dataset, and this process knows no place of datasets: start it with --objects")
                })?;
                let dataset = OpenDataset::open(&mut *pool.acquire().await?, objects, *id).await?;
                let dataset = dataset.ok_or(StoreError::Deleted { what: "dataset", id: *id })?;
                let sample = sample.map(|sample| LargeSample::new(sample.rows, *count, sample.seed));
                Rows::Dataset { dataset, first: *first, sample }
            }
        };
        Ok(Self { columns: spec.columns.clone(), rows })
    }

    /// As [`open`](Self::open), to read what rows became: if the dataset was deleted, their inputs are empty.
    ///
    /// # Errors
    /// As there.
    pub async fn open_for_reading(pool: &PgPool, objects: Option<&Objects>, spec: &RowsSpec) -> anyhow::Result<Self> {
        match Self::open(pool, objects, spec).await {
            Err(error) if matches!(error.downcast_ref(), Some(StoreError::Deleted { .. })) => {
                Ok(Self { columns: BTreeMap::new(), rows: Rows::Here(Arc::default()) })
            }
            opened => opened,
        }
    }

    /// The inputs of the workflow at these positions of the run.
    ///
    /// # Errors
    /// There is no row there, or the storage.
    pub async fn inputs(&self, positions: RangeInclusive<i32>) -> anyhow::Result<Vec<Map<String, Value>>> {
        let (start, end) = (u64::try_from(*positions.start())?, u64::try_from(*positions.end())? + 1);
        let rows = match &self.rows {
            Rows::Here(rows) => {
                let (start, end) = (usize::try_from(start)?, usize::try_from(end)?.min(rows.len()));
                rows.get(start..end).unwrap_or_default().to_vec()
            }
            Rows::Dataset { dataset, first, sample: None } => dataset.rows(first + start..first + end).await?,
            Rows::Dataset { dataset, first, sample: Some(sample) } => {
                let mut rows = Vec::new();
                for position in sample.positions(start..end) {
                    rows.push(dataset.row(first + position).await?);
                }
                rows
            }
        };
        Ok(rows.into_iter().map(|row| self.renamed(row)).collect())
    }

    /// # Errors
    /// As [`inputs`](Self::inputs).
    pub async fn input(&self, position: i32) -> anyhow::Result<Map<String, Value>> {
        let row = self.inputs(position..=position).await?.pop();
        row.with_context(|| format!("the run has no row {position}"))
    }

    fn renamed(&self, mut row: Map<String, Value>) -> Map<String, Value> {
        let taken: Vec<(String, Value)> = self
            .columns
            .iter()
            .map(|(name, column)| (name.clone(), row.get(column).cloned().unwrap_or_default()))
            .collect();
        row.extend(taken);
        row
    }
}
