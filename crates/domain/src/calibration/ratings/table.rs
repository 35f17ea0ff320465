//! What CSV and JSON have in common: named columns and rows of texts.

/// More than any judge has criteria; rows take memory for each of them.
pub const MAX_COLUMNS: usize = 200;

pub struct Table {
    /// 1-based line of the header; 0 if each row names its columns itself.
    pub header: usize,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
}

pub struct Row {
    /// 1-based.
    pub line: usize,
    /// In the order of the columns, without white space around them; what is not there is empty.
    pub cells: Vec<String>,
}
