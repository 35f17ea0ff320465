//! Traces as `verifiers` 0.4 and prime-rl read them: a line for each sample, in which the messages are nodes of a tree, each with its
//! parent. Samples of one start have one group. A message of the agent holds the tokens since its last one, and what it sampled of them; if
//! its prompt does not extend the turn before, the tree has a branch for it.

use std::borrow::Cow;

use domain::export::Shape;
use serde_json::{Map, Value, json};

use super::message::{CallArguments, TrainerMessage, messages};
use super::tokens::{Sequence, policy_versions, sequences};
use super::{Group, GroupSample, UnfitReason, metrics, never};

/// The name of our reward in the `rewards` of a trace.
const REWARD: &str = "groundstate";

pub fn records(shape: &Shape, group: &Group<'_>, out: &mut Vec<u8>) -> Result<usize, UnfitReason> {
    for (place, sample) in group.samples.iter().enumerate() {
        if place > 0 {
            out.push(b'\n');
        }
        let line = episode(shape, group, sample)?;
        serde_json::to_writer(&mut *out, &line).map_err(never)?;
    }
    Ok(group.samples.len())
}

fn episode(shape: &Shape, group: &Group<'_>, sample: &GroupSample) -> Result<Value, UnfitReason> {
    let (row, metadata) = (&sample.row, &sample.row.metadata);
    let key = format!("{}/{}", metadata.scenario.id, metadata.seed.repeat);
    let data = json!({
        "id": key, "name": metadata.scenario.id, "split": group.split, "playbook": &*metadata.playbook,
        "persona": metadata.persona.profile,
    });
    let task = json!({"type": "GroundstateTask", "data": data, "key": key});
    let written = messages(&row.messages, shape.reasoning, shape.arguments)?;
    let sequences = row.sampled.as_deref().and_then(sequences);
    let nodes = match &sequences {
        Some(sequences) => branches(&written, sequences),
        None => written.iter().enumerate().map(|(place, message)| node(message, place.checked_sub(1))).collect(),
    };
    let tools: Vec<Value> = serde_json::from_str(row.tools.json()).map_err(never)?;
    // A reward cannot be null there: what has none is an episode that is not ok.
    let rewards = sample.reward.map_or_else(Map::new, |reward| {
        Map::from_iter([(REWARD.to_owned(), json!({"score": f64::from(reward), "weight": 1.0}))])
    });
    let errors = if sample.reward.is_none() {
        vec![json!({"type": "Unscorable", "message": format!("{}: {}", metadata.blame, metadata.reason)})]
    } else {
        Vec::new()
    };
    let mut info = json!({
        "ending": metadata.ending, "blame": metadata.blame, "reason": metadata.reason, "off_policy": sequences.is_none(),
        "sample": sample.number,
    });
    if let Some(turns) = row.sampled.as_deref().filter(|_| sequences.is_some()) {
        info["policy_versions"] = json!(policy_versions(turns));
    }
    let trace = json!({
        "task": task,
        "agent": {"config": {"model": metadata.played.models.get("agent")}},
        "tools": tools.iter().map(tool).collect::<Vec<_>>(),
        "nodes": nodes,
        "rewards": rewards,
        "metrics": metrics(sample),
        "info": info,
        "is_completed": true,
        "ok": true,
        "stop_condition": if row.penalties.truncated { "max_turns" } else { "user_closed" },
    });
    Ok(json!({
        "id": metadata.id, "task": task, "group": {"id": group.id}, "ok": sample.reward.is_some(), "errors": errors,
        "traces": [trace],
    }))
}

/// A branch for each sequence: all messages up to its last turn, those that are not of its turns as context.
fn branches(written: &[TrainerMessage<'_>], sequences: &[Sequence<'_>]) -> Vec<Value> {
    let (mut nodes, mut before) = (Vec::new(), 0);
    for (number, sequence) in sequences.iter().enumerate() {
        let (first, mut turns, after) = (nodes.len(), 0, before + sequence.ends.len());
        let is_last = number + 1 == sequences.len();
        for message in written {
            if turns == after && !is_last {
                break;
            }
            let mut node = node(message, nodes.len().checked_sub(1).filter(|parent| *parent >= first));
            if message.role == "assistant" {
                let own = turns.checked_sub(before).and_then(|turn| sequence.turn(turn));
                node["sampled"] = json!(own.is_some());
                if let Some((token_ids, mask, logprobs)) = own {
                    (node["token_ids"], node["mask"]) = (json!(token_ids), json!(mask));
                    node["logprobs"] = json!(logprobs);
                }
                turns += 1;
            }
            nodes.push(node);
        }
        before = after;
    }
    nodes
}

/// A message with its parent. Calls are flat there.
fn node(message: &TrainerMessage<'_>, parent: Option<usize>) -> Value {
    let mut said = json!({"role": message.role, "content": message.content});
    if let Some(reasoning) = message.reasoning_content {
        said["reasoning_content"] = json!(reasoning);
    }
    if let Some(call) = message.tool_call_id {
        said["tool_call_id"] = json!(call);
    }
    if !message.tool_calls.is_empty() {
        let call = |call: &super::message::Call<'_>| {
            let arguments = match &call.function.arguments {
                CallArguments::Text(text) => Cow::Borrowed(*text),
                CallArguments::Object(value) => Cow::Owned(value.to_string()),
            };
            json!({"id": call.id, "type": "function", "name": call.function.name, "arguments": arguments})
        };
        said["tool_calls"] = message.tool_calls.iter().map(call).collect();
    }
    json!({"message": said, "parent": parent, "sampled": message.role == "assistant"})
}

fn tool(tool: &Value) -> Value {
    let function = &tool["function"];
    let description = function["description"].as_str().unwrap_or_default();
    json!({
        "type": "function", "name": function["name"], "description": description, "parameters": function["parameters"],
    })
}
