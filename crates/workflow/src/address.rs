//! Where in a workflow something happens: nested ancestry.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// One level: a step of the document, the round of its loop, the item of its map.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Level {
    /// Place of the step in its list, from 0, so that addresses are in the order of the document.
    pub place: u32,
    pub step: String,
    /// Round of a loop, from 0; call of a tool in the order in which the model made them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub iteration: u32,
    /// Item of a map, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub index: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The levels, outermost first. Addresses are ordered as the document is, and then as items and rounds are.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(pub Vec<Level>);

impl Address {
    #[must_use]
    pub fn child(&self, place: usize, step: &str, iteration: usize, index: usize) -> Self {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let level =
            Level { place: number(place), step: step.to_owned(), iteration: number(iteration), index: number(index) };
        Self(self.0.iter().cloned().chain([level]).collect())
    }

    /// A number that stands for a request at this address: which of several replies it is, and the how many-th attempt.
    pub fn request(&self, sample: u32, attempt: u32) -> u64 {
        request_id(&self.to_string(), sample, attempt)
    }
}

/// The same for an address as it is written.
pub fn request_id(address: &str, sample: u32, attempt: u32) -> u64 {
    let digest = Sha256::digest(format!("{address}\n{sample}\n{attempt}"));
    digest.first_chunk().copied().map_or(0, u64::from_be_bytes)
}

impl fmt::Display for Address {
    /// `checked[3].found[0].docs`, `talk#2.said`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, level) in self.0.iter().enumerate() {
            if i > 0 {
                // What an outer level has beside its name is the place of the inner one.
                let outer = &self.0[i - 1];
                match (outer.iteration, outer.index) {
                    (0, index) => write!(f, "[{index}]")?,
                    (iteration, 0) => write!(f, "#{iteration}")?,
                    (iteration, index) => write!(f, "#{iteration}[{index}]")?,
                }
                f.write_str(".")?;
            }
            f.write_str(&level.step)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_and_ordered_as_the_document_is() {
        let item = Address::default().child(2, "checked", 0, 3);
        let docs = item.child(1, "found", 0, 0).child(0, "docs", 0, 0);
        assert_eq!(docs.to_string(), "checked[3].found[0].docs");
        assert_eq!(Address::default().child(0, "talk", 2, 0).child(1, "said", 0, 0).to_string(), "talk#2.said");
        let later = Address::default().child(2, "checked", 0, 4);
        let after = Address::default().child(3, "none", 0, 0);
        assert!(docs < later && later < after && item < docs);
        assert_ne!(docs.request(0, 0), docs.request(0, 1));
        let written = serde_json::to_string(&docs).unwrap();
        assert_eq!(serde_json::from_str::<Address>(&written).unwrap(), docs);
    }
}
