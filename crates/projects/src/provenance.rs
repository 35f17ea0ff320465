//! Where a value of a world comes from, as its changes tell: of a conversation that was played, or of one that was only tried.

use domain::api::{Provenance, Writer};
use domain::transcript::Call;
use engine::World;
use engine::world::{History, Node, PatchError};

/// Of the value at a JSON pointer into the world after these changes. `None` if nothing stands there.
///
/// # Errors
/// The changes do not follow from this world, or the pointer is none.
pub fn of(initial: &World, changes: &[&Call], pointer: &str) -> Result<Option<Provenance>, PatchError> {
    let mut world = initial.clone();
    for call in changes {
        world = world.apply(&call.patch)?;
    }
    let Some(value) = world.get(pointer).map(Node::to_json) else { return Ok(None) };
    let written_by = history(initial, changes)?.writer(pointer)?.map(writer);
    Ok(Some(Provenance { pointer: pointer.to_owned(), value, written_by }))
}

/// # Errors
/// The changes do not follow from this world.
pub fn history<'a>(initial: &World, changes: &[&'a Call]) -> Result<History<'a, &'a Call>, PatchError> {
    let changes: Vec<_> = changes.iter().map(|call| (*call, &call.patch)).collect();
    History::of(initial, &changes)
}

pub fn writer(call: &Call) -> Writer {
    Writer { seq: call.seq, call_id: call.id.clone(), tool: call.tool.clone() }
}
