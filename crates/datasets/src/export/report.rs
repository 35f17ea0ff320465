//! Counts of the conversations of an export: written, left out, and why.

use domain::export::RowReport;

/// Rows that are listed one by one.
const LISTED: usize = 1_000;

/// Position of a conversation in its run, and the reason why one of its rows was left out.
pub type Unusable = (i32, String);

#[derive(Debug, Clone, Default, PartialEq)]
pub struct WrittenRows {
    pub report: RowReport,
    /// The first rows that trainers could not load.
    pub unusable: Vec<Unusable>,
}

impl WrittenRows {
    pub fn leave_out(&mut self, position: i32, reason: String) {
        self.report.leave_out(&reason);
        if self.unusable.len() < LISTED {
            self.unusable.push((position, reason));
        }
    }

    pub fn add(&mut self, other: Self) {
        self.report.add(other.report);
        self.unusable.extend(other.unusable);
        self.unusable.truncate(LISTED);
    }
}
