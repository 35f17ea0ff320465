//! An export in the making: its data files in a folder of their own, and then what is handed out.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::export::{PairRule, Shape, Split};
use serde::Serialize;
use sqlx::PgPool;
use tokio::task::spawn_blocking;

use super::part::{PartWriter, Sum};
use super::source::Source;
use super::written::Written;
use super::{bundle, pairs, private, records};

/// What is built, and of what.
pub struct Order {
    /// One a data file.
    pub sources: Vec<(Split, Arc<Source>)>,
    pub shape: Shape,
    pub pairs: PairRule,
    /// For people: what it is called and how its rows were chosen.
    pub title: String,
    pub chosen: String,
}

/// A data file that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// Within the export's folder.
    pub path: String,
    pub split: Split,
    pub bytes: u64,
    /// SHA-256, in hex.
    pub hash: String,
    pub written: Written,
    /// Of preference pairs: what became of the conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<pairs::Report>,
}

/// What a built export consists of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Built {
    pub parts: Vec<Part>,
    pub rows: i64,
}

/// Writes the data files into a folder, with the card and what else belongs to a bundle. `went_on` is told how many
/// conversations more were looked at.
///
/// # Errors
/// The database, or the disk.
pub async fn build(
    pool: &PgPool,
    order: &Order,
    folder: &Path,
    went_on: &mut impl FnMut(i64),
) -> anyhow::Result<Built> {
    private::folder(folder)?;
    private::folder(&folder.join("data"))?;
    let mut parts = Vec::new();
    for (split, source) in &order.sources {
        parts.push(part(pool, order, *split, source, folder, went_on).await?);
    }
    let built = Built { rows: parts.iter().map(|part| part.written.rows).sum(), parts };
    if order.shape.profile.is_bundle() {
        bundle::describe(order, &built, folder)?;
    }
    Ok(built)
}

async fn part(
    pool: &PgPool,
    order: &Order,
    split: Split,
    source: &Arc<Source>,
    folder: &Path,
    went_on: &mut impl FnMut(i64),
) -> anyhow::Result<Part> {
    let path = format!("data/{split}.{}", extension(&order.shape));
    let to = PartWriter::new(private::file(&folder.join(&path))?, &order.shape)?;
    let (to, written, pairs) = if order.shape.profile.is_of_pairs() {
        let (to, written, report) = pairs::write(pool, source, order.shape, order.pairs, to, went_on).await?;
        (to, written, Some(report))
    } else {
        let (to, written) = records::write(pool, source, order.shape, split, to, went_on).await?;
        (to, written, None)
    };
    let Sum { bytes, hash } = spawn_blocking(move || to.finish()).await??;
    Ok(Part { path, split, bytes, hash, written, pairs })
}

/// What is handed out: the data file itself, or all files in one archive; and its size and hash.
///
/// # Errors
/// The disk.
pub fn pack(order: &Order, built: &Built, folder: &Path, out: &Path) -> anyhow::Result<Sum> {
    match built.parts.as_slice() {
        [only] if !order.shape.profile.is_bundle() => {
            fs::rename(folder.join(&only.path), out)?;
            Ok(Sum { bytes: only.bytes, hash: only.hash.clone() })
        }
        _ => bundle::zip(folder, out),
    }
}

/// How the names of its data files end.
pub fn extension(shape: &Shape) -> &'static str {
    match shape.data {
        domain::export::Data::Jsonl => "jsonl",
        domain::export::Data::Parquet => "parquet",
    }
}

/// A name for what is handed out, of letters that are safe in headers and on every disk.
pub fn file_name(title: &str, shape: &Shape) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let slug: String = title.chars().take(60).map(plain).collect();
    let slug: Vec<&str> = slug.split('-').filter(|word| !word.is_empty()).collect();
    let end = if shape.profile.is_bundle() { "zip" } else { extension(shape) };
    let slug = if slug.is_empty() { "export".to_owned() } else { slug.join("-") };
    format!("{slug}-{}.{end}", shape.profile.into_str().replace('_', "-"))
}

/// The files of a folder, by their paths within it, in order.
pub(super) fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder)?.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}
