//! Where a key is kept, so that it need be written nowhere else.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;

/// Where the key of an endpoint is. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeyPlace {
    /// The name of an environment variable.
    Env(String),
    /// The path of a file, as orchestrators mount their secrets.
    File(String),
}

/// Bytes of a file; what is larger is no key.
const LARGEST: u64 = 16 << 10;

impl KeyPlace {
    /// The key, without the white space around it. It is read anew each time.
    ///
    /// # Errors
    /// Why there is none. Nothing of what was read is repeated.
    pub fn read(&self) -> Result<String, String> {
        let (text, empty) = match self {
            Self::Env(variable) => (std::env::var(variable).unwrap_or_default(), "is not set or empty"),
            Self::File(path) => (contents(path)?, "is empty"),
        };
        match text.trim() {
            "" => Err(empty.to_owned()),
            key => Ok(key.to_owned()),
        }
    }
}

fn contents(path: &str) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read ({error})");
    // A pipe would keep us waiting, a device might never end.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text));
    match read.map_err(unreadable)? as u64 {
        0..=LARGEST => Ok(text),
        _ => Err("is larger than a key can be".to_owned()),
    }
}

/// Absolute only: a key pasted in place of its file's path is then refused, not stored.
pub fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.len() <= 4096 && !text.chars().any(char::is_control)
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(variable) => write!(f, "the environment variable {variable}"),
            Self::File(path) => write!(f, "the file {path}"),
        }
    }
}
