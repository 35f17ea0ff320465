//! Values of CSV files: texts that may be written numbers or booleans.

use serde_json::{Number, Value};

/// What all cells of a column can be read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    Integer,
    Number,
    Boolean,
    Text,
}

impl CellType {
    /// The strictest type that reads all of these cells; empty ones are no values.
    pub fn of<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Self {
        let all = |kind: Self| cells.clone().all(|cell| kind.read(cell).is_some());
        if cells.clone().all(str::is_empty) {
            return Self::Text;
        }
        [Self::Integer, Self::Number, Self::Boolean].into_iter().find(|kind| all(*kind)).unwrap_or(Self::Text)
    }

    /// The value of a cell; `None` if it cannot be read so. A number must be written as the same text again, so that `007` and
    /// long ids stay texts.
    pub fn read(self, cell: &str) -> Option<Value> {
        if cell.is_empty() {
            return Some(Value::Null);
        }
        match self {
            Self::Text => Some(Value::String(cell.to_owned())),
            Self::Boolean => match cell {
                "true" | "True" | "TRUE" => Some(true.into()),
                "false" | "False" | "FALSE" => Some(false.into()),
                _ => None,
            },
            Self::Integer => cell.parse::<i64>().ok().filter(|n| n.to_string() == cell).map(Value::from),
            Self::Number => number(cell),
        }
    }

    pub fn described(self) -> &'static str {
        match self {
            Self::Integer => "whole numbers",
            Self::Number => "numbers",
            Self::Boolean => "booleans",
            Self::Text => "texts",
        }
    }
}

fn number(cell: &str) -> Option<Value> {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let whole = digits.find(|c: char| !c.is_ascii_digit()).map_or(digits, |end| &digits[..end]);
    let plain = !whole.is_empty() && (whole == "0" || !whole.starts_with('0'));
    if !plain || (whole.len() == digits.len() && whole.len() > 18) {
        return None;
    }
    Number::from_f64(cell.parse().ok()?).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_as_what_all_of_them_are() {
        use CellType::{Boolean, Integer, Number, Text};
        for (cells, kind) in [
            (&["1", "-20", "", "0"][..], Integer),
            (&["1", "2.5", "1e3", "-0.5"], Number),
            (&["true", "FALSE", ""], Boolean),
            (&["007", "1"], Text),
            (&["12345678901234567890"], Text),
            (&["1", "true"], Text),
            (&["+1"], Text),
            (&["nan"], Text),
            (&["", ""], Text),
        ] {
            assert_eq!(CellType::of(cells.iter().copied()), kind, "{cells:?}");
        }
        assert_eq!(Number.read("2.50"), Some(2.5.into()));
        assert_eq!((Integer.read(""), Integer.read("x")), (Some(Value::Null), None));
    }
}
