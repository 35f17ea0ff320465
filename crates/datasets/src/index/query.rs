//! A filter over some runs: which rows pass, in chunks that fit a processor's cache.

use std::ops::Range;
use std::sync::Arc;

use domain::filter::{Filter, cutoff};

use super::Columns;
use super::columns::{NONE, present};
use super::predicate::{Dimension, Test, bytes, tests};

/// Rows that are looked at together.
const CHUNK: usize = 4096;
/// Of a row that has not begun.
const ABSENT: u64 = 1 << 63;

/// What is asked of some runs.
pub struct Query<'a> {
    pub runs: Vec<Asked<'a>>,
}

/// What is asked of one.
pub struct Asked<'a> {
    pub columns: &'a Columns,
    tests: Vec<(Dimension, Test<'a>)>,
}

impl<'a> Query<'a> {
    /// `search` is a part of the names of scenarios.
    pub fn new(runs: &'a [Arc<Columns>], filter: &Filter, search: Option<&str>) -> Self {
        let asked = |columns: &'a Arc<Columns>| Asked { columns, tests: tests(columns, filter, search) };
        let mut query = Self { runs: runs.iter().map(asked).collect() };
        query.keep_the_best(filter);
        query
    }

    /// The best of those that pass everything else: their scores are counted, and then they are a test like others.
    fn keep_the_best(&mut self, filter: &Filter) {
        let mut counted: Vec<[u64; 11]> = vec![[0; 11]; filter.top.len()];
        for (top, by_score) in filter.top.iter().zip(&mut counted) {
            for asked in &self.runs {
                let Some(column) = asked.scores(top.criterion.as_deref()) else { continue };
                asked.each(|row| {
                    if let Some(score) = present(column[row]) {
                        by_score[usize::from(score.min(10))] += 1;
                    }
                });
            }
        }
        for (top, by_score) in filter.top.iter().zip(counted) {
            let least = cutoff(&by_score, top.share);
            for asked in &mut self.runs {
                let test = match asked.scores(top.criterion.as_deref()) {
                    Some(column) => bytes(column, |score| score != NONE && score >= least),
                    None => bytes(&asked.columns.state, |_| false),
                };
                asked.tests.push((Dimension::Top, test));
            }
        }
    }

    /// How many rows pass.
    pub fn count(&self) -> usize {
        let mut count = 0;
        self.runs.iter().for_each(|asked| asked.each(|_| count += 1));
        count
    }
}

impl<'a> Asked<'a> {
    /// The scores of a criterion, or overall.
    pub fn scores(&self, criterion: Option<&str>) -> Option<&'a [u8]> {
        criterion.map_or(Some(self.columns.overall.as_slice()), |criterion| self.columns.scores_of(criterion))
    }

    /// What is asked, each with the bit that marks rows that do not pass it.
    pub fn bits(&self) -> impl Iterator<Item = (&Dimension, u64)> {
        // More than there are bits share the last: what they alone keep out is then counted for none of them.
        self.tests.iter().enumerate().map(|(i, (dimension, _))| (dimension, 1 << i.min(62)))
    }

    /// Marks what the rows of a chunk do not pass.
    pub fn mark(&self, rows: &Range<usize>, failed: &mut Vec<u64>) {
        failed.clear();
        failed.extend(self.columns.state[rows.clone()].iter().map(|state| if *state == NONE { ABSENT } else { 0 }));
        for ((_, test), (_, bit)) in self.tests.iter().zip(self.bits()) {
            test.mark(rows.start, bit, failed);
        }
    }

    pub fn chunks(&self) -> impl DoubleEndedIterator<Item = Range<usize>> {
        let len = self.columns.len();
        (0..len.div_ceil(CHUNK)).map(move |chunk| chunk * CHUNK..len.min((chunk + 1) * CHUNK))
    }

    /// Each row that passes, in order.
    pub fn each(&self, mut row: impl FnMut(usize)) {
        let mut failed = Vec::with_capacity(CHUNK);
        for rows in self.chunks() {
            self.mark(&rows, &mut failed);
            rows.zip(&failed).filter(|(_, failed)| **failed == 0).for_each(|(i, _)| row(i));
        }
    }
}
