//! A dataset that is read, by positions: a row group at a time, with the newest ones in memory.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use arrow_array::RecordBatch;
use domain::dataset::DatasetPart;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use sqlx::PgConnection;
use store::datasets::{self, Dataset};
use store::objects::Objects;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::Row;
use super::row_groups::decode;
use super::stored_file::StoredFile;

/// Row groups in memory. Claims of a run are next to each other, and several of them are played at once.
const CACHED: usize = 4;
/// Rows that one call may read.
const MOST_AT_ONCE: u64 = 1 << 20;

/// An open dataset. Clones share what is in memory.
#[derive(Clone)]
pub struct OpenDataset {
    shared: Arc<Shared>,
}

struct Shared {
    id: Uuid,
    names: Vec<String>,
    objects: Objects,
    parts: Vec<DatasetPart>,
    groups: Vec<Group>,
    rows: u64,
    cache: Mutex<Cache>,
}

/// Where a row group is, and which positions are in it.
struct Group {
    part: usize,
    in_part: usize,
    positions: Range<u64>,
}

#[derive(Default)]
struct Cache {
    /// Oldest first, by the number of the group.
    decoded: VecDeque<(usize, Arc<RecordBatch>)>,
    /// The newest file that was opened.
    metadata: Option<(usize, ArrowReaderMetadata)>,
}

impl OpenDataset {
    /// Opens a version of a dataset. `None`: there is no such one, or it is not ready.
    ///
    /// # Errors
    /// The database.
    pub async fn open(db: &mut PgConnection, objects: &Objects, id: Uuid) -> store::Result<Option<Self>> {
        let found = datasets::get(db, id).await?;
        Ok(found.and_then(|dataset| Self::of(objects.clone(), dataset)))
    }

    /// `None`: the dataset is not ready.
    pub fn of(objects: Objects, dataset: Dataset) -> Option<Self> {
        let contents = dataset.contents?;
        let names = contents.columns.into_iter().map(|column| column.name).collect();
        Some(Self::new(objects, dataset.id, names, contents.parts))
    }

    pub(super) fn new(objects: Objects, id: Uuid, names: Vec<String>, parts: Vec<DatasetPart>) -> Self {
        let (mut groups, mut rows) = (Vec::new(), 0);
        for (part, file) in parts.iter().enumerate() {
            for (in_part, of_group) in file.groups.iter().enumerate() {
                let end = rows + u64::from(*of_group);
                groups.push(Group { part, in_part, positions: rows..end });
                rows = end;
            }
        }
        Self { shared: Arc::new(Shared { id, names, objects, parts, groups, rows, cache: Mutex::default() }) }
    }

    /// Id of the version.
    pub fn id(&self) -> Uuid {
        self.shared.id
    }

    /// How many rows there are. Their positions are from 0.
    pub fn len(&self) -> u64 {
        self.shared.rows
    }

    pub fn is_empty(&self) -> bool {
        self.shared.rows == 0
    }

    /// Names of the columns, in their order.
    pub fn columns(&self) -> &[String] {
        &self.shared.names
    }

    /// The rows at these positions, each with all columns. Positions behind the last row have none.
    ///
    /// # Errors
    /// The storage, or too many rows at once.
    pub async fn rows(&self, positions: Range<u64>) -> anyhow::Result<Vec<Row>> {
        let wanted = positions.start..positions.end.min(self.shared.rows);
        ensure!(
            wanted.end.saturating_sub(wanted.start) <= MOST_AT_ONCE,
            "at most {MOST_AT_ONCE} rows can be read at once"
        );
        let mut rows = Vec::new();
        let first = self.shared.groups.partition_point(|group| group.positions.end <= wanted.start);
        for number in first..self.shared.groups.len() {
            let of_group = &self.shared.groups[number].positions;
            if of_group.start >= wanted.end {
                break;
            }
            let batch = self.group(number).await?;
            let within = |position: u64| usize::try_from(position - of_group.start);
            let here = within(wanted.start.max(of_group.start))?..within(wanted.end.min(of_group.end))?;
            ensure!(here.end <= batch.num_rows(), "row group {number} of dataset {} is shorter than it was", self.id());
            rows.extend(decode(&batch, here, &self.shared.names)?);
        }
        Ok(rows)
    }

    /// The row at a position.
    ///
    /// # Errors
    /// There is none, or the storage.
    pub async fn row(&self, position: u64) -> anyhow::Result<Row> {
        let rows = self.rows(position..position.saturating_add(1)).await?;
        let missing = || format!("dataset {} has {} rows and none at position {position}", self.id(), self.len());
        rows.into_iter().next().with_context(missing)
    }

    /// A row group, read once for all who wait for it.
    async fn group(&self, number: usize) -> anyhow::Result<Arc<RecordBatch>> {
        let mut cache = self.shared.cache.lock().await;
        if let Some(at) = cache.decoded.iter().position(|(cached, _)| *cached == number)
            && let Some((_, batch)) = cache.decoded.remove(at)
        {
            cache.decoded.push_back((number, Arc::clone(&batch)));
            return Ok(batch);
        }
        let Group { part, in_part, .. } = self.shared.groups[number];
        let DatasetPart { object, bytes, .. } = self.shared.parts[part].clone();
        let metadata = cache.metadata.take().filter(|(cached, _)| *cached == part);
        let file = StoredFile::new(self.shared.objects.clone(), [(object.clone(), bytes)], Handle::current());
        let read = spawn_blocking(move || read(file, metadata.map(|(_, metadata)| metadata), in_part)).await?;
        let (batch, metadata) = read.with_context(|| format!("cannot read {object} of dataset {}", self.id()))?;
        let batch = Arc::new(batch);
        cache.metadata = Some((part, metadata));
        if cache.decoded.len() >= CACHED {
            cache.decoded.pop_front();
        }
        cache.decoded.push_back((number, Arc::clone(&batch)));
        Ok(batch)
    }
}

fn read(
    file: StoredFile,
    metadata: Option<ArrowReaderMetadata>,
    group: usize,
) -> anyhow::Result<(RecordBatch, ArrowReaderMetadata)> {
    let metadata = match metadata {
        Some(metadata) => metadata,
        None => ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?,
    };
    ensure!(group < metadata.metadata().num_row_groups(), "it has fewer row groups than it had");
    let rows = usize::try_from(metadata.metadata().row_group(group).num_rows())?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
    let mut batches = builder.with_row_groups(vec![group]).with_batch_size(rows.max(1)).build()?;
    let batch = batches.next().context("the row group is empty")??;
    Ok((batch, metadata))
}
