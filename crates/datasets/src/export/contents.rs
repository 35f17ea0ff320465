//! The contents of an export: its sources, its built files, and their names.

use std::sync::Arc;

use domain::export::{Data, ExportReport, PairRule, Shape, Split};

use super::report::Unusable;
use super::source::Source;

/// An export that is to be built.
pub struct Order {
    /// One a data file.
    pub sources: Vec<(Split, Arc<Source>)>,
    pub shape: Shape,
    pub pairs: PairRule,
    /// For people: what it is called and how its rows were chosen.
    pub title: String,
    pub chosen: String,
}

/// The files of a built export.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportFiles {
    pub report: ExportReport,
    /// The first rows of each file that trainers could not load.
    pub unusable: Vec<Unusable>,
}

/// How the names of its data files end.
pub fn extension(shape: &Shape) -> &'static str {
    match shape.data {
        Data::Jsonl => "jsonl",
        Data::Parquet => "parquet",
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
