//! Object storage: what is too large for the database. A folder of this machine, or a bucket of an S3-compatible service.
//!
//! Objects are written whole or not at all, and never change.

use std::fmt;
use std::fs::DirBuilder;
use std::ops::Range;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use anyhow::Context as _;
use bytes::Bytes;
use futures::TryStreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::buffered::BufWriter;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{Error, ObjectStore, ObjectStoreExt as _};

/// How an address of an S3 bucket begins.
pub const S3: &str = "s3://";

/// Where objects are kept. Clones are the same place.
#[derive(Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    place: Arc<str>,
    folder: Option<Arc<FilePath>>,
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Objects({})", self.place)
    }
}

/// An object that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredObject {
    pub path: String,
    pub bytes: u64,
}

impl Objects {
    /// A folder, or `s3://BUCKET/PREFIX`. Keys, region and endpoint of S3 are those of the usual variables, such as
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION` and `AWS_ENDPOINT_URL`.
    ///
    /// # Errors
    /// The folder cannot be made, or the address or the variables are wrong.
    pub fn open(place: &str) -> anyhow::Result<Self> {
        match place.strip_prefix(S3) {
            Some(address) => Self::bucket(place, address),
            None => Self::of_folder(place.into()),
        }
    }

    /// A folder. One that is missing is made, for the owner of the process alone. The folders above it are made as any
    /// program makes them: PostgreSQL, which may run as another user, keeps its own folder beside it.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn of_folder(folder: PathBuf) -> anyhow::Result<Self> {
        make_private(&folder).with_context(|| format!("cannot write to {}", folder.display()))?;
        let store = LocalFileSystem::new_with_prefix(&folder)?.with_fsync(true).with_automatic_cleanup(true);
        let place = folder.display().to_string().into();
        Ok(Self { store: Arc::new(store), place, folder: Some(folder.into()) })
    }

    /// All files of this machine, by absolute paths; only to be read.
    pub fn of_machine() -> Self {
        Self { store: Arc::new(LocalFileSystem::new()), place: "/".into(), folder: None }
    }

    fn bucket(place: &str, address: &str) -> anyhow::Result<Self> {
        let (bucket, prefix) = address.split_once('/').unwrap_or((address, ""));
        anyhow::ensure!(!bucket.is_empty(), "{place} names no bucket; write s3://BUCKET/PREFIX");
        let prefix = Path::parse(prefix.trim_matches('/')).with_context(|| format!("{place} is no address"))?;
        let store = AmazonS3Builder::from_env().with_bucket_name(bucket).build();
        let store = PrefixStore::new(store.with_context(|| format!("cannot use {place}"))?, prefix);
        Ok(Self { store: Arc::new(store), place: place.into(), folder: None })
    }

    /// As people write it.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The folder whose disk fills, if it is one.
    pub fn folder(&self) -> Option<&FilePath> {
        self.folder.as_deref()
    }

    /// # Errors
    /// The storage refuses it.
    pub async fn put(&self, path: &str, bytes: Bytes) -> anyhow::Result<()> {
        let put = self.store.put(&parse(path)?, bytes.into()).await;
        put.with_context(|| self.failed("write", path))?;
        Ok(())
    }

    /// # Errors
    /// There is no such object, it is shorter, or the storage cannot be asked.
    pub async fn range(&self, path: &str, range: Range<u64>) -> anyhow::Result<Bytes> {
        self.store.get_range(&parse(path)?, range).await.with_context(|| self.failed("read", path))
    }

    /// # Errors
    /// There is no such object, or the storage cannot be asked.
    pub async fn get(&self, path: &str) -> anyhow::Result<Bytes> {
        let found = self.store.get(&parse(path)?).await.with_context(|| self.failed("read", path))?;
        found.bytes().await.with_context(|| self.failed("read", path))
    }

    /// `None`: there is no such object.
    ///
    /// # Errors
    /// The storage cannot be asked.
    pub async fn size(&self, path: &str) -> anyhow::Result<Option<u64>> {
        match self.store.head(&parse(path)?).await {
            Ok(object) => Ok(Some(object.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error).with_context(|| self.failed("read", path)),
        }
    }

    /// Writes an object of any length. It appears when the writer is shut down.
    ///
    /// # Errors
    /// The path is none.
    pub fn writer(&self, path: &str) -> anyhow::Result<BufWriter> {
        Ok(BufWriter::new(Arc::clone(&self.store), parse(path)?))
    }

    /// The objects below a prefix, by path.
    ///
    /// # Errors
    /// The storage cannot be asked.
    pub async fn list(&self, prefix: &str) -> anyhow::Result<Vec<StoredObject>> {
        let prefix = parse(prefix)?;
        let found = self.store.list(Some(&prefix));
        let found = found.map_ok(|object| StoredObject { path: object.location.to_string(), bytes: object.size });
        let mut found: Vec<StoredObject> =
            found.try_collect().await.with_context(|| self.failed("list", prefix.as_ref()))?;
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// One that is not there is as good as deleted.
    ///
    /// # Errors
    /// The storage refuses it.
    pub async fn delete(&self, path: &str) -> anyhow::Result<()> {
        match self.store.delete(&parse(path)?).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error).with_context(|| self.failed("delete", path)),
        }
    }

    /// Deletes all objects below a prefix.
    ///
    /// # Errors
    /// The storage refuses it; some may be gone.
    pub async fn delete_below(&self, prefix: &str) -> anyhow::Result<()> {
        for object in self.list(prefix).await? {
            self.delete(&object.path).await?;
        }
        Ok(())
    }

    fn failed(&self, what: &str, path: &str) -> String {
        format!("cannot {what} {path} in the object storage {}", self.place)
    }
}

/// Of what is missing, only the last folder is for the owner alone.
fn make_private(folder: &FilePath) -> io::Result<()> {
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}

fn parse(path: &str) -> anyhow::Result<Path> {
    Path::parse(path).with_context(|| format!("`{path}` is no path of an object"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn a_folder_keeps_objects() {
        let folder = std::env::temp_dir().join(format!("groundstate-objects-{}", uuid::Uuid::now_v7()));
        let objects = Objects::open(folder.to_str().unwrap()).unwrap();
        objects.put("a/b/1", Bytes::from_static(b"one")).await.unwrap();
        objects.put("a/b/0", Bytes::from_static(b"zero")).await.unwrap();
        objects.put("a/c", Bytes::new()).await.unwrap();
        assert_eq!(objects.range("a/b/0", 1..3).await.unwrap(), "er");
        let paths = |found: Vec<StoredObject>| found.into_iter().map(|object| object.path).collect::<Vec<_>>();
        assert_eq!(paths(objects.list("a/b").await.unwrap()), ["a/b/0", "a/b/1"]);
        assert_eq!((objects.size("a/b/1").await.unwrap(), objects.size("a/d").await.unwrap()), (Some(3), None));
        objects.delete_below("a/b").await.unwrap();
        objects.delete("a/b/0").await.unwrap();
        assert_eq!(paths(objects.list("a").await.unwrap()), ["a/c"]);
        assert!(objects.get("../a").await.is_err(), "no path leads out of the folder");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_missing_folder_is_private_and_those_above_it_are_not() {
        let above = std::env::temp_dir().join(format!("groundstate-objects-{}", uuid::Uuid::now_v7()));
        let folder = above.join("files");
        let mode = |folder: &FilePath| fs::metadata(folder).unwrap().permissions().mode() & 0o777;
        for _ in 0..2 {
            Objects::of_folder(folder.clone()).unwrap();
        }
        let beside = above.join("beside");
        fs::create_dir(&beside).unwrap();
        assert_eq!((mode(&folder), mode(&above)), (0o700, mode(&beside)));
        fs::write(above.join("file"), "").unwrap();
        Objects::of_folder(above.join("file")).unwrap_err();
        fs::remove_dir_all(above).unwrap();
    }

    #[test]
    fn an_address_names_a_bucket() {
        let error = Objects::open("s3:///rows").unwrap_err().to_string();
        assert_eq!(error, "s3:///rows names no bucket; write s3://BUCKET/PREFIX");
    }
}
