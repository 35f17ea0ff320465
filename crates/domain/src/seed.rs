//! Randomness that is the same for the same run seed, wherever it is asked for.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

/// The root of a conversation's randomness: (run seed, scenario, repeat), so that no shared sampler is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    pub fn new(run_seed: i64, scenario: &str, repeat: u32) -> Self {
        Self(Sha256::digest(format!("{run_seed}\n{scenario}\n{repeat}")).into())
    }

    /// A generator for one purpose; purposes do not disturb each other.
    pub fn rng(&self, purpose: &str) -> ChaCha8Rng {
        ChaCha8Rng::from_seed(self.derive(purpose))
    }

    /// A sampling seed for a model call. Several servers take no more than 31 bits.
    pub fn sampling(&self, purpose: &str) -> i64 {
        let [a, b, c, d, ..] = self.derive(purpose);
        i64::from(u32::from_be_bytes([a, b, c, d]) >> 1)
    }

    /// A number that stands for the conversation wherever all of it should go the same way.
    pub fn sticky(&self) -> u64 {
        self.0.first_chunk().copied().map_or(0, u64::from_be_bytes)
    }

    /// A short text that stands for the seed, for ids.
    pub fn text(&self) -> String {
        hex::encode(self.0)
    }

    fn derive(&self, purpose: &str) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(self.0);
        hasher.update(purpose.as_bytes());
        hasher.finalize().into()
    }
}
