//! Files become a dataset.

use anyhow::Context as _;
use store::objects::Objects;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::bad_source::SourceError;
use super::files::SourceFile;
pub use super::formats::Options;
use super::formats::{self, CellTypes};
pub use super::writer::Sizes;
use super::writer::{DatasetWriter, RowError, WrittenDataset};
use crate::room::Room;

/// Rows after which progress is told, and it is asked whether it is to go on.
const LOOK: u64 = 256;

/// Where a dataset is written to.
#[derive(Clone)]
pub struct Target {
    pub objects: Objects,
    /// How the paths of its objects begin: no other dataset's do, and no other attempt's.
    pub prefix: String,
    pub room: Room,
    pub sizes: Sizes,
}

/// Reads files in their order and writes all of their rows. `progress` is told how many rows were read so far. What was written
/// is gone again if it fails, or if it is to `stop`; but not if the process dies.
///
/// # Errors
/// [`SourceError`] if a file cannot be read, [`domain::storage::NoRoom`], or the storage.
pub async fn import(
    files: Vec<SourceFile>,
    options: Options,
    target: Target,
    stop: CancellationToken,
    mut progress: impl FnMut(u64) + Send + 'static,
) -> anyhow::Result<WrittenDataset> {
    let runtime = Handle::current();
    let imported = spawn_blocking(move || {
        let mut writer = DatasetWriter::new(target.objects, target.prefix, target.sizes, target.room, runtime);
        let done = copy(&files, &options, &mut writer, &stop, &mut progress).and_then(|()| writer.finish());
        done.inspect_err(|_| writer.abandon())
    });
    imported.await.context("the reader of the files failed; one of them is damaged in a way that it does not know")?
}

fn copy(
    files: &[SourceFile],
    options: &Options,
    writer: &mut DatasetWriter,
    stop: &CancellationToken,
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<()> {
    let mut cell_types = CellTypes::new();
    let name = files.first().map_or("", |file| file.name.as_str());
    writer.columns.declare(&options.columns).map_err(|message| SourceError::whole(name, message))?;
    for file in files {
        for placed in formats::rows(file, options, &mut cell_types)? {
            let placed = placed?;
            match writer.push(placed.row, placed.bytes) {
                Ok(()) => {}
                Err(RowError::Columns(message)) => {
                    return Err(SourceError::new(&file.name, placed.place, message).into());
                }
                Err(RowError::Failed(error)) => return Err(error),
            }
            if writer.rows().is_multiple_of(LOOK) {
                anyhow::ensure!(!stop.is_cancelled(), "it was stopped");
                progress(writer.rows());
            }
        }
        writer.columns.close();
        progress(writer.rows());
    }
    if writer.rows() == 0 {
        return Err(SourceError::whole(name, "there are no rows").into());
    }
    if writer.columns.names.is_empty() {
        return Err(SourceError::whole(name, "the rows have no columns").into());
    }
    Ok(())
}
