//! Unpaired preferences for TRL's `KTOTrainer`: a record for each turn of the agent, good if its sample has the reward 1, and bad if it
//! has 0.
//!
//! A record ends with the turn that it is about, because the trainer learns every token of `completion`: the words of the user and of
//! tools must stand in the prompt.

use domain::export::Shape;
use domain::message::Message;
use serde_json::json;

use super::message::messages;
use super::object::Object;
use super::{Group, GroupSample, UnfitReason};

pub fn records(shape: &Shape, group: &Group<'_>, out: &mut Vec<u8>) -> Result<usize, UnfitReason> {
    let mut written = 0;
    for sample in &group.samples {
        let Some(reward) = sample.reward else { continue };
        // The trainer needs a prompt, if only of the instructions.
        for turn in turns(sample).filter(|turn| *turn > 0) {
            if written > 0 {
                out.push(b'\n');
            }
            record(shape, group, sample, (turn, reward == 1), out)?;
            written += 1;
        }
    }
    if written == 0 { Err("no sample of the group has a reward".to_owned()) } else { Ok(written) }
}

/// The places of the agent's messages.
fn turns(sample: &GroupSample) -> impl Iterator<Item = usize> {
    let places = sample.row.messages.iter().enumerate();
    places.filter(|(_, message)| matches!(message, Message::Assistant { .. })).map(|(place, _)| place)
}

fn record(
    shape: &Shape,
    group: &Group<'_>,
    sample: &GroupSample,
    (turn, good): (usize, bool),
    out: &mut Vec<u8>,
) -> Result<(), UnfitReason> {
    let row = &sample.row;
    let written = messages(&row.messages[..=turn], shape.reasoning, shape.arguments)?;
    let (completion, prompt) = written.split_last().ok_or("it has no messages")?;
    let mut record = Object::new(out);
    record.field("prompt", prompt)?;
    record.field("completion", &[completion])?;
    record.field("label", &good)?;
    record.tools(&row.tools, shape.tools);
    record.text_of(
        "metadata",
        &json!({
            "id": row.metadata.id, "group_id": group.id, "sample": sample.number, "turn": turn, "split": group.split,
            "scenario": row.metadata.scenario.id, "solve_rate": group.rewards.mean, "dead": group.rewards.is_dead(),
            "models": row.metadata.played.models, "scripted_roles": row.metadata.played.scripted_roles,
            "off_policy": true,
        }),
    )?;
    record.end();
    Ok(())
}
