//! Ratings as RFC 4180 has them: commas, quotation marks, a header.

use csv::{Position, ReaderBuilder, StringRecord, Trim};

use super::Problems;
use super::table::{MAX_COLUMNS, Row, Table};

pub fn table(text: &str, problems: &mut Problems) -> Option<Table> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).from_reader(text.as_bytes());
    let mut records = reader.records().map_while(Result::ok);
    let Some(header) = records.next() else {
        problems.add(0, "", "is empty; its first line names the columns".to_owned());
        return None;
    };
    let mut lines = Lines { text, byte: 0, line: 1 };
    let first = lines.of(&header);
    if let (1, Some(found)) = (header.len(), header[0].chars().find(|c| matches!(c, ';' | '\t'))) {
        problems.add(first, "", format!("columns are separated by commas, found {found:?}"));
        return None;
    }
    if header.len() > MAX_COLUMNS {
        problems.add(first, "", format!("has {} columns; at most {MAX_COLUMNS} are read", header.len()));
        return None;
    }
    let columns: Vec<String> = header.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in records {
        let line = lines.of(&record);
        if record.len() == columns.len() {
            rows.push(Row { line, cells: record.iter().map(str::to_owned).collect() });
        } else {
            problems.add(line, "", format!("has {} cells, the header has {}", record.len(), columns.len()));
        }
    }
    Some(Table { header: first, columns, rows })
}

/// Finds lines by bytes, in rising order: the reader's own count is off after CRLF and empty lines.
struct Lines<'a> {
    text: &'a str,
    byte: usize,
    line: usize,
}

impl Lines<'_> {
    /// Where the record begins, past the line ends before it.
    fn of(&mut self, record: &StringRecord) -> usize {
        let start = record.position().map_or(0, |at: &Position| usize::try_from(at.byte()).unwrap_or_default());
        let rest = self.text.as_bytes().iter().enumerate().skip(self.byte);
        let passed = rest.take_while(|(at, byte)| *at < start || matches!(byte, b'\r' | b'\n'));
        for (at, byte) in passed {
            self.byte = at + 1;
            self.line += usize::from(*byte == b'\n');
        }
        self.line
    }
}
