//! Prompts for reinforcement learning with verl, one for each group: also of starts that no sample solved, and with the solve rate, by
//! which those are left out from which nothing can be learned.

use serde_json::json;

use super::{Columns, Group, UnfitReason, verl};
use crate::export::columns::{boolean, float, integer};

pub fn record(group: &Group<'_>, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let first = &group.samples.first().ok_or("it has no sample that trainers can load")?.row;
    let solved = group.samples.iter().find(|sample| sample.reward == Some(1));
    let (metadata, rewards) = (&first.metadata, &group.rewards);
    let truth = match solved {
        Some(sample) => verl::truth(&sample.row),
        None => json!({
            "scenario": metadata.scenario.id, "scenario_version": metadata.scenario.version,
            "world": {"initial": metadata.world.initial}, "calls": null, "last": null,
        }),
    };
    let facts = json!({
        "playbook": &*metadata.playbook, "scenario": &*metadata.scenario, "persona": metadata.persona.profile,
        "complexity": metadata.complexity, "seed": metadata.seed, "models": metadata.played.models,
        "scripted_roles": metadata.played.scripted_roles,
    });
    let extra = json!({
        "index": group.index, "split": group.split, "id": group.id, "need_tools_kwargs": false,
        "tool_selection": first.tools.names().collect::<Vec<_>>(), "metadata": facts.to_string(),
        "solve_rate": rewards.mean, "reward_std": rewards.deviation, "samples": group.of_each, "scored": rewards.scored,
        "dead": rewards.is_dead(),
    });
    verl::prompt(first, &truth, &extra, out)
}

pub fn columns() -> Columns {
    verl::columns_with([
        float("solve_rate"),
        float("reward_std"),
        integer("samples"),
        integer("scored"),
        boolean("dead"),
    ])
}
