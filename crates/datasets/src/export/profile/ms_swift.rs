//! ms-swift: messages with calls as they are, reasoning within the content, and tools as JSON text. Other keys it deletes.

use domain::export::{Shape, ToolsAs};
use domain::row::Row;

use super::UnfitReason;
use super::message::messages;
use super::object::Object;

pub fn record(shape: &Shape, row: &Row, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let mut record = Object::new(out);
    record.field("messages", &messages(&row.messages, shape.reasoning, shape.arguments)?)?;
    record.tools(&row.tools, ToolsAs::Json);
    record.end();
    Ok(())
}
