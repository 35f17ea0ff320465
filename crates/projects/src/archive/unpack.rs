//! Reading an archive that anybody may have made. Nothing that it says of itself is believed: sizes are counted while
//! it is inflated, and what would be too much is not inflated any further.

use std::io::{Cursor, Read};

use domain::Problem;
use domain::bad_input::BadInput;
use sandbox::{Sandbox, Work};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;
use zip::read::ZipFile;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::library::Files;
use crate::library::project::{Documents, LARGEST_FILE, LARGEST_PROJECT, MOST_FILES};
use crate::sandboxed::{Fault, answer};

/// Largest archive that is taken, in bytes.
pub const LARGEST_ARCHIVE: usize = 32 << 20;
/// Text shrinks to a tenth, JSON to a thirtieth. What shrinks further, and is not small, was made to fill memory.
const LARGEST_RATIO: u64 = 200;
const SMALL: u64 = 256 << 10;
/// Most problems that are told of one archive.
const MOST_PROBLEMS: usize = 100;

/// Like [`unpack`], in a process of its own.
///
/// # Errors
/// [`BadInput`], or the sandbox.
pub async fn unpack_in(sandbox: &Sandbox, project: Uuid, bytes: &[u8]) -> anyhow::Result<Documents> {
    if bytes.len() > LARGEST_ARCHIVE {
        return Err(BadInput(too_large(bytes)).into());
    }
    let unpacking = UnpackArchive { hex: hex::encode(bytes) };
    let (files, ignored) = answer("archive", sandbox.run(project, unpacking).await)?;
    Ok(Documents { ignored, ..Documents::of(files).map_err(BadInput)? })
}

/// Unpacks an archive: its files, and the paths that are ignored.
#[derive(Serialize, Deserialize)]
pub struct UnpackArchive {
    /// JSON has no bytes.
    hex: String,
}

impl Work for UnpackArchive {
    const NAME: &'static str = "unpack an archive";
    type Answer = Result<(Files, Vec<String>), Fault>;

    fn work(self, _: &dyn Fn(Value)) -> Self::Answer {
        let bytes = hex::decode(self.hex).map_err(anyhow::Error::from)?;
        let documents = unpack(&bytes).map_err(|problems| Fault::BadInput(BadInput(problems)))?;
        Ok((documents.files(), documents.ignored))
    }
}

fn too_large(bytes: &[u8]) -> Vec<Problem> {
    let message = format!("is {} bytes; at most {LARGEST_ARCHIVE} are accepted", bytes.len());
    vec![Problem::new("archive", 0, "", message)]
}

/// The documents of an archive.
///
/// # Errors
/// Everything that keeps it from being used: then none of it is.
pub fn unpack(bytes: &[u8]) -> Result<Documents, Vec<Problem>> {
    let whole = |message: String| vec![Problem::new("archive", 0, "", message)];
    if bytes.len() > LARGEST_ARCHIVE {
        return Err(too_large(bytes));
    }
    let mut zip =
        ZipArchive::new(Cursor::new(bytes)).map_err(|e| whole(format!("is not a readable zip archive: {e}")))?;
    if zip.has_duplicate_names() {
        return Err(whole("has two entries of the same name; which one is meant cannot be known".to_owned()));
    }
    if zip.len() > MOST_FILES {
        return Err(whole(format!("has {} entries; at most {MOST_FILES}", zip.len())));
    }
    let (mut files, mut problems, mut ignored) = (Vec::new(), Vec::new(), Vec::new());
    let mut room = LARGEST_PROJECT as u64;
    for index in 0..zip.len() {
        let path = zip.by_index_raw(index).ok().and_then(|entry| name(&entry).ok()).unwrap_or_default();
        let mut entry = match zip.by_index(index) {
            Ok(entry) => entry,
            Err(e) => return Err(vec![Problem::new(path, 0, "", unreadable(&e))]),
        };
        match read(&mut entry, &mut room) {
            Ok(Entry::Text(path, text)) => files.push((path, text)),
            Ok(Entry::Ignored(path)) => ignored.push(path),
            Ok(Entry::Folder) => {}
            Err(problem) => problems.push(problem),
        }
        if room == 0 {
            return Err(whole(format!("holds more than {LARGEST_PROJECT} bytes of text")));
        }
        if problems.len() == MOST_PROBLEMS {
            break;
        }
    }
    let documents = Documents::of(files);
    match documents {
        Ok(documents) if problems.is_empty() && documents.by_id.is_empty() => Err(whole(
            "holds no documents: expected the folders playbooks, scenarios, personas and judges at its top".into(),
        )),
        Ok(mut documents) if problems.is_empty() => {
            documents.ignored.extend(ignored);
            documents.ignored.sort();
            Ok(documents)
        }
        documents => {
            problems.extend(documents.err().unwrap_or_default());
            problems.truncate(MOST_PROBLEMS);
            Err(problems)
        }
    }
}

fn unreadable(error: &ZipError) -> String {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            "is encrypted; pack the folder without a password".to_owned()
        }
        error => format!("cannot be read: {error}"),
    }
}

enum Entry {
    Text(String, String),
    /// Beside the documents, or hidden, as `.DS_Store` is.
    Ignored(String),
    Folder,
}

fn read(entry: &mut ZipFile<'_, Cursor<&[u8]>>, room: &mut u64) -> Result<Entry, Problem> {
    let path = name(entry)?;
    let refused = |message: String| Problem::new(path.clone(), 0, "", message);
    if entry.is_symlink() {
        return Err(refused("is a symbolic link; put the file itself into the archive".to_owned()));
    }
    // The type of a file stands in the upper bits: 0 if the archive was not made on Unix.
    if entry.unix_mode().is_some_and(|mode| !matches!(mode & 0o170_000, 0 | 0o100_000 | 0o040_000)) {
        return Err(refused("is neither a file nor a folder".to_owned()));
    }
    if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Err(refused(format!("is compressed by {}; only deflate is read", entry.compression())));
    }
    match place(&path) {
        Place::Outside(why) => return Err(refused(why.to_owned())),
        Place::Ignored => return Ok(Entry::Ignored(path)),
        Place::Within if path.ends_with('/') => return Ok(Entry::Folder),
        Place::Within => {}
    }
    let bytes = inflate(entry, room).map_err(refused)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Entry::Text(path, text)),
        Err(_) if is_archive(&path) => {
            let message = "is an archive within the archive, which is not looked into; unpack it first".to_owned();
            Err(Problem::new(path, 0, "", message))
        }
        Err(_) => Err(Problem::new(path, 0, "", "is not UTF-8 text")),
    }
}

/// The path as it was written, or why it means nothing.
fn name(entry: &ZipFile<'_, Cursor<&[u8]>>) -> Result<String, Problem> {
    let raw = entry.name_raw();
    let shown = || String::from_utf8_lossy(raw).chars().filter(|c| !c.is_control()).take(200).collect::<String>();
    match std::str::from_utf8(raw) {
        Ok(path) if path.len() <= 1000 && !path.chars().any(char::is_control) => Ok(path.to_owned()),
        Ok(_) => Err(Problem::new(shown(), 0, "", "is too long a path, or has control characters")),
        Err(_) => Err(Problem::new(shown(), 0, "", "is a path that is not UTF-8")),
    }
}

enum Place {
    Within,
    Ignored,
    Outside(&'static str),
}

/// Whether an entry is looked at. Of what leads out of the folder of an archive, nothing is ignored.
fn place(path: &str) -> Place {
    let mut parts = path.split('/');
    if path.contains('\\') {
        return Place::Outside("has a backslash; folders are separated by `/`");
    }
    if path.starts_with('/') || path.get(1..2) == Some(":") {
        return Place::Outside("is an absolute path");
    }
    if parts.clone().any(|part| part == "..") {
        return Place::Outside("leads out of the archive");
    }
    let hidden = parts.clone().any(|part| part.starts_with('.') && part != ".");
    let known = matches!(parts.next(), Some("playbooks" | "scenarios" | "personas" | "judges" | "workflows"));
    if hidden || !known { Place::Ignored } else { Place::Within }
}

/// The bytes of an entry, as long as they are not too many.
fn inflate(entry: &mut ZipFile<'_, Cursor<&[u8]>>, room: &mut u64) -> Result<Vec<u8>, String> {
    // No more than this is ever read of it, whatever its header says.
    let allowed = entry.compressed_size().saturating_mul(LARGEST_RATIO).max(SMALL);
    let most = allowed.min(LARGEST_FILE as u64).min(*room);
    let mut bytes = Vec::new();
    let read = entry.by_ref().take(most + 1).read_to_end(&mut bytes).map_err(|e| format!("cannot be read: {e}"))?;
    let read = read as u64;
    *room = room.saturating_sub(read);
    if read <= most {
        return Ok(bytes);
    }
    Err(if read > LARGEST_FILE as u64 {
        format!("is more than {LARGEST_FILE} bytes")
    } else if read > allowed {
        format!("unpacks to more than {LARGEST_RATIO} times its size")
    } else {
        format!("is more than there is room for: an archive holds at most {LARGEST_PROJECT} bytes of text")
    })
}

fn is_archive(path: &str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(ending.as_str(), "zip" | "gz" | "tgz" | "tar" | "bz2" | "xz" | "zst" | "7z" | "rar" | "jar")
}
