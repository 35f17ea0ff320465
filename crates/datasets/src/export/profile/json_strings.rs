//! Arguments, tools and metadata as JSON text: columns of one type each, whatever the tools are like.

use domain::export::{Arguments, Shape, ToolsAs};
use domain::row::Row;

use super::message::messages;
use super::object::Object;
use super::{Columns, UnfitReason};
use crate::export::columns::{list, structure, text};

pub fn record(shape: &Shape, row: &Row, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let mut record = Object::new(out);
    record.field("messages", &messages(&row.messages, shape.reasoning, Arguments::String)?)?;
    record.tools(&row.tools, ToolsAs::Json);
    record.text_of("metadata", &row.metadata)?;
    record.end();
    Ok(())
}

pub fn columns() -> Columns {
    let function = structure("function", [text("name"), text("arguments")]);
    let call = structure("item", [text("id"), text("type"), function]);
    let message =
        [text("role"), text("content"), text("reasoning_content"), list("tool_calls", call), text("tool_call_id")];
    Columns::new([list("messages", structure("item", message)), text("tools"), text("metadata")])
}
