//! A filter over some runs: which rows pass, in chunks that fit a processor's cache.

use std::ops::Range;
use std::sync::Arc;

use domain::filter::{Filter, ScoreHistogram};

use super::Columns;
use super::columns::{NONE, present};
use super::predicate::{Predicate, Subject, bytes, nothing, predicates};

/// Rows that are looked at together.
const CHUNK: usize = 4096;
/// Of a row that has not begun.
const ABSENT: u64 = 1 << 63;

/// A filter over some runs.
pub struct Query<'a> {
    pub runs: Vec<RunQuery<'a>>,
}

/// A filter over one run, as predicates of its columns.
pub struct RunQuery<'a> {
    pub columns: &'a Columns,
    predicates: Vec<(Subject, Predicate<'a>)>,
}

impl<'a> Query<'a> {
    /// `search` is a part of the names of scenarios.
    pub fn new(runs: &'a [Arc<Columns>], filter: &Filter, search: Option<&str>) -> Self {
        let run_query =
            |columns: &'a Arc<Columns>| RunQuery { columns, predicates: predicates(columns, filter, search) };
        let mut query = Self { runs: runs.iter().map(run_query).collect() };
        query.keep_the_best(filter);
        query
    }

    /// The best of those that pass everything else: their scores are counted, and what is among the best is then a predicate
    /// like others.
    fn keep_the_best(&mut self, filter: &Filter) {
        let mut counted: Vec<ScoreHistogram> = filter.top.iter().map(ScoreHistogram::of).collect();
        for (top, best) in filter.top.iter().zip(&mut counted) {
            for run_query in &self.runs {
                let Some(column) = run_query.columns.scores_named(top.criterion.as_deref()) else { continue };
                run_query.each(|row| present(column[row]).into_iter().for_each(|score| best.count(score)));
            }
        }
        for (top, best) in filter.top.iter().zip(counted) {
            let least = best.least();
            for run_query in &mut self.runs {
                let predicate = match run_query.columns.scores_named(top.criterion.as_deref()) {
                    Some(column) => bytes(column, |score| score != NONE && score >= least),
                    None => nothing(run_query.columns),
                };
                run_query.predicates.push((None, predicate));
            }
        }
    }

    /// How many rows pass.
    pub fn count(&self) -> usize {
        let mut count = 0;
        self.runs.iter().for_each(|run_query| run_query.each(|_| count += 1));
        count
    }
}

impl RunQuery<'_> {
    /// The subject of each predicate, with the bit that marks rows that do not pass it.
    pub fn bits(&self) -> impl Iterator<Item = (Subject, u64)> {
        // More than there are bits share the last: what they alone keep out is then counted for none of them.
        self.predicates.iter().enumerate().map(|(i, (subject, _))| (*subject, 1 << i.min(62)))
    }

    /// Marks what the rows of a chunk do not pass.
    pub fn mark(&self, rows: &Range<usize>, failed: &mut Vec<u64>) {
        failed.clear();
        failed.extend(self.columns.state[rows.clone()].iter().map(|state| if *state == NONE { ABSENT } else { 0 }));
        for ((_, predicate), (_, bit)) in self.predicates.iter().zip(self.bits()) {
            predicate.mark(rows.start, bit, failed);
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
