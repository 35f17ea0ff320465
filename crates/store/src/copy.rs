//! Rows in PostgreSQL's binary COPY format, the cheapest way into a table.
//! See "Binary Format" in the documentation of COPY.

use chrono::{DateTime, TimeZone, Utc};
use uuid::Uuid;

const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// What types of elements are called in arrays: their oids, which never change.
const INT2: i32 = 21;
const TEXT: i32 = 25;

/// Rows for one COPY.
pub struct Rows {
    bytes: Vec<u8>,
}

impl Rows {
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// With room for so many bytes of rows.
    pub fn with_capacity(bytes: usize) -> Self {
        let mut all = Vec::with_capacity(HEADER.len() + bytes + 2);
        all.extend(HEADER);
        Self { bytes: all }
    }

    /// Begins a row of so many fields, which follow one by one.
    pub fn row(&mut self, fields: i16) -> &mut Self {
        self.bytes.extend(fields.to_be_bytes());
        self
    }

    pub fn uuid(&mut self, value: Uuid) -> &mut Self {
        self.field(value.as_bytes())
    }

    pub fn int(&mut self, value: i32) -> &mut Self {
        self.field(&value.to_be_bytes())
    }

    pub fn small(&mut self, value: Option<i16>) -> &mut Self {
        match value {
            Some(value) => self.field(&value.to_be_bytes()),
            None => self.null(),
        }
    }

    pub fn bool(&mut self, value: Option<bool>) -> &mut Self {
        match value {
            Some(value) => self.field(&[u8::from(value)]),
            None => self.null(),
        }
    }

    pub fn real(&mut self, value: Option<f32>) -> &mut Self {
        match value {
            Some(value) => self.field(&value.to_be_bytes()),
            None => self.null(),
        }
    }

    pub fn smalls(&mut self, values: Option<&[i16]>) -> &mut Self {
        let Some(values) = values else { return self.null() };
        self.array(INT2, &values.iter().map(|value| value.to_be_bytes()).collect::<Vec<_>>())
    }

    pub fn texts(&mut self, values: Option<&[String]>) -> &mut Self {
        let Some(values) = values else { return self.null() };
        self.array(TEXT, values)
    }

    /// Text, and `json`, which is kept as it is written.
    pub fn text(&mut self, value: &str) -> &mut Self {
        self.field(value.as_bytes())
    }

    pub fn optional(&mut self, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(value),
            None => self.null(),
        }
    }

    /// `jsonb`: its text after the number of its format.
    pub fn jsonb(&mut self, value: Option<&str>) -> &mut Self {
        let Some(value) = value else { return self.null() };
        self.length(value.len() + 1);
        self.bytes.push(1);
        self.bytes.extend(value.as_bytes());
        self
    }

    /// Microseconds since the year 2000.
    pub fn time(&mut self, value: DateTime<Utc>) -> &mut Self {
        let epoch = Utc.with_ymd_and_hms(2000, 1, 1, 0, 0, 0).single().unwrap_or_default();
        self.field(&(value - epoch).num_microseconds().unwrap_or_default().to_be_bytes())
    }

    pub fn null(&mut self) -> &mut Self {
        self.bytes.extend((-1_i32).to_be_bytes());
        self
    }

    /// All of it, with the end that says that nothing is missing.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.extend((-1_i16).to_be_bytes());
        self.bytes
    }

    /// One dimension, or none if it is empty: how many there are, whether nulls are among them, of which type they are, how
    /// long the dimension is and where it begins.
    fn array(&mut self, of: i32, values: &[impl AsRef<[u8]>]) -> &mut Self {
        let count = i32::try_from(values.len()).unwrap_or(i32::MAX);
        let head: &[i32] = if values.is_empty() { &[0, 0, of] } else { &[1, 0, of, count, 1] };
        let length = 4 * head.len() + values.iter().map(|value| 4 + value.as_ref().len()).sum::<usize>();
        self.length(length);
        head.iter().for_each(|number| self.bytes.extend(number.to_be_bytes()));
        for value in values {
            self.field(value.as_ref());
        }
        self
    }

    fn field(&mut self, value: &[u8]) -> &mut Self {
        self.length(value.len());
        self.bytes.extend(value);
        self
    }

    /// What is longer than PostgreSQL takes in one field is refused by it, whatever length we say.
    fn length(&mut self, length: usize) {
        self.bytes.extend(i32::try_from(length).unwrap_or(i32::MAX).to_be_bytes());
    }
}
