//! The canonical row, as it is.

use domain::export::{Arguments, Reasoning, Shape, ToolsAs};
use domain::row::Row;

use super::message::messages;
use super::object::Object;
use super::{UnfitReason, never};

pub fn record(shape: &Shape, row: &Row, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    if (shape.reasoning, shape.tools) == (Reasoning::Keep, ToolsAs::Array) {
        return row.write(out).map_err(never);
    }
    let mut record = Object::new(out);
    record.field("messages", &messages(&row.messages, shape.reasoning, Arguments::String)?)?;
    match shape.tools {
        ToolsAs::Array => record.json("tools", row.tools.json()),
        ToolsAs::Json => record.json("tools", row.tools.json_text()),
    }
    record.field("metadata", &row.metadata)?;
    record.end();
    Ok(())
}
