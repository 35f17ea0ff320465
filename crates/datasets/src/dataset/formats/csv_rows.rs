//! CSV files: the first line names the columns, and every other record is a row.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::iter::from_fn;

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use domain::dataset::{LONGEST_ROW, MOST_COLUMNS};

use super::{CellTypes, PlacedRow};
use crate::dataset::Row;
use crate::dataset::bad_source::{Place, SourceError};
use crate::dataset::cells::CellType;

/// Records that the types of columns are told by, and bytes of them at most.
const SAMPLE: usize = 1_000;
const SAMPLE_BYTES: usize = 8 << 20;

#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub delimiter: u8,
    pub as_text: bool,
}

/// # Errors
/// The columns have no names.
pub fn rows(
    file: &str,
    from: Box<dyn BufRead>,
    shape: Shape,
    types: &mut CellTypes,
) -> Result<impl Iterator<Item = Result<PlacedRow, SourceError>> + use<>, SourceError> {
    let mut table = Table::new(file, from, shape)?;
    let (mut sample, mut trouble) = (VecDeque::new(), None);
    let mut bytes = 0;
    while sample.len() < SAMPLE && bytes < SAMPLE_BYTES {
        match table.next() {
            Ok(Some(line)) => {
                bytes += line.bytes;
                sample.push_back(line);
            }
            Ok(None) => break,
            Err(error) => {
                trouble = Some(error);
                break;
            }
        }
    }
    for (i, name) in table.names.iter().enumerate() {
        let cells = sample.iter().filter_map(|line| line.cells.get(i)).map(String::as_str);
        let kind = if shape.as_text { CellType::Text } else { CellType::of(cells) };
        types.entry(name.clone()).or_insert(kind);
    }
    let kinds = table.names.iter().map(|name| types.get(name).copied().unwrap_or(CellType::Text));
    let kinds: Vec<CellType> = kinds.collect();
    let mut next = move || {
        let line = match sample.pop_front() {
            Some(line) => line,
            None => match trouble.take() {
                Some(error) => return Err(error),
                None => match table.next()? {
                    Some(line) => line,
                    None => return Ok(None),
                },
            },
        };
        table.row(line, &kinds).map(Some)
    };
    Ok(from_fn(move || next().transpose()).fuse())
}

struct Line {
    number: u64,
    cells: Vec<String>,
    bytes: usize,
}

struct Table {
    file: String,
    reader: Reader<Allowance>,
    record: ByteRecord,
    names: Vec<String>,
    /// The row that was read last, if its last value has several lines: then it stands between quotation marks.
    quoted: Option<u64>,
}

impl Table {
    fn new(file: &str, from: Box<dyn BufRead>, shape: Shape) -> Result<Self, SourceError> {
        let from = Allowance { from, left: LONGEST_ROW, last: None };
        let reader = ReaderBuilder::new().delimiter(shape.delimiter).has_headers(false).from_reader(from);
        let mut table =
            Self { file: file.to_owned(), reader, record: ByteRecord::new(), names: Vec::new(), quoted: None };
        let header = table
            .next()?
            .ok_or_else(|| SourceError::whole(file, "it is empty; the first line must name the columns"))?;
        table.names = header.cells;
        if let Some(first) = table.names.first_mut() {
            *first = first.trim_start_matches('\u{feff}').to_owned();
        }
        match table.wrong_names() {
            Some(message) => Err(SourceError::new(file, Place::Line(1), message)),
            None => Ok(table),
        }
    }

    fn wrong_names(&self) -> Option<String> {
        if self.names.len() > MOST_COLUMNS {
            return Some(format!("it names {} columns, and a dataset may have {MOST_COLUMNS}", self.names.len()));
        }
        self.names.iter().enumerate().find_map(|(i, name)| {
            if name.is_empty() {
                return Some(format!("column {} has no name", i + 1));
            }
            self.names[..i].contains(name).then(|| format!("the column `{name}` is named twice"))
        })
    }

    fn next(&mut self) -> Result<Option<Line>, SourceError> {
        self.reader.get_mut().left = LONGEST_ROW;
        let read = self.reader.read_byte_record(&mut self.record);
        let line = self.record.position().map_or(self.reader.position().line(), csv::Position::line);
        match read {
            Ok(false) => return self.end().map(|()| None),
            Ok(true) => {}
            Err(error) => return Err(self.failed(line, &error)),
        }
        let has_lines = self.record.iter().next_back().is_some_and(|cell| cell.contains(&b'\n'));
        self.quoted = has_lines.then_some(line);
        let text = |(i, cell): (usize, &[u8])| {
            let text = std::str::from_utf8(cell).map_err(|e| format!("it is not UTF-8 text: {e}"))?;
            if text.contains('\0') {
                // The first line has no columns yet.
                let column = self.names.get(i).map(|name| format!(" (column `{name}`)")).unwrap_or_default();
                return Err(format!("a text holds the character U+0000{column}"));
            }
            Ok(text.to_owned())
        };
        let cells = self.record.iter().enumerate().map(text).collect::<Result<Vec<_>, _>>();
        let cells = cells.map_err(|message| SourceError::new(&self.file, Place::Line(line), message))?;
        Ok(Some(Line { number: line, bytes: self.record.as_slice().len() + cells.len(), cells }))
    }

    /// A quotation mark that is open at the end has made one value of all that follows it.
    fn end(&self) -> Result<(), SourceError> {
        let Some(line) = self.quoted.filter(|_| self.reader.get_ref().last != Some(b'"')) else { return Ok(()) };
        let message = "a quotation mark is opened in this row and never closed, so all rows behind it are one value";
        Err(SourceError::new(&self.file, Place::Line(line), message))
    }

    fn failed(&self, line: u64, error: &csv::Error) -> SourceError {
        let line = error.position().map_or(line, csv::Position::line);
        let message = match error.kind() {
            ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("the row has {len} values, and the first line names {expected_len} columns")
            }
            ErrorKind::Io(error) => format!("cannot be read: {error}"),
            _ => error.to_string(),
        };
        SourceError::new(&self.file, Place::Line(line), message)
    }

    fn row(&self, line: Line, kinds: &[CellType]) -> Result<PlacedRow, SourceError> {
        let place = Place::Line(line.number);
        let mut row = Row::new();
        for ((name, cell), kind) in self.names.iter().zip(line.cells).zip(kinds) {
            let value = kind.read(&cell).ok_or_else(|| {
                let cell: String = cell.chars().take(40).collect();
                let message = format!(
                    "the column `{name}` holds {} in the rows before, and `{cell}` is none; mend it, or read all values \
                     as texts (csv_as_text)",
                    kind.described()
                );
                SourceError::new(&self.file, place, message)
            })?;
            row.insert(name.clone(), value);
        }
        Ok(PlacedRow { place, row, bytes: line.bytes })
    }
}

/// A record whose quotation marks are not closed would be read into memory to the end of the file.
struct Allowance {
    from: Box<dyn BufRead>,
    left: usize,
    /// The last byte so far that ends no line.
    last: Option<u8>,
}

impl Read for Allowance {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            let message =
                format!("a row is longer than the {LONGEST_ROW} bytes that it may have; is a quotation mark open?");
            return Err(io::Error::other(message));
        }
        let n = self.from.read(to)?;
        self.last = to[..n].iter().rev().find(|byte| !matches!(byte, b'\n' | b'\r')).copied().or(self.last);
        self.left = self.left.saturating_sub(n);
        Ok(n)
    }
}
