//! Groups as `OpenPipe`'s ART 0.5 reads them (`deserialize_trajectory_groups`). What the agent said is a choice; samples without a
//! reward are exceptions, because a reward cannot be null there. ART trains on choices with log-probabilities alone, whose tokens
//! are `token_id:` and a number; without them it analyses the groups. Its reader keeps only the trajectories, and of these not the
//! tools, so each trajectory names its group.

use std::sync::Arc;

use domain::export::Shape;
use domain::sampling::SampledTokens;
use serde_json::{Map, Value, json};

use super::message::{TrainerMessage, messages};
use super::tokens::policy_versions;
use super::{Group, UnfitReason, metrics, never};

pub fn record(shape: &Shape, group: &Group<'_>, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let (mut trajectories, mut exceptions) = (Vec::new(), Vec::new());
    for sample in &group.samples {
        let metadata = &sample.row.metadata;
        let Some(reward) = sample.reward else {
            exceptions.push(json!({"type": metadata.blame, "message": metadata.reason, "traceback": ""}));
            continue;
        };
        let written = messages(&sample.row.messages, shape.reasoning, shape.arguments)?;
        let sampled = sample.row.sampled.as_deref();
        let mut turns = sampled.unwrap_or_default().iter();
        let said = written.iter().map(|one| message(one, &mut turns)).collect::<Result<Vec<_>, _>>()?;
        let mut about = json!({
            "conversation": metadata.id, "group_id": group.id, "sample": sample.number,
            "scenario": metadata.scenario.id, "blame": metadata.blame, "ending": metadata.ending, "off_policy": sampled.is_none(),
        });
        if let Some(turns) = sampled {
            about["policy_version"] = json!(policy_versions(turns).join(", "));
        }
        let tools: Value = serde_json::from_str(sample.row.tools.json()).map_err(never)?;
        trajectories.push(json!({
            "messages_and_choices": said,
            "tools": tools,
            "reward": f64::from(reward),
            "metrics": metrics(sample),
            "metadata": about,
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

/// `turns`: the tokens of the agent's messages that come now.
fn message<'a>(
    message: &TrainerMessage<'_>,
    turns: &mut impl Iterator<Item = &'a Arc<SampledTokens>>,
) -> Result<Value, UnfitReason> {
    let said = serde_json::to_value(message).map_err(never)?;
    if message.role != "assistant" {
        return Ok(said);
    }
    let finish_reason = if message.tool_calls.is_empty() { "stop" } else { "tool_calls" };
    let logprobs = turns.next().map(|tokens| logprobs(tokens));
    Ok(json!({"finish_reason": finish_reason, "index": 0, "logprobs": logprobs, "message": said}))
}

fn logprobs(tokens: &SampledTokens) -> Value {
    let token = |(id, logprob): (&u32, &f32)| json!({"token": format!("token_id:{id}"), "logprob": logprob, "top_logprobs": []});
    let content: Vec<Value> = tokens.completion.iter().zip(&tokens.logprobs).map(token).collect();
    json!({"content": content})
}
