//! Which rows an export makes of conversations.

/// Which rows of a conversation are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedRows {
    /// Also what was not accepted.
    pub all: bool,
    /// Also what each sub-agent did, as a row of its own after its conversation's.
    pub branches: bool,
    /// Whether the rows are imitated or rewarded.
    pub purpose: Purpose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The agent's words are learned.
    Imitation,
    /// They are learned or unlearned by their reward. So calls that no tool accepts are in it, and a conversation that a limit ended
    /// in the middle of the agent's calls ends with its last turn.
    Reward,
}
