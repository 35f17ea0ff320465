//! A conversation as its rows are made of it.

use domain::outcome::Outcome;
use domain::row::Verifier;
use domain::transcript::Start;
use domain::verdict::Verdict;
use engine::conversation_state::State;

use super::context::{Context, Scene};
use store::material::Material;

/// A conversation that was played.
pub struct PlayedConversation<'a> {
    pub context: &'a Context,
    pub scene: &'a Scene,
    pub material: &'a Material,
    pub start: &'a Start,
    /// Without its frames: each becomes a row of its own.
    pub state: &'a State,
    pub outcome: &'a Outcome,
    /// The verdict of the judging in use; `None` if there is none.
    pub verdict: Option<&'a Verdict>,
    pub verification: Option<Verifier>,
}
