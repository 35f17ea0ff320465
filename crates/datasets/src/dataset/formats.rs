//! The formats that rows are read from, a row at a time.

mod csv_rows;
mod json_lines;
mod lines;
mod parquet_rows;
mod sandboxed_parquet;
mod text_lines;
mod unpack;

use std::collections::HashMap;

use sandbox::Sandbox;
use uuid::Uuid;

use super::Row;
use super::bad_source::{Place, SourceError};
use super::cells::CellType;
use super::files::SourceFile;
use super::format::Kind;

/// How files are read.
#[derive(Clone, Default)]
pub struct Options {
    /// All values of CSV files are texts.
    pub csv_as_text: bool,
    /// Columns that are known before the first row. A row need not have any of them.
    pub columns: Vec<String>,
    /// Where formats are decoded that can ask for more than they have, and the project that they are decoded for.
    pub decoder: Sandbox,
    pub project: Uuid,
}

/// What later files must agree with: the types of the columns of CSV files.
pub type CellTypes = HashMap<String, CellType>;

/// A row and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedRow {
    pub place: Place,
    pub row: Row,
    /// Bytes that it takes in its file, or about so many.
    pub bytes: usize,
}

pub use sandboxed_parquet::DecodeParquet;

pub type Rows = Box<dyn Iterator<Item = Result<PlacedRow, SourceError>>>;

/// Reads the rows of a file, in order. What comes after an error means nothing.
///
/// # Errors
/// The file cannot be read at all.
pub fn rows(file: &SourceFile, options: &Options, cell_types: &mut CellTypes) -> Result<Rows, SourceError> {
    let name = file.name.as_str();
    let unpacked = || unpack::reader(&file.contents, file.format.packing).map_err(|e| cannot_read(name, &e));
    Ok(match file.format.kind {
        Kind::JsonLines => Box::new(json_lines::rows(name, unpacked()?)),
        Kind::Text => Box::new(text_lines::rows(name, unpacked()?)),
        Kind::Csv { delimiter } => {
            let shape = csv_rows::Shape { delimiter, as_text: options.csv_as_text };
            Box::new(csv_rows::rows(name, unpacked()?, shape, cell_types)?)
        }
        Kind::Parquet => match &options.decoder {
            Sandbox::InProcess => Box::new(parquet_rows::rows(name, file.contents.clone())?),
            Sandbox::Processes(pool) => {
                Box::new(sandboxed_parquet::rows(name, file.contents.clone(), pool, options.project))
            }
        },
    })
}

fn cannot_read(name: &str, error: &std::io::Error) -> SourceError {
    SourceError::whole(name, format!("cannot be read: {error}"))
}
