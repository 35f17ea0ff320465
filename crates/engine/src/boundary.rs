//! The line around material in a prompt that is not trusted.

use sha2::{Digest, Sha256};

/// A line that nothing inside the material can hold: it is a hash of all of it and of a seed that no speaker knows. The same
/// material gives the same line. The material itself should be JSON, in which no text can begin a line of its own.
pub fn boundary(seed: &str, material: &[&str]) -> String {
    let hash = hex::encode(Sha256::digest(format!("{seed}{}", material.join("\n"))));
    format!("===== {} =====", &hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_follows_from_the_seed_and_the_material() {
        assert_eq!(boundary("seed", &["a", "b"]), boundary("seed", &["a", "b"]));
        assert_ne!(boundary("seed", &["a", "b"]), boundary("other", &["a", "b"]));
        assert_ne!(boundary("seed", &["a", "b"]), boundary("seed", &["a", "c"]));
    }
}
