//! Preference pairs for `OpenAI`, Azure, Together and Fireworks, which take one message of the assistant a side: the first
//! one in which both differ.

use domain::export::{Arguments, Reasoning, ToolsAs};
use domain::message::Message;

use super::message::messages;
use super::object::Object;
use super::{Pair, UnfitReason, never};

pub fn record(pair: &Pair<'_>, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let [preferred, other] = pair.sides().map(first);
    let (preferred, other) = (preferred?, other?);
    if preferred == other {
        return Err("its sides differ only in reasoning, which is left out".to_owned());
    }
    let mut record = Object::new(out);
    record.json("input", &input(pair)?);
    record.json("preferred_output", &preferred);
    record.json("non_preferred_output", &other);
    record.end();
    Ok(())
}

fn input(pair: &Pair<'_>) -> Result<String, UnfitReason> {
    let mut out = Vec::new();
    let mut input = Object::new(&mut out);
    input.field("messages", &messages(pair.prompt(), Reasoning::Drop, Arguments::String)?)?;
    input.tools(&pair.chosen.tools, ToolsAs::Array);
    if !pair.chosen.tools.is_empty() {
        input.field("parallel_tool_calls", &true)?;
    }
    input.end();
    String::from_utf8(out).map_err(|error| error.to_string())
}

fn first(side: &[Message]) -> Result<String, UnfitReason> {
    let written = messages(side.get(..1).unwrap_or_default(), Reasoning::Drop, Arguments::String)?;
    serde_json::to_string(&written).map_err(never)
}
