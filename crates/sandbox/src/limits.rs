//! What one piece of work may use.

use std::fmt;
use std::time::Duration;

/// Address space of a sandboxed process, in bytes. Checking the largest project that is shipped needs a tenth.
pub const MEMORY: u64 = 1 << 30;
/// Stack of the thread that works, in bytes: thirty times that of an ordinary thread.
pub const STACK: usize = 64 << 20;
/// Largest answer, in bytes.
pub const LARGEST_ANSWER: usize = 64 << 20;
/// Most that streamed work reads at once, in bytes: with what comes of it, it has to fit into its memory.
pub const LARGEST_READ: u64 = 256 << 20;
/// After so many pieces of work a process is replaced: memory that an allocator keeps does not add up.
pub const PIECES_PER_PROCESS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Computing time.
    pub cpu: Duration,
    /// Time on the clock, counted from when it begins.
    pub wall: Duration,
}

impl Limits {
    /// For what somebody waits for.
    pub const REQUEST: Self = Self { cpu: Duration::from_secs(15), wall: Duration::from_secs(45) };
    /// For each piece of streamed work: a row group is decoded in seconds.
    pub const PIECE: Self = Self { cpu: Duration::from_mins(1), wall: Duration::from_mins(10) };
    /// For jobs.
    pub const JOB: Self = Self { cpu: Duration::from_mins(20), wall: Duration::from_hours(1) };
}

/// A limit that was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Cpu(Duration),
    Wall(Duration),
    Memory,
    Stack,
    Answer,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(most) => write!(f, "it needs more than {} s of computing time", most.as_secs()),
            Self::Wall(most) => write!(f, "it takes longer than {} s", most.as_secs()),
            Self::Memory => write!(f, "it needs more than {} MiB of memory", MEMORY >> 20),
            Self::Stack => f.write_str("something in it is nested too deeply"),
            Self::Answer => write!(f, "its result is larger than {} MiB", LARGEST_ANSWER >> 20),
        }
    }
}
