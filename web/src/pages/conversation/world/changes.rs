//! What each change did to the world.

use domain::event::Event;
use domain::patch::Patch;
use domain::transcript::{Call, Transcript};

/// The change that made a version of the world; the first one made version 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub seq: u32,
    pub tool: String,
    pub patch: Patch,
}

pub fn steps(events: &[Event]) -> Vec<Step> {
    let transcript: Transcript = events.iter().cloned().collect();
    let step = |call: &Call| Step { seq: call.seq, tool: call.tool.clone(), patch: call.patch.clone() };
    transcript.changes().map(step).collect()
}

/// The version after an event; the last one if none is named.
pub fn version_at(steps: &[Step], event: Option<u32>) -> usize {
    event.map_or(steps.len(), |event| steps.iter().filter(|step| step.seq <= event).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_what_happened_until_then() {
        let step = |seq| Step { seq, tool: "t".to_owned(), patch: Vec::new() };
        let steps = [step(4), step(9)];
        let at = [None, Some(0), Some(3), Some(4), Some(8), Some(9), Some(20)];
        assert_eq!(at.map(|event| version_at(&steps, event)), [2, 0, 0, 1, 1, 2, 2]);
    }
}
