//! Supervised fine-tuning at `OpenAI` and Azure, which refuse every key they do not know.

use domain::export::{Arguments, Reasoning, ToolsAs};
use domain::row::Row;

use super::UnfitReason;
use super::message::messages;
use super::object::Object;

pub fn record(row: &Row, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let mut record = Object::new(out);
    record.field("messages", &messages(&row.messages, Reasoning::Drop, Arguments::String)?)?;
    record.tools(&row.tools, ToolsAs::Array);
    if !row.tools.is_empty() {
        record.field("parallel_tool_calls", &true)?;
    }
    record.end();
    Ok(())
}
