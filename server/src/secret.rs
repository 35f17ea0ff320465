//! Secrets: made from the operating system's randomness, shown once, and kept as hashes only.

use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use sha2::{Digest, Sha256};

/// Memory in KiB, passes and lanes of argon2id: what OWASP's password storage cheat sheet asks for at least.
const COST: (u32, u32, u32) = (19 * 1024, 2, 1);
/// Shortest password, in characters (NIST SP 800-63B asks for 8, and for 15 where nothing else is asked).
pub const SHORTEST_PASSWORD: usize = 10;
/// Longest password, in bytes: hashing costs by length.
pub const LONGEST_PASSWORD: usize = 1024;

/// A secret of 256 bits for a link, a session or a token, as letters that stand in a URL.
///
/// # Errors
/// The operating system has no randomness to give.
pub fn make(prefix: &str) -> anyhow::Result<String> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(|e| anyhow::anyhow!("no randomness: {e}"))?;
    Ok(format!("{prefix}{}", hex::encode(bytes)))
}

/// What is kept of a secret. It has 256 bits of its own, so a fast hash is enough.
pub fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

/// What a browser must send with each change beside its cookie. Other sites cannot read it, and nobody gets from it to
/// the session.
pub fn csrf_token(session: &str) -> String {
    hex::encode(Sha256::digest(format!("csrf {session}")))
}

/// The hash of a password as a PHC string. Takes tens of milliseconds: not for an async thread.
///
/// # Errors
/// The operating system has no randomness to give.
pub fn hash_password(password: &str) -> anyhow::Result<String> {
    let mut salt = [0u8; 16];
    getrandom::fill(&mut salt).map_err(|e| anyhow::anyhow!("no randomness: {e}"))?;
    let hash = argon2id()?.hash_password_with_salt(password.as_bytes(), &salt);
    Ok(hash.map_err(|e| anyhow::anyhow!("cannot hash a password: {e}"))?.to_string())
}

/// Whether it is the password. Whoever has none is compared all the same, so that names cannot be told by the time it takes.
pub fn is_password(password: &str, hash: Option<&str>) -> bool {
    const NOBODYS: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$\
                           AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let same =
        argon2id().is_ok_and(|argon| argon.verify_password(password.as_bytes(), hash.unwrap_or(NOBODYS)).is_ok());
    same && hash.is_some()
}

fn argon2id() -> anyhow::Result<Argon2<'static>> {
    let (memory, passes, lanes) = COST;
    let params = Params::new(memory, passes, lanes, None).map_err(|e| anyhow::anyhow!("argon2: {e}"))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}
