//! Rows become the documents of an index, in a folder of this machine.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, anyhow, ensure};
use domain::dataset::IndexColumns;
use serde_json::Value;
use tantivy::{Index, IndexWriter, TantivyDocument};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::schema::IndexFields;
use crate::dataset::{OpenDataset, Row};
use crate::room::Room;

/// Rows that are read at once.
const PAGE: u64 = 1_024;
/// Memory of the documents that are not on disk yet, in bytes.
const MEMORY: usize = 64 << 20;

/// What an index is built of.
pub struct Order {
    pub dataset: OpenDataset,
    pub columns: IndexColumns,
    pub room: Room,
}

/// Writes an index into an empty folder and returns how many documents it has. It waits for the disk, so it must be called by a
/// blocking thread.
///
/// # Errors
/// The dataset has no such columns or cannot be read, the disk, no room, or it is to stop.
pub fn build(
    order: &Order,
    folder: &Path,
    runtime: &Handle,
    stop: &CancellationToken,
    progress: &dyn Fn(u64),
) -> anyhow::Result<u64> {
    let columns = Columns::of(&order.columns, order.dataset.columns())?;
    let fields = IndexFields::new();
    let index = Index::create_in_dir(folder, fields.schema.clone())?;
    let mut writer: IndexWriter = index.writer_with_num_threads(1, MEMORY)?;
    let (mut next, rows) = (0, order.dataset.len());
    while next < rows {
        ensure!(!stop.is_cancelled(), "it was stopped");
        let page = runtime.block_on(order.dataset.rows(next..rows.min(next + PAGE)))?;
        for (row, position) in page.iter().zip(next..) {
            writer.add_document(document(&fields, &columns, row, position))?;
        }
        next += page.len() as u64;
        progress(next);
        order.room.check(0, size(folder)?)?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    order.room.check(0, size(folder)?)?;
    Ok(rows)
}

/// Names of the columns that are there.
struct Columns {
    id: Option<String>,
    title: Option<String>,
    text: String,
    url: Option<String>,
}

impl Columns {
    fn of(wanted: &IndexColumns, there: &[String]) -> anyhow::Result<Self> {
        let usual = IndexColumns::default();
        let find = |name: &String, usual: &String, what: &str| {
            if there.contains(name) {
                return Ok(Some(name.clone()));
            }
            // Only the usual columns may be missing.
            if name == usual { Ok(None) } else { Err(anyhow!("the dataset has no column `{name}` for the {what}")) }
        };
        let missing =
            || format!("the dataset has no column `{}`, which is to be searched; name one with --text", wanted.text);
        Ok(Self {
            id: find(&wanted.id, &usual.id, "id")?,
            title: find(&wanted.title, &usual.title, "title")?,
            text: find(&wanted.text, &usual.text, "text")?.with_context(missing)?,
            url: find(&wanted.url, &usual.url, "url")?,
        })
    }
}

fn document(fields: &IndexFields, columns: &Columns, row: &Row, position: u64) -> TantivyDocument {
    let text = |name: &Option<String>| name.as_ref().and_then(|name| row.get(name)).and_then(as_text);
    let mut document = TantivyDocument::new();
    document.add_text(fields.id, text(&columns.id).unwrap_or_else(|| position.to_string()));
    document.add_text(fields.text, row.get(&columns.text).and_then(as_text).unwrap_or_default());
    for (field, value) in [(fields.title, text(&columns.title)), (fields.url, text(&columns.url))] {
        if let Some(value) = value {
            document.add_text(field, value);
        }
    }
    document
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn size(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        // Files of segments that were merged go at any time.
        bytes += entry?.metadata().map_or(0, |file| file.len());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_were_named_must_be_there() {
        let there = ["id", "body"].map(str::to_owned);
        let told = |wanted: IndexColumns| Columns::of(&wanted, &there).err().map(|error| error.to_string());
        let body = IndexColumns { text: "body".to_owned(), ..IndexColumns::default() };
        assert_eq!(told(body.clone()), None);
        assert_eq!(
            told(IndexColumns::default()).unwrap(),
            "the dataset has no column `text`, which is to be searched; name one with --text"
        );
        let named = IndexColumns { title: "name".to_owned(), ..body };
        assert_eq!(told(named).unwrap(), "the dataset has no column `name` for the title");
    }
}
