//! Preference pairs for TRL's `DPOTrainer`.

use domain::export::Shape;
use serde_json::json;

use super::message::messages;
use super::object::Object;
use super::{Pair, UnfitReason};

pub fn record(shape: &Shape, pair: &Pair<'_>, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    let written = |of| messages(of, shape.reasoning, shape.arguments);
    let [chosen, rejected] = pair.sides().map(|side| {
        let written = written(side)?;
        let json = serde_json::to_string(&written).map_err(super::never)?;
        Ok::<_, UnfitReason>(json)
    });
    let (chosen, rejected) = (chosen?, rejected?);
    if chosen == rejected {
        return Err("its sides differ only in reasoning, which is left out".to_owned());
    }
    let mut record = Object::new(out);
    record.field("prompt", &written(pair.prompt())?)?;
    record.json("chosen", &chosen);
    record.json("rejected", &rejected);
    record.tools(&pair.chosen.tools, shape.tools);
    record
        .text_of("metadata", &json!({"chosen": row_metadata(pair.chosen), "rejected": row_metadata(pair.rejected)}))?;
    record.end();
    Ok(())
}

/// Which conversation a side is from, and what it was worth.
fn row_metadata(row: &domain::row::Row) -> serde_json::Value {
    let metadata = &row.metadata;
    json!({
        "id": metadata.id, "scenario": metadata.scenario.id, "world": metadata.world.initial,
        "overall": metadata.overall, "weighted_mean": metadata.weighted_mean, "accepted": metadata.accepted,
        "models": metadata.played.models, "scripted_roles": metadata.played.scripted_roles,
    })
}
