//! What a column holds, by its name.

use std::collections::BTreeSet;

use super::{CONVERSATION, GOAL_ACHIEVED, OVERALL, Problems, RATER, short, table::Table};
use crate::problem::did_you_mean;

#[derive(Debug, PartialEq, Eq)]
pub enum Column {
    Conversation,
    Rater,
    /// Of this criterion, or of the whole.
    Score(String),
    GoalAchieved,
}

/// In the table's order; `None` for what nobody knows.
pub fn recognised(table: &Table, criteria: &[&str], problems: &mut Problems) -> Vec<Option<Column>> {
    let mut seen = BTreeSet::new();
    let columns: Vec<Option<Column>> = table
        .columns
        .iter()
        .map(|name| {
            if !seen.insert(name) {
                problems.add(table.header, &short(name), "is the name of two columns".to_owned());
            }
            let column = column(name, criteria);
            if column.is_none() {
                problems.add(table.header, &short(name), unknown(name, criteria));
            }
            column
        })
        .collect();
    if !columns.contains(&Some(Column::Conversation)) {
        let hint = did_you_mean(CONVERSATION, table.columns.iter().map(String::as_str));
        problems.add(table.header, CONVERSATION, format!("the column is missing: it names what is rated{hint}"));
    }
    columns
}

fn column(name: &str, criteria: &[&str]) -> Option<Column> {
    match name {
        CONVERSATION => Some(Column::Conversation),
        RATER => Some(Column::Rater),
        GOAL_ACHIEVED => Some(Column::GoalAchieved),
        _ if name == OVERALL || criteria.contains(&name) => Some(Column::Score(name.to_owned())),
        _ => None,
    }
}

fn unknown(name: &str, criteria: &[&str]) -> String {
    let known: Vec<&str> = criteria.iter().copied().chain([OVERALL, GOAL_ACHIEVED, CONVERSATION, RATER]).collect();
    let hint = did_you_mean(name, known.iter().copied());
    format!("is not a criterion of the judge{hint}; columns are {}", known.join(", "))
}
