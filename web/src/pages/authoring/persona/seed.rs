//! Whom a seed draws. The server draws with `engine::Seed`, which the browser does not have: this is the same rule for the
//! one purpose that is shown here, and a browser test holds it to what the server says.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

pub fn generator(seed: i64, profile: &str) -> ChaCha8Rng {
    let own = Sha256::digest(format!("{seed}\n{profile}\n0"));
    let mut hasher = Sha256::new();
    hasher.update(own);
    hasher.update("persona");
    ChaCha8Rng::from_seed(hasher.finalize().into())
}
