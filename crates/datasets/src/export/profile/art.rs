//! Groups as `OpenPipe`'s ART 0.5 reads them (`deserialize_trajectory_groups`). What the agent said is a choice; samples without a
//! reward are exceptions, because a reward cannot be null there. Without sampled token ids ART analyses these groups and does not
//! train on them. Its reader keeps only the trajectories, and of these not the tools, so each trajectory names its group.

use domain::export::Shape;
use domain::reward;
use serde_json::{Map, Value, json};

use super::message::{TrainerMessage, messages};
use super::{Group, UnfitReason, never};

pub fn record(shape: &Shape, group: &Group<'_>, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let (mut trajectories, mut exceptions) = (Vec::new(), Vec::new());
    for sample in &group.samples {
        let metadata = &sample.row.metadata;
        let Some(reward) = sample.reward else {
            exceptions.push(json!({"type": metadata.blame, "message": metadata.reason, "traceback": ""}));
            continue;
        };
        let written = messages(&sample.row.messages, shape.reasoning, shape.arguments)?;
        let said = written.iter().map(message).collect::<Result<Vec<_>, _>>()?;
        let tools: Value = serde_json::from_str(sample.row.tools.json()).map_err(never)?;
        trajectories.push(json!({
            "messages_and_choices": said,
            "tools": tools,
            "reward": f64::from(reward),
            "metrics": reward::components(&metadata.verifier.items),
            "metadata": {
                "conversation": metadata.id, "group_id": group.id, "sample": sample.number,
                "scenario": metadata.scenario.id, "blame": metadata.blame, "ending": metadata.ending, "off_policy": true,
            },
            "additional_histories": [],
            "logs": [],
        }));
    }
    let mean = group.rewards.mean.map(|mean| ("solve_rate".to_owned(), json!(mean)));
    let record = json!({
        "trajectories": trajectories,
        "exceptions": exceptions,
        "metadata": {"group_id": group.id, "split": group.split},
        "metrics": Map::from_iter(mean),
        "logs": [],
    });
    serde_json::to_writer(out, &record).map_err(never)
}

fn message(message: &TrainerMessage<'_>) -> Result<Value, UnfitReason> {
    let said = serde_json::to_value(message).map_err(never)?;
    if message.role != "assistant" {
        return Ok(said);
    }
    let finish_reason = if message.tool_calls.is_empty() { "stop" } else { "tool_calls" };
    Ok(json!({"finish_reason": finish_reason, "index": 0, "logprobs": null, "message": said}))
}
