//! A JSON object that is written field by field, so that JSON that is there already need not be read to be written.

use domain::export::ToolsAs;
use domain::row::Tools;
use serde::Serialize;

use super::{UnfitReason, never};

pub struct Object<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Object<'a> {
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    pub fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), UnfitReason> {
        serde_json::to_writer(self.value(name), value).map_err(never)
    }

    /// A value whose JSON is there.
    pub fn json(&mut self, name: &str, json: &str) {
        self.value(name).extend_from_slice(json.as_bytes());
    }

    /// The value's JSON, as a text.
    pub fn text_of(&mut self, name: &str, value: &impl Serialize) -> Result<(), UnfitReason> {
        let json = serde_json::to_string(value).map_err(never)?;
        self.field(name, &json)
    }

    /// Several chat templates print boilerplate for an empty list, so that then there is no field.
    pub fn tools(&mut self, tools: &Tools, how: ToolsAs) {
        match how {
            _ if tools.is_empty() => {}
            ToolsAs::Array => self.json("tools", tools.json()),
            ToolsAs::Json => self.json("tools", tools.json_text()),
        }
    }

    pub fn end(self) {
        self.out.push(b'}');
    }

    /// Where the value of a field is to be written. Names are ours and need no escaping.
    fn value(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.empty) {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }
}
