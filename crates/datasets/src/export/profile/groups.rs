//! Our own shape of groups: what all samples of a start share, and then each one's own words, reward and reasons.

use std::collections::BTreeMap;

use domain::export::Shape;
use domain::message::Message;
use domain::reward::{self, Penalties};
use domain::verdict::Rule;
use serde::Serialize;
use serde_json::json;

use super::message::{TrainerMessage, messages};
use super::object::Object;
use super::tokens::{Sequence, sequences};
use super::{Group, UnfitReason};

/// One sample, as trainers read it.
#[derive(Serialize)]
struct Completion<'a> {
    id: &'a str,
    sample: u32,
    /// The messages after the prompt.
    messages: Vec<TrainerMessage<'a>>,
    /// Null: what went wrong is not the agent's.
    reward: Option<u8>,
    /// By rule of the verifier, the share of its checks that hold.
    reward_components: BTreeMap<Rule, f64>,
    blame: &'a str,
    reason: &'a str,
    ending: &'a str,
    penalties: Penalties,
    /// The tokens of its messages, the prompt's included.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequences: Option<Vec<Sequence<'a>>>,
}

pub fn record(shape: &Shape, group: &Group<'_>, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let first = &group.samples.first().ok_or("it has no sample that trainers can load")?.row;
    let common = common(group);
    let written = |of| messages(of, shape.reasoning, shape.arguments);
    let completions = group.samples.iter().map(|sample| {
        let metadata = &sample.row.metadata;
        Ok(Completion {
            id: &metadata.id,
            sample: sample.number,
            messages: written(&sample.row.messages[common..])?,
            reward: sample.reward,
            reward_components: reward::components(&metadata.verifier.items),
            blame: metadata.blame,
            reason: &metadata.reason,
            ending: metadata.ending,
            penalties: sample.row.penalties,
            sequences: sample.row.sampled.as_deref().and_then(sequences),
        })
    });
    let completions: Vec<Completion<'_>> = completions.collect::<Result<_, UnfitReason>>()?;
    let (metadata, rewards) = (&first.metadata, &group.rewards);
    let mut record = Object::new(out);
    record.field("group_id", &group.id)?;
    record.field("task_key", &format!("{}/{}", metadata.scenario.id, metadata.seed.repeat))?;
    record.field("split", group.split)?;
    record.field("prompt", &written(&first.messages[..common])?)?;
    record.tools(&first.tools, shape.tools);
    record.field("completions", &completions)?;
    record.field("samples", &group.of_each)?;
    record.field("scored", &rewards.scored)?;
    record.field("solve_rate", &rewards.mean)?;
    record.field("reward_std", &rewards.deviation)?;
    record.field("dead", &rewards.is_dead())?;
    record.field("off_policy", &completions.iter().any(|completion| completion.sequences.is_none()))?;
    record.field(
        "metadata",
        &json!({
            "playbook": &*metadata.playbook, "scenario": &*metadata.scenario, "persona": metadata.persona.profile,
            "complexity": metadata.complexity, "seed": metadata.seed, "world": metadata.world.initial,
            "models": metadata.played.models, "temperatures": metadata.played.temperatures,
            "scripted_roles": metadata.played.scripted_roles,
        }),
    )?;
    record.end();
    Ok(())
}

/// How many messages before the agent first speaks all samples have in common. A model that plays the user may say something
/// else in each, although it is asked with the same seed.
fn common(group: &Group<'_>) -> usize {
    let spoken = |message: &Message| matches!(message, Message::Assistant { .. });
    let first = group.samples.first().map_or(&[][..], |sample| &sample.row.messages);
    let shared = |sample: &super::GroupSample| {
        let both = first.iter().zip(&sample.row.messages);
        both.take_while(|(one, other)| one == other && !spoken(one)).count()
    };
    group.samples.iter().map(shared).min().unwrap_or(0)
}
