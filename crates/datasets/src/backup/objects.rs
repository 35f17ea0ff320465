//! Objects of datasets, indexes and uploads: into a backup, and out of it to where a restored database looks for them.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use store::backup::NamedObject;
use store::objects::Objects;
use tokio::io::AsyncWriteExt as _;

/// Bytes that are copied at once.
const BLOCK: u64 = 8 << 20;

/// An object in a backup.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedObject {
    pub path: String,
    pub bytes: u64,
    /// SHA-256, in hex.
    pub hash: String,
}

/// Copies objects into a backup, one after another.
///
/// # Errors
/// One is missing, shorter or longer than it was, or cannot be copied.
pub async fn save(named: &[NamedObject], from: &Objects, to: &Objects) -> anyhow::Result<Vec<SavedObject>> {
    let mut saved = Vec::with_capacity(named.len());
    for NamedObject { owner, path, bytes } in named {
        let bytes = bytes.unsigned_abs();
        let hash = copy(path, bytes, None, from, to).await.with_context(|| {
            format!("cannot save the {owner}; delete it, or make the backup with --without-objects")
        })?;
        saved.push(SavedObject { path: path.clone(), bytes, hash });
    }
    Ok(saved)
}

/// Copies the objects of a backup to where a restored database, which names them, looks for them.
///
/// # Errors
/// One is missing or damaged in the backup, or cannot be copied.
pub async fn put_back(
    saved: &[SavedObject],
    named: &[NamedObject],
    from: &Objects,
    to: &Objects,
) -> anyhow::Result<()> {
    let owners: HashMap<&str, &str> = named.iter().map(|one| (one.path.as_str(), one.owner.as_str())).collect();
    for SavedObject { path, bytes, hash } in saved {
        let copied = copy(path, *bytes, Some(hash), from, to).await;
        copied.with_context(|| format!("cannot restore the {}", owners.get(path.as_str()).unwrap_or(&"object")))?;
    }
    Ok(())
}

/// How many objects are not in their place, or are shorter or longer than they were, by what they belong to.
///
/// # Errors
/// The place cannot be asked.
pub async fn missing(named: &[NamedObject], place: &Objects) -> anyhow::Result<BTreeMap<String, usize>> {
    let mut missing = BTreeMap::new();
    for NamedObject { owner, path, bytes } in named {
        if place.size(path).await? != Some(bytes.unsigned_abs()) {
            *missing.entry(owner.clone()).or_default() += 1;
        }
    }
    Ok(missing)
}

/// Copies an object, which appears only if it is the expected one. Returns its hash.
async fn copy(path: &str, bytes: u64, expected: Option<&str>, from: &Objects, to: &Objects) -> anyhow::Result<String> {
    let place = from.place();
    let found = from.size(path).await?.with_context(|| format!("{path} is missing in {place}"))?;
    ensure!(found == bytes, "{path} in {place} is damaged: it has {found} bytes, not {bytes}");
    let (mut writer, mut hasher, mut next) = (to.writer(path)?, Sha256::new(), 0);
    while next < bytes {
        let end = bytes.min(next + BLOCK);
        let block = from.range(path, next..end).await?;
        hasher.update(&block);
        writer.put(block).await.with_context(|| format!("cannot write {path} to {}", to.place()))?;
        next = end;
    }
    let hash = hex::encode(hasher.finalize());
    if expected.is_some_and(|expected| expected != hash) {
        writer.abort().await?;
        bail!("{path} in {place} is damaged: its SHA-256 is another one");
    }
    writer.shutdown().await.with_context(|| format!("cannot write {path} to {}", to.place()))?;
    Ok(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two blocks and a piece, so that it is written in parts as well.
    const LONG: usize = (2 << 23) + 5;

    #[tokio::test]
    async fn a_long_object_is_copied_in_blocks_and_appears_only_if_it_is_the_expected_one() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| Objects::of_folder(dir.path().join(name)).unwrap();
        let (from, backup, to) = (place("from"), place("backup"), place("to"));
        let mut contents: Vec<u8> = (0..LONG).map(|i| (i % 251).to_le_bytes()[0]).collect();
        from.put("a/long", contents.clone().into()).await.unwrap();
        from.put("a/empty", Vec::new().into()).await.unwrap();
        let named = [("a/long", i64::try_from(LONG).unwrap()), ("a/empty", 0)].map(|(path, bytes)| NamedObject {
            owner: format!("dataset {path}"),
            path: path.to_owned(),
            bytes,
        });
        let saved = save(&named, &from, &backup).await.unwrap();
        put_back(&saved, &named, &backup, &to).await.unwrap();
        assert_eq!(to.get("a/long").await.unwrap(), contents);
        assert_eq!(missing(&named, &to).await.unwrap(), BTreeMap::new());

        contents[LONG - 1] ^= 1;
        backup.put("a/long", contents.into()).await.unwrap();
        let other = place("other");
        let error = put_back(&saved, &named, &backup, &other).await.unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot restore the dataset a/long: a/long in "), "{error:#}");
        assert_eq!(other.list("a").await.unwrap(), [], "nothing of it is left");
        let expected = [("dataset a/empty".to_owned(), 1), ("dataset a/long".to_owned(), 1)];
        assert_eq!(missing(&named, &other).await.unwrap(), BTreeMap::from(expected));
    }
}
