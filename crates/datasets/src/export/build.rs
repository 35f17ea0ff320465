//! An export in the making: its data files in a folder of their own, and then what is handed out.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use domain::export::{ExportPart, ExportReport, Split};
use sqlx::PgPool;
use tokio::task::spawn_blocking;

use super::contents::{ExportFiles, Order, extension};
use super::part::{PartWriter, Sum};
use super::report::Unusable;
use super::source::Source;
use super::{bundle, groups, pairs, private, records};
use crate::room::Room;

/// Writes the data files into a folder, with the card and what else belongs to a bundle. `went_on` is told how many
/// conversations more were looked at.
///
/// # Errors
/// The database, the disk, or no room.
pub async fn build(
    pool: &PgPool,
    order: &Order,
    folder: &Path,
    room: &Room,
    went_on: &mut impl FnMut(i64),
) -> anyhow::Result<ExportFiles> {
    private::folder(folder)?;
    private::folder(&folder.join("data"))?;
    let (mut report, mut unusable) = (ExportReport::default(), Vec::new());
    for (split, source) in &order.sources {
        let room = room.beside(report.parts.iter().map(|part| part.bytes).sum());
        let (part, of_part) = part(pool, order, (*split, source), folder, room, went_on).await?;
        report.rows += part.written.rows;
        report.parts.push(part);
        unusable.extend(of_part);
    }
    if order.shape.profile.is_bundle() {
        bundle::describe(order, &report, folder)?;
    }
    Ok(ExportFiles { report, unusable })
}

async fn part(
    pool: &PgPool,
    order: &Order,
    (split, source): (Split, &Arc<Source>),
    folder: &Path,
    room: Room,
    went_on: &mut impl FnMut(i64),
) -> anyhow::Result<(ExportPart, Vec<Unusable>)> {
    let path = format!("data/{split}.{}", extension(&order.shape));
    let to = PartWriter::new(private::file(&folder.join(&path))?, &order.shape, room)?;
    let (mut pairs, mut groups, shape) = (None, None, order.shape);
    let (to, written) = if shape.profile.is_of_pairs() {
        let (to, written, report) = pairs::write(pool, source, shape, order.pairs, to, went_on).await?;
        pairs = Some(report);
        (to, written)
    } else if shape.profile.is_of_groups() {
        let (to, written, report) = groups::write(pool, source, (shape, split), to, went_on).await?;
        groups = Some(report);
        (to, written)
    } else {
        records::write(pool, source, shape, split, to, went_on).await?
    };
    let Sum { bytes, hash } = spawn_blocking(move || to.finish()).await??;
    let part = ExportPart { path, split, bytes, hash, written: written.report, pairs, groups };
    Ok((part, written.unusable))
}

/// What is handed out: the data file itself, or all files in one archive; and its size and hash.
///
/// # Errors
/// The disk.
pub fn pack(order: &Order, report: &ExportReport, folder: &Path, out: &Path, room: Room) -> anyhow::Result<Sum> {
    match report.parts.as_slice() {
        [only] if !order.shape.profile.is_bundle() => {
            fs::rename(folder.join(&only.path), out)?;
            Ok(Sum { bytes: only.bytes, hash: only.hash.clone() })
        }
        _ => bundle::zip(folder, out, room),
    }
}
