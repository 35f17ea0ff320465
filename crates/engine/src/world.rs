//! The world: the JSON document that is the backend's truth.
//!
//! Persistent: a version shares everything it did not change with the version before, so many conversations over one
//! base world, and all versions of one conversation, cost what they change.

mod diff;
mod edit;
mod node;
mod provenance;

use domain::patch::{Patch, PatchOp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub(crate) use diff::diff;
pub use edit::PatchError;
pub use node::Node;
pub use provenance::History;

/// One version of a world. Cloning is cheap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct World {
    root: Node,
    /// How many patches led here from the initial world.
    version: u32,
}

impl World {
    pub fn new(initial: &Value) -> Self {
        Self::from_root(Node::from(initial))
    }

    pub const fn from_root(root: Node) -> Self {
        Self { root, version: 0 }
    }

    pub const fn root(&self) -> &Node {
        &self.root
    }

    pub const fn version(&self) -> u32 {
        self.version
    }

    /// The version after one patch. All of it applies or nothing does.
    ///
    /// # Errors
    /// The first operation that does not apply.
    pub fn apply(&self, patch: &[PatchOp]) -> Result<Self, PatchError> {
        let mut root = self.root.clone();
        for op in patch {
            root = edit::apply(&root, op)?;
        }
        Ok(Self { root, version: self.version + u32::from(!patch.is_empty()) })
    }

    /// What must be patched to get from here to `other`. Applied to this world it gives a world equal to `other`.
    pub fn patch_to(&self, other: &Node) -> Patch {
        let mut patch = Patch::new();
        diff(&self.root, other, "", &mut patch);
        patch
    }

    pub fn get(&self, pointer: &str) -> Option<&Node> {
        self.root.get(&domain::patch::segments(pointer)?)
    }

    pub fn to_json(&self) -> Value {
        self.root.to_json()
    }

    /// SHA-256 of the canonical JSON, in hex. Equal worlds have equal hashes however they came about: keys are sorted
    /// and 198.0 is 198.
    pub fn hash(&self) -> String {
        let (mut hasher, mut text) = (Sha256::new(), String::with_capacity(2 * HASHED));
        self.root.write_canonical(&mut |part| {
            text.push_str(part);
            if text.len() >= HASHED {
                hasher.update(text.as_bytes());
                text.clear();
            }
        });
        hasher.update(text.as_bytes());
        hex::encode(hasher.finalize())
    }
}

/// Bytes that are hashed at a time: names and values are too short for a hash to be quick.
const HASHED: usize = 4096;
