//! Events as they are stored.

use serde::Serialize;

/// Events as JSON, one after another in one text: there are many, and each is small.
#[derive(Debug, Clone, Default)]
pub struct EncodedEvents {
    text: String,
    /// Number of each event, and where it ends in the text.
    ends: Vec<(i32, usize)>,
}

impl EncodedEvents {
    /// `seq`: the number of an event.
    pub fn encode<E: Serialize>(events: &[E], seq: impl Fn(&E) -> u32) -> anyhow::Result<Self> {
        let mut text = Vec::with_capacity(events.len() * USUAL);
        let mut ends = Vec::with_capacity(events.len());
        for event in events {
            serde_json::to_writer(&mut text, event)?;
            ends.push((i32::try_from(seq(event))?, text.len()));
        }
        Ok(Self { text: String::from_utf8(text)?, ends })
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Bytes that they take of the disk, more or less: PostgreSQL compresses long ones.
    pub fn stored_bytes(&self) -> i64 {
        i64::try_from(self.text.len() + self.ends.len() * EVENT_ROW).unwrap_or(i64::MAX)
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of the last one.
    pub fn last(&self) -> Option<i32> {
        self.ends.last().map(|(seq, _)| *seq)
    }

    /// Number and JSON of each.
    pub fn each(&self) -> impl Iterator<Item = (i32, &str)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        self.ends.iter().zip(starts).map(|((seq, end), start)| (*seq, &self.text[start..*end]))
    }
}

/// Bytes of an event, more or less.
const USUAL: usize = 700;
/// Bytes that PostgreSQL takes for an event beside its text: the headers of the row, its key, and its entry in the index.
const EVENT_ROW: usize = 90;
