//! Prompts for reinforcement learning with verl: what was said before the agent first spoke, and what the accepted
//! conversation came to, for the reward.

use arrow_schema::Field;
use domain::export::ToolsAs;
use domain::message::Message;
use domain::row::Row;
use serde_json::{Value, json};

use super::object::Object;
use super::{Columns, Place, UnfitReason};
use crate::export::columns::{boolean, integer, list, structure, text};

pub fn record(row: &Row, place: Place, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let metadata = &row.metadata;
    let extra = json!({
        "index": place.index, "split": place.split, "id": metadata.id, "need_tools_kwargs": false,
        "tool_selection": row.tools.names().collect::<Vec<_>>(),
        "metadata": serde_json::to_string(metadata).map_err(super::never)?,
    });
    prompt(row, &truth(row), &extra, out)
}

/// A record with the prompt of a row.
pub fn prompt(row: &Row, truth: &Value, extra: &Value, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let first = row.messages.iter().position(|message| matches!(message, Message::Assistant { .. }));
    let prompt = &row.messages[..first.ok_or("the agent says nothing")?];
    if !matches!(prompt.last(), Some(Message::User { .. })) {
        return Err("the agent speaks before the user".to_owned());
    }
    let mut record = Object::new(out);
    record.field("data_source", &format!("groundstate/{}", row.metadata.playbook.name))?;
    record.field("agent_name", "tool_agent")?;
    record.field("prompt", prompt)?;
    record.field("ability", "tool_use")?;
    record.field("reward_model", &json!({"style": "rule", "ground_truth": truth.to_string()}))?;
    record.field("extra_info", extra)?;
    record.tools(&row.tools, ToolsAs::Json);
    record.end();
    Ok(())
}

/// The result of a conversation.
pub fn truth(row: &Row) -> Value {
    let metadata = &row.metadata;
    json!({
        "scenario": metadata.scenario.id, "scenario_version": metadata.scenario.version, "world": metadata.world,
        "calls": calls(row), "last": row.messages.last().map(Message::content),
    })
}

/// What the agent called, in order.
fn calls(row: &Row) -> Vec<Value> {
    let calls = row.messages.iter().flat_map(|message| match message {
        Message::Assistant { tool_calls, .. } => tool_calls.as_slice(),
        _ => &[],
    });
    calls.map(|call| json!({"name": call.name(), "arguments": call.function.arguments})).collect()
}

pub fn columns() -> Columns {
    columns_with([])
}

/// `more`: fields of `extra_info` that only some records have.
pub fn columns_with(more: impl IntoIterator<Item = Field>) -> Columns {
    let message = structure("item", [text("role"), text("content")]);
    let reward = structure("reward_model", [text("style"), text("ground_truth")]);
    let extra = [
        integer("index"),
        text("split"),
        text("id"),
        boolean("need_tools_kwargs"),
        list("tool_selection", text("item")),
        text("metadata"),
    ];
    let extra = structure("extra_info", extra.into_iter().chain(more));
    let names = [text("data_source"), text("agent_name")];
    let rest = [list("prompt", message), text("ability"), reward, extra, text("tools")];
    Columns::new(names.into_iter().chain(rest))
}
