//! TRL (from 0.27 with tools as JSON text) and, with tools as an array, `NeMo`. Arguments are objects: most chat templates
//! would encode a text twice.

use domain::export::Shape;
use domain::row::Row;

use super::UnfitReason;
use super::message::messages;
use super::object::Object;

pub fn record(shape: &Shape, row: &Row, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let mut record = Object::new(out);
    record.field("messages", &messages(&row.messages, shape.reasoning, shape.arguments)?)?;
    record.tools(&row.tools, shape.tools);
    record.text_of("metadata", &row.metadata)?;
    record.end();
    Ok(())
}
