//! The files that rows are read from: by name on this machine or in a bucket, or in the object storage.

use std::path::Path;

use domain::bad_input::BadInput;
use store::objects::{Objects, S3};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::format::Format;
use super::stored_file::StoredFile;

/// Files of a folder: a data set of the Hub has up to some thousands.
const MOST_FILES: usize = 100_000;

/// A file with rows.
#[derive(Clone)]
pub struct SourceFile {
    /// As people know it.
    pub name: String,
    pub format: Format,
    pub contents: StoredFile,
}

impl SourceFile {
    /// A file that lies in objects, which follow each other.
    ///
    /// # Errors
    /// The name does not tell a format that can be read.
    pub fn new(
        name: &str,
        objects: Objects,
        pieces: impl IntoIterator<Item = (String, u64)>,
    ) -> Result<Self, BadInput> {
        let contents = StoredFile::new(objects, pieces, Handle::current());
        Ok(Self { name: name.to_owned(), format: format(name)?, contents })
    }
}

/// The format of a file with this name.
///
/// # Errors
/// It is none that can be read.
pub fn format(name: &str) -> Result<Format, BadInput> {
    Format::of(name).ok_or_else(|| {
        BadInput::one(name, format!("the end of its name tells no format that can be read; expected {}", Format::NAMES))
    })
}

/// What a path names: a file, all files of a folder that can be read, or those of an `s3://` address; in the order of their
/// names.
///
/// # Errors
/// [`BadInput`] if there are none, or the storage cannot be asked.
pub async fn find(path: &str) -> anyhow::Result<Vec<SourceFile>> {
    if path.starts_with(S3) { in_bucket(path).await } else { on_machine(path).await }
}

async fn in_bucket(address: &str) -> anyhow::Result<Vec<SourceFile>> {
    let (parent, name) = address.trim_end_matches('/').rsplit_once('/').unwrap_or((address, ""));
    // `s3://bucket` has no name below its bucket.
    if parent.len() >= S3.len() && Format::of(name).is_some() {
        let objects = Objects::open(parent)?;
        if let Some(bytes) = objects.size(name).await? {
            return Ok(vec![SourceFile::new(name, objects, [(name.to_owned(), bytes)])?]);
        }
    }
    let objects = Objects::open(address)?;
    let found = objects.list("").await?.into_iter().map(|object| (object.path.clone(), object.path, object.bytes));
    readable(address, &objects, found.collect())
}

async fn on_machine(path: &str) -> anyhow::Result<Vec<SourceFile>> {
    let missing = |error: std::io::Error| BadInput::one(path, format!("it cannot be read: {error}"));
    let full = std::fs::canonicalize(path).map_err(missing)?;
    let objects = Objects::of_machine();
    if full.is_file() {
        let bytes = full.metadata().map_err(missing)?.len();
        let object = object_path(&full)?;
        let name = full.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        return Ok(vec![SourceFile::new(&name, objects, [(object, bytes)])?]);
    }
    let found = spawn_blocking(move || below(&full)).await?.map_err(missing)?;
    readable(path, &objects, found)
}

type Found = Vec<(String, String, u64)>;

/// The files of a folder and those below it, by name, path and length. Hidden ones are left out, and links to folders.
fn below(folder: &Path) -> std::io::Result<Found> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.is_file() && found.len() <= MOST_FILES {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                found.push((name, object_path(&path)?, path.metadata()?.len()));
            }
        }
    }
    Ok(found)
}

fn object_path(path: &Path) -> std::io::Result<String> {
    let object = object_store::path::Path::from_absolute_path(path).map_err(std::io::Error::other)?;
    Ok(object.to_string())
}

fn readable(place: &str, objects: &Objects, mut found: Found) -> anyhow::Result<Vec<SourceFile>> {
    if found.len() > MOST_FILES {
        return Err(BadInput::one(place, format!("it has more than {MOST_FILES} files")).into());
    }
    found.retain(|(name, _, _)| Format::of(name).is_some());
    found.sort();
    if found.is_empty() {
        let message = format!("it has no file that can be read; expected names that end with {}", Format::NAMES);
        return Err(BadInput::one(place, message).into());
    }
    let file =
        |(name, object, bytes): (String, String, u64)| SourceFile::new(&name, objects.clone(), [(object, bytes)]);
    Ok(found.into_iter().map(file).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_gives_its_readable_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("b/.hidden")).unwrap();
        for name in ["b/2.csv", "a 1.jsonl.gz", "README.md", "b/.hidden/3.csv", ".4.csv", "c.parquet"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        let found = find(folder.path().to_str().unwrap()).await.unwrap();
        assert_eq!(
            found.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
            ["a 1.jsonl.gz", "b/2.csv", "c.parquet"]
        );
        let own = found[0].contents.clone();
        assert_eq!(own.bytes(), 1);
        let bytes = spawn_blocking(move || std::io::read_to_string(own.reader(0))).await.unwrap();
        assert_eq!(bytes.unwrap(), "x");
        let error = find(folder.path().join("README.md").to_str().unwrap()).await.err().unwrap().to_string();
        assert!(error.starts_with("README.md: the end of its name tells no format"), "{error}");
        let error = find(folder.path().join("b/.hidden/nothing").to_str().unwrap()).await.err().unwrap().to_string();
        assert!(error.contains("it cannot be read: No such file"), "{error}");
    }
}
