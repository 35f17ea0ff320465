//! Where a value of a world comes from, as the events tell: of a conversation that was played, or of one that was only tried.

use domain::Event;
use domain::api::{Provenance, Writer};
use domain::event::EventKind;
use domain::patch::Patch;
use engine::World;
use engine::world::{History, Node, PatchError};

/// Of the value at a JSON pointer into the world after the events. `None` if nothing stands there.
///
/// # Errors
/// The events do not follow from this world, or the pointer is none.
pub fn of(initial: &World, events: &[Event], pointer: &str) -> Result<Option<Provenance>, PatchError> {
    let changes = changes(events);
    let mut world = initial.clone();
    for (_, patch) in &changes {
        world = world.apply(patch)?;
    }
    let Some(value) = world.get(pointer).map(Node::to_json) else { return Ok(None) };
    let written_by = History::of(initial, &changes)?.writer(pointer)?.and_then(writer);
    Ok(Some(Provenance { pointer: pointer.to_owned(), value, written_by }))
}

/// What changed the world, in order.
pub fn changes(events: &[Event]) -> Vec<(&Event, &Patch)> {
    let patches = events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolAnswered { patch, .. } if !patch.is_empty() => Some((event, patch)),
        _ => None,
    });
    patches.collect()
}

/// The call that an event answers.
pub fn writer(event: &Event) -> Option<Writer> {
    match &event.kind {
        EventKind::ToolAnswered { call_id, tool, .. } => {
            Some(Writer { seq: event.seq, call_id: call_id.clone(), tool: tool.clone() })
        }
        _ => None,
    }
}
