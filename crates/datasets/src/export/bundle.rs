//! A bundle for the Hugging Face Hub: the data with a card and Croissant, as a folder or as one zip.
//!
//! Zip and not tar: every system opens it without a tool, its listing stands at the end, so that it can be written in one
//! pass and a single file can be read from it, and Python reads it from the standard library.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, IntoInnerError};
use std::path::{Path, PathBuf};

use domain::export::ExportReport;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::contents::Order;
use super::part::{HashedFile, Sum};
use super::{card, croissant, private};
use crate::room::Room;

const BUFFER: usize = 1 << 20;

/// Writes the card and the Croissant description beside the data.
pub fn describe(order: &Order, report: &ExportReport, folder: &Path) -> anyhow::Result<()> {
    private::write(&folder.join("README.md"), card::text(order, report))?;
    let croissant = serde_json::to_vec_pretty(&croissant::document(order, report))?;
    Ok(private::write(&folder.join("croissant.json"), croissant)?)
}

/// All files of a folder in one archive, hashed as it is written. The same files give the same bytes.
pub fn zip(folder: &Path, out: &Path, room: Room) -> anyhow::Result<Sum> {
    let to = BufWriter::with_capacity(BUFFER, HashedFile::new(private::file(out)?, room));
    let mut zip = ZipWriter::new_stream(to);
    for path in files(folder)? {
        let mut file = BufReader::with_capacity(BUFFER, File::open(folder.join(&path))?);
        let packed = path.extension().is_some_and(|end| end == "parquet");
        let options = SimpleFileOptions::default()
            .compression_method(if packed { CompressionMethod::Stored } else { CompressionMethod::Deflated })
            .compression_level((!packed).then_some(1))
            .large_file(true);
        zip.start_file(path.to_string_lossy(), options)?;
        io::copy(&mut file, &mut zip)?;
    }
    zip.finish()?.into_inner().into_inner().map_err(IntoInnerError::into_error)?.finish()
}

/// The files of a folder, by their paths within it, in order.
fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder)?.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}
