//! How strongly an endpoint can be held to JSON, and the memory of what it took.

use std::sync::atomic::{AtomicU8, Ordering};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `json_schema`: the reply follows the schema.
    Schema,
    /// `json_object`: the reply is some JSON.
    Object,
    /// No `response_format`: only the prompt asks for JSON.
    Plain,
}

impl Format {
    pub const fn weaker(self) -> Option<Self> {
        match self {
            Self::Schema => Some(Self::Object),
            Self::Object => Some(Self::Plain),
            Self::Plain => None,
        }
    }
}

/// The strongest format that an endpoint is not known to refuse. Shared by all asks at once.
#[derive(Debug, Default)]
pub struct KnownFormat(AtomicU8);

impl KnownFormat {
    pub fn get(&self) -> Format {
        match self.0.load(Ordering::Relaxed) {
            0 => Format::Schema,
            1 => Format::Object,
            _ => Format::Plain,
        }
    }

    /// Notes what was accepted. Never goes back to a stronger one. Whether this is news.
    pub fn weaken_to(&self, format: Format) -> bool {
        let level = format as u8;
        self.0.fetch_max(level, Ordering::Relaxed) < level
    }
}
