//! In which order rows are listed, and pages of them.
//!
//! Ranks are few: a score, or nothing at all. So a page is found in one walk over the rows, which keeps the first rows
//! of each rank that come after the place where the page begins.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use uuid::Uuid;

use super::Query;
use super::columns::NONE;
use super::query::RunQuery;

/// Scores from 0 to 10, and then what has none.
const RANKS: usize = 12;

/// What rows are ordered by. Runs are ordered as they are given; what is equal stands in the order of the runs, and there
/// by position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sort {
    pub by: SortKey,
    /// Of positions: the order turned round. Of scores: the best first; what has none comes last in any case.
    pub descending: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SortKey {
    #[default]
    Position,
    Overall,
    Criterion(String),
}

/// A place in the order. It stays where it is when rows come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    rank: usize,
    pub run: Uuid,
    pub position: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.rank, self.run.simple(), self.position)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split('.');
        let mut next = || parts.next().ok_or(());
        let (rank, run, position) = (next()?, next()?, next()?);
        let rank = rank.parse().ok().filter(|rank| *rank < RANKS).ok_or(())?;
        let position = position.parse().map_err(drop)?;
        if parts.next().is_some() {
            return Err(());
        }
        Ok(Self { rank, run: run.parse().map_err(drop)?, position })
    }
}

impl Query<'_> {
    /// So many rows after a place, or before it: nearest first.
    pub fn walk(&self, sort: &Sort, from: Option<Place>, limit: usize, backward: bool) -> Vec<Place> {
        self.found(sort, from, 0..limit, backward)
    }

    /// So many rows after a place, but for the first ones.
    pub fn page(&self, sort: &Sort, from: Option<Place>, skip: usize, limit: usize) -> Vec<Place> {
        self.found(sort, from, skip..skip.saturating_add(limit), false)
    }

    /// Of the rows after a place or before it, nearest first, these.
    fn found(&self, sort: &Sort, from: Option<Place>, which: Range<usize>, backward: bool) -> Vec<Place> {
        let (skip, limit) = (which.start, which.end);
        let reversed = (sort.by == SortKey::Position && sort.descending) != backward;
        let from = from.map(|place| (place.rank, self.ordinal(place.run), place.position));
        let last = if sort.by == SortKey::Position { 0 } else { RANKS - 1 };
        let first = from.map_or(if reversed { last } else { 0 }, |(rank, ..)| rank);
        let mut found: [Vec<CompactPlace>; RANKS] = Default::default();
        let mut failed = Vec::new();
        let mut runs: Vec<(usize, &RunQuery<'_>)> = self.runs.iter().enumerate().collect();
        if reversed {
            runs.reverse();
        }
        for (ordinal, run_query) in runs {
            let ranks = Ranks::of(run_query, sort);
            let mut chunks: Vec<_> = run_query.chunks().collect();
            if reversed {
                chunks.reverse();
            }
            for rows in chunks {
                // Rows of other ranks than this one come later, and those of this one are found.
                if found[first].len() >= limit || ranks.all_before(ordinal, &rows, from, reversed) {
                    continue;
                }
                run_query.mark(&rows, &mut failed);
                let mut keep = |row: usize| {
                    let rank = ranks.of_row(row);
                    let key = (rank, ordinal, row);
                    let after = from.is_none_or(|from| if reversed { key < from } else { key > from });
                    if failed[row - rows.start] == 0 && after && found[rank].len() < limit {
                        found[rank].push(CompactPlace::new(rank, ordinal, row));
                    }
                };
                if reversed { rows.clone().rev().for_each(&mut keep) } else { rows.clone().for_each(&mut keep) }
            }
        }
        if reversed {
            found.reverse();
        }
        let places = found.into_iter().flatten().skip(skip).take(limit - skip);
        places.map(|found| found.place(self.runs[found.run as usize].columns.run)).collect()
    }

    /// The place of a row, which needs not pass.
    pub fn place(&self, sort: &Sort, run: Uuid, position: usize) -> Option<Place> {
        let run_query =
            self.runs.iter().find(|run_query| run_query.columns.run == run && position < run_query.columns.len())?;
        Some(Place { rank: Ranks::of(run_query, sort).of_row(position), run, position })
    }

    /// Whether a place can be one of these rows'.
    pub fn knows(&self, place: Place) -> bool {
        self.runs.iter().any(|run_query| run_query.columns.run == place.run)
    }

    fn ordinal(&self, run: Uuid) -> usize {
        self.runs.iter().position(|run_query| run_query.columns.run == run).unwrap_or(usize::MAX)
    }
}

/// A place in few bytes, because skipping to the end of a million rows finds them all.
#[derive(Clone, Copy)]
struct CompactPlace {
    rank: u8,
    run: u32,
    row: u32,
}

impl CompactPlace {
    #[expect(clippy::cast_possible_truncation, reason = "there are 12 ranks, and far fewer than 2^32 runs and rows")]
    const fn new(rank: usize, run: usize, row: usize) -> Self {
        Self { rank: rank as u8, run: run as u32, row: row as u32 }
    }

    const fn place(self, run: Uuid) -> Place {
        Place { rank: self.rank as usize, run, position: self.row as usize }
    }
}

/// Ranks of the rows of a run.
enum Ranks<'a> {
    None,
    /// Scores, and whether the best come first.
    Scores(&'a [u8], bool),
    /// What no judge was asked for.
    Last,
}

impl<'a> Ranks<'a> {
    fn of(run_query: &RunQuery<'a>, sort: &Sort) -> Self {
        let criterion = match &sort.by {
            SortKey::Position => return Self::None,
            SortKey::Overall => None,
            SortKey::Criterion(name) => Some(name.as_str()),
        };
        run_query.columns.scores_named(criterion).map_or(Self::Last, |column| Self::Scores(column, sort.descending))
    }

    fn of_row(&self, row: usize) -> usize {
        match self {
            Self::None => 0,
            Self::Last => RANKS - 1,
            Self::Scores(column, _) if column[row] == NONE => RANKS - 1,
            Self::Scores(column, descending) => {
                let score = usize::from(column[row].min(10));
                if *descending { 10 - score } else { score }
            }
        }
    }

    /// Whether no row of a chunk can come after a place: with a single rank its position tells.
    fn all_before(
        &self,
        ordinal: usize,
        rows: &Range<usize>,
        from: Option<(usize, usize, usize)>,
        reversed: bool,
    ) -> bool {
        let (Self::None, Some((_, run, position))) = (self, from) else { return false };
        if reversed { (ordinal, rows.start) >= (run, position) } else { (ordinal, rows.end) <= (run, position) }
    }
}
