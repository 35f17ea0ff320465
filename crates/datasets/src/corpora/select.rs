//! The steps that drop conversations and split those that stay.

mod selection;
mod split_groups;

use std::io;

use domain::corpus::{Leakage, ScanReport, Side, Spec, SplitReport, Stage, Step};
use domain::filter::Symbols;
use domain::persona::Complexity;
use uuid::Uuid;

use self::selection::Selection;
use super::near_duplicates::SketchSet;
use super::scan::{self, Findings};
use super::shingles::ShingleFile;
use super::sketch::Sketch;

/// A conversation that the filter found.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub id: Uuid,
    pub run: Uuid,
    /// Place in its run.
    pub position: i32,
    pub scenario: u32,
    pub family: u32,
    pub persona: u32,
    pub complexity: Complexity,
    pub overall: Option<u8>,
    /// Equal for conversations that say the same.
    pub hash: [u8; 16],
    pub findings: Findings,
}

/// All of them, and what they are told apart by, in the same order.
pub struct Candidates {
    pub all: Vec<Candidate>,
    pub sketches: Vec<Sketch>,
    pub shingles: ShingleFile,
    /// The names behind their numbers.
    pub symbols: Symbols,
}

impl Candidates {
    fn sketched<'a>(&'a self, which: &'a [usize]) -> SketchSet<'a> {
        SketchSet { which, sketches: &self.sketches, shingles: &self.shingles }
    }
}

/// Whether a candidate was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateOutcome {
    Kept(Side),
    Dropped { by: Step, reason: String },
}

pub struct SelectionResult {
    /// By candidate.
    pub fates: Vec<CandidateOutcome>,
    pub funnel: Vec<Stage>,
    pub scan: ScanReport,
    pub split: SplitReport,
    pub leakage: Leakage,
}

/// # Errors
/// The file of shingles could not be read.
pub fn select(spec: &Spec, candidates: &Candidates) -> io::Result<SelectionResult> {
    let mut selection = Selection::new(candidates);
    let mut scanned = ScanReport::default();
    candidates.all.iter().for_each(|candidate| scan::count(&mut scanned, &candidate.findings));
    selection.scanned(Step::Pii, spec.scan.pii, |findings| findings.pii);
    selection.scanned(Step::Secrets, spec.scan.secrets, |findings| findings.secret);
    if spec.duplicates.exact {
        selection.exact_duplicates();
    }
    if let Some(least) = spec.duplicates.near {
        selection.near_duplicates(least)?;
    }
    if let Some(rule) = spec.balance {
        selection.balance(rule);
    }
    if let Some(most) = spec.limit {
        selection.limit(most, spec.balance.map(|rule| rule.by));
    }
    let (sides, split, leakage) = split_groups::split(spec.split, candidates, &selection.places)?;
    for (place, side) in selection.places.iter().zip(sides) {
        selection.fates[*place] = Some(CandidateOutcome::Kept(side));
    }
    // What has no fate yet stays: there is nothing that was neither dropped nor split.
    let fates = selection.fates.into_iter().map(|fate| fate.unwrap_or(CandidateOutcome::Kept(Side::Train))).collect();
    Ok(SelectionResult { fates, funnel: selection.funnel, scan: scanned, split, leakage })
}
