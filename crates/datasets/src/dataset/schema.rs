//! The columns of a dataset, as far as its rows were read.

use std::collections::HashMap;

use domain::dataset::{ColumnType, MOST_COLUMNS};
use serde_json::{Number, Value};

use super::Row;

/// Rows whose columns become those of the dataset. A later row may leave columns out, but not bring new ones.
const SAMPLE: u64 = 1_000;

#[derive(Debug, Default)]
pub struct Columns {
    pub names: Vec<String>,
    /// `None`: no value was found yet.
    pub kinds: Vec<Option<ColumnType>>,
    places: HashMap<String, usize>,
    rows: u64,
    closed: bool,
}

impl Columns {
    /// Takes note of columns before the first row.
    ///
    /// # Errors
    /// They cannot be columns: why, for people.
    pub fn declare(&mut self, names: &[String]) -> Result<(), String> {
        names.iter().try_for_each(|name| self.insert(name).map(drop))
    }

    /// Takes note of a row.
    ///
    /// # Errors
    /// Its columns are others: why, for people.
    pub fn add(&mut self, row: &Row) -> Result<(), String> {
        self.closed |= self.rows >= SAMPLE;
        let mut unknown = row.keys().filter(|name| !self.places.contains_key(*name));
        if let Some(name) = unknown.next() {
            let others = !self.names.is_empty() && unknown.count() + 1 == row.len();
            if self.closed || others {
                return Err(self.has_others(name));
            }
        }
        for (name, value) in row {
            let place = match self.places.get(name) {
                Some(place) => *place,
                None => self.insert(name)?,
            };
            if let Some(kind) = kind_of(value) {
                let widened = self.kinds[place].map_or(kind, |known| known.with(kind));
                self.kinds[place] = Some(widened);
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// The file has ended: rows of the next one may not bring columns.
    pub fn close(&mut self) {
        self.closed |= self.rows > 0;
    }

    fn insert(&mut self, name: &str) -> Result<usize, String> {
        if self.names.len() >= MOST_COLUMNS {
            return Err(format!("there are more than the {MOST_COLUMNS} columns that a dataset may have"));
        }
        if let Some(problem) = domain::limits::name_problem(name) {
            let start: String = name.chars().take(40).collect();
            return Err(format!("`{}` cannot be the name of a column: {problem}", start.escape_debug()));
        }
        self.places.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.kinds.push(None);
        Ok(self.names.len() - 1)
    }

    fn has_others(&self, name: &str) -> String {
        const SHOWN: usize = 8;
        let shown = self.names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let more = if self.names.len() > SHOWN { ", ..." } else { "" };
        format!("the column `{name}` is not among the columns of the rows before ({shown}{more})")
    }
}

/// The type that a value asks of its column.
pub fn kind_of(value: &Value) -> Option<ColumnType> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some(ColumnType::Boolean),
        Value::String(_) => Some(ColumnType::Text),
        Value::Number(number) if number.is_i64() => Some(ColumnType::Integer),
        Value::Number(number) if number.is_f64() && fits_a_float(number) => Some(ColumnType::Number),
        // Above 2^63 - 1 a whole number is kept to the digit by JSON alone, and so is a decimal of many digits.
        Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(ColumnType::Json),
    }
}

/// Whether a number has no more digits than a float keeps.
fn fits_a_float(number: &Number) -> bool {
    const MOST_DIGITS: usize = 17;
    let text = number.to_string();
    let digits = text.split(['e', 'E']).next().unwrap_or_default().replace(['-', '.'], "");
    digits.trim_start_matches('0').trim_end_matches('0').len() <= MOST_DIGITS
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(value: Value) -> Row {
        let Value::Object(row) = value else { panic!("expected an object") };
        row
    }

    #[test]
    fn columns_are_those_of_the_first_rows() {
        let mut columns = Columns::default();
        columns.add(&row(json!({"a": 1, "b": null}))).unwrap();
        columns.add(&row(json!({"a": 1.5, "c": [1]}))).unwrap();
        columns.add(&row(json!({}))).unwrap();
        assert_eq!(columns.names, ["a", "b", "c"]);
        assert_eq!(columns.kinds, [Some(ColumnType::Number), None, Some(ColumnType::Json)]);
        let error = columns.add(&row(json!({"x": 1, "y": 1}))).unwrap_err();
        assert_eq!(error, "the column `x` is not among the columns of the rows before (`a`, `b`, `c`)");
        columns.close();
        let error = columns.add(&row(json!({"a": 1, "y": 1}))).unwrap_err();
        assert_eq!(error, "the column `y` is not among the columns of the rows before (`a`, `b`, `c`)");
        columns.add(&row(json!({"b": "text"}))).unwrap();
        assert_eq!(columns.kinds[1], Some(ColumnType::Text));
        columns.add(&row(json!({"b": 7}))).unwrap();
        assert_eq!(columns.kinds[1], Some(ColumnType::Json));
    }

    #[test]
    fn rows_may_have_any_of_the_columns_that_were_declared() {
        let mut columns = Columns::default();
        columns.declare(&["a".to_owned(), "b".to_owned()]).unwrap();
        columns.add(&row(json!({"a": 1}))).unwrap();
        columns.add(&row(json!({"b": "text"}))).unwrap();
        assert_eq!(columns.kinds, [Some(ColumnType::Integer), Some(ColumnType::Text)]);
        let error = columns.add(&row(json!({"c": 1}))).unwrap_err();
        assert_eq!(error, "the column `c` is not among the columns of the rows before (`a`, `b`)");
    }

    #[test]
    fn names_of_columns_are_names() {
        let error = Columns::default().add(&row(json!({"a\nb": 1}))).unwrap_err();
        assert!(error.starts_with("`a\\nb` cannot be the name of a column"), "{error}");
        let wide = (0..=MOST_COLUMNS).map(|i| (i.to_string(), Value::Null)).collect();
        assert!(Columns::default().add(&wide).unwrap_err().contains("more than the 1000 columns"));
    }
}
