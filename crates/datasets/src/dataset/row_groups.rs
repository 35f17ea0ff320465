//! Rows as Arrow columns, and back.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use domain::dataset::ColumnType;
use serde_json::{Number, Value};

use super::Row;
use super::schema::kind_of;

/// Which texts are JSON: the name of Arrow's extension type, so that others see it, too.
const EXTENSION: &str = "ARROW:extension:name";
const JSON: &str = "arrow.json";

/// How columns lie in a file. What has no value yet is kept as JSON, which holds any.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    names: Vec<String>,
    kinds: Vec<ColumnType>,
    schema: SchemaRef,
}

impl Layout {
    pub fn new(names: &[String], kinds: &[Option<ColumnType>]) -> Self {
        let kinds: Vec<ColumnType> = kinds.iter().map(|kind| kind.unwrap_or(ColumnType::Json)).collect();
        let fields: Vec<Field> = names.iter().zip(&kinds).map(|(name, kind)| field(name, *kind)).collect();
        Self { names: names.to_vec(), kinds, schema: Arc::new(Schema::new(fields)) }
    }

    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Whether all values of these columns can be kept.
    pub fn holds(&self, names: &[String], kinds: &[Option<ColumnType>]) -> bool {
        let holds = |(own, kind): (&ColumnType, &Option<ColumnType>)| {
            *own == ColumnType::Json || kind.is_none_or(|kind| own.with(kind) == *own)
        };
        self.names.len() == names.len() && self.kinds.iter().zip(kinds).all(holds)
    }

    /// # Errors
    /// A value is not of the type of its column.
    pub fn encode(&self, rows: &[Row]) -> anyhow::Result<RecordBatch> {
        let columns = self.names.iter().zip(&self.kinds).map(|(name, kind)| {
            let values = rows.iter().map(|row| row.get(name).filter(|value| !value.is_null()));
            column(*kind, values).with_context(|| format!("column `{name}`"))
        });
        Ok(RecordBatch::try_new(self.schema(), columns.collect::<anyhow::Result<_>>()?)?)
    }
}

fn field(name: &str, kind: ColumnType) -> Field {
    let of = |kind| Field::new(name, kind, true);
    match kind {
        ColumnType::Text => of(DataType::Utf8),
        ColumnType::Integer => of(DataType::Int64),
        ColumnType::Number => of(DataType::Float64),
        ColumnType::Boolean => of(DataType::Boolean),
        ColumnType::Json => of(DataType::Utf8).with_metadata(HashMap::from([(EXTENSION.to_owned(), JSON.to_owned())])),
    }
}

fn column<'a>(kind: ColumnType, values: impl Iterator<Item = Option<&'a Value>>) -> anyhow::Result<ArrayRef> {
    fn fits<T>(value: Option<&Value>, read: impl Fn(&Value) -> Option<T>) -> anyhow::Result<Option<T>> {
        let Some(value) = value else { return Ok(None) };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => bail!("a value of type {:?} does not fit", kind_of(value)),
        }
    }
    Ok(match kind {
        ColumnType::Text => {
            let mut array = StringBuilder::new();
            for value in values {
                let Some(value) = value else {
                    array.append_null();
                    continue;
                };
                array.append_value(value.as_str().context("a value is no text")?);
            }
            Arc::new(array.finish())
        }
        ColumnType::Json => {
            let mut array = StringBuilder::new();
            for value in values {
                array.append_option(value.map(Value::to_string));
            }
            Arc::new(array.finish())
        }
        ColumnType::Integer => {
            let mut array = Int64Builder::new();
            for value in values {
                array.append_option(fits(value, Value::as_i64)?);
            }
            Arc::new(array.finish())
        }
        ColumnType::Number => {
            let mut array = Float64Builder::new();
            for value in values {
                array.append_option(fits(value, Value::as_f64)?);
            }
            Arc::new(array.finish())
        }
        ColumnType::Boolean => {
            let mut array = BooleanBuilder::new();
            for value in values {
                array.append_option(fits(value, Value::as_bool)?);
            }
            Arc::new(array.finish())
        }
    })
}

/// Some rows of a batch, with all of these columns, in their order.
///
/// # Errors
/// The batch is not one that [`Layout::encode`] made.
pub fn decode(batch: &RecordBatch, rows: std::ops::Range<usize>, names: &[String]) -> anyhow::Result<Vec<Row>> {
    let mut decoded: Vec<Row> = rows.clone().map(|_| Row::new()).collect();
    for name in names {
        let found = batch.schema_ref().column_with_name(name);
        for (row, i) in decoded.iter_mut().zip(rows.clone()) {
            let value = match found {
                Some((place, field)) => value(batch.column(place), field, i)?,
                None => Value::Null,
            };
            row.insert(name.clone(), value);
        }
    }
    Ok(decoded)
}

fn value(column: &ArrayRef, field: &Field, i: usize) -> anyhow::Result<Value> {
    if column.is_null(i) {
        return Ok(Value::Null);
    }
    let any = column.as_any();
    if let Some(texts) = any.downcast_ref::<StringArray>() {
        let text = texts.value(i);
        let is_json = field.metadata().get(EXTENSION).is_some_and(|name| name == JSON);
        return if is_json { Ok(serde_json::from_str(text)?) } else { Ok(Value::String(text.to_owned())) };
    }
    if let Some(numbers) = any.downcast_ref::<Int64Array>() {
        return Ok(numbers.value(i).into());
    }
    if let Some(numbers) = any.downcast_ref::<Float64Array>() {
        return Number::from_f64(numbers.value(i)).map(Value::Number).context("a number is not finite");
    }
    if let Some(booleans) = any.downcast_ref::<BooleanArray>() {
        return Ok(booleans.value(i).into());
    }
    bail!("the column `{}` is of the type {}, which no dataset has", field.name(), field.data_type())
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
    fn rows_come_back_as_they_were() {
        use ColumnType::{Boolean, Integer, Number, Text};
        let names = ["t", "i", "n", "b", "j"].map(str::to_owned);
        let layout = Layout::new(&names, &[Some(Text), Some(Integer), Some(Number), Some(Boolean), None]);
        let rows = vec![
            row(json!({"t": "ä\n", "i": i64::MIN, "n": 1.5, "b": true, "j": {"z": [1, null], "a": "\""}})),
            row(json!({"t": null, "i": null, "n": null, "b": null, "j": null})),
            row(json!({"t": "", "i": 0, "n": -0.25, "b": false, "j": u64::MAX})),
        ];
        let batch = layout.encode(&rows).unwrap();
        assert_eq!(decode(&batch, 0..3, &names).unwrap(), rows);
        assert_eq!(
            decode(&batch, 2..3, &["b".to_owned(), "x".to_owned()]).unwrap(),
            [row(json!({"b": false, "x": null}))]
        );
        assert!(layout.encode(&[row(json!({"i": "text"}))]).is_err());
        assert_eq!(layout.encode(&[Row::new()]).unwrap().num_rows(), 1);
    }

    #[test]
    fn a_layout_holds_what_is_narrower() {
        use ColumnType::{Integer, Json, Number, Text};
        let name = ["a".to_owned()];
        let holds = |own, kind| Layout::new(&name, &[own]).holds(&name, &[kind]);
        assert!(holds(Some(Number), Some(Integer)) && holds(None, Some(Text)) && holds(Some(Text), None));
        assert!(!holds(Some(Integer), Some(Number)) && !holds(Some(Text), Some(Json)));
        assert!(!Layout::new(&name, &[None]).holds(&["a".to_owned(), "b".to_owned()], &[None, None]));
    }
}
