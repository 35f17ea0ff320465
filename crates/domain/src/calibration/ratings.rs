//! Ratings of conversations by people, read from CSV or JSON.
//!
//! One row is what one person says of one conversation. Columns: `conversation` (its id), `rater` (may be left out if
//! one person rated), one for each criterion that was rated, `overall`, and `goal_achieved`. Scores are whole numbers
//! from 0 to 10; an empty cell means "not rated". JSON is a list of objects with the same names.

mod columns;
mod csv;
mod json;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use super::OVERALL;
use crate::problem::Problem;
use columns::Column;
use table::{Row, Table};

/// Largest text that is read, in bytes: enough for a hundred thousand ratings.
pub const MAX_BYTES: usize = 8 << 20;
/// As many problems as anybody reads.
const MAX_PROBLEMS: usize = 1_000;

pub(super) const CONVERSATION: &str = "conversation";
pub(super) const RATER: &str = "rater";
pub(super) const GOAL_ACHIEVED: &str = "goal_achieved";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// RFC 4180, with a header.
    Csv,
    /// A list of objects.
    Json,
}

impl Format {
    /// By how the file's name ends.
    pub fn of_file(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// What people say of conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ratings {
    /// Those with a column, in the judge's order, then [`OVERALL`].
    pub criteria: Vec<String>,
    pub rows: Vec<Rating>,
}

/// What one person says of one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rating {
    pub conversation: String,
    /// Empty if the file names nobody.
    pub rater: String,
    /// By criterion, [`OVERALL`] included, 0 to 10.
    pub scores: BTreeMap<String, u8>,
    pub goal_achieved: Option<bool>,
}

impl Ratings {
    pub(super) fn by_conversation(&self) -> BTreeMap<&str, Vec<&Rating>> {
        let mut grouped: BTreeMap<&str, Vec<&Rating>> = BTreeMap::new();
        for rating in &self.rows {
            grouped.entry(&rating.conversation).or_default().push(rating);
        }
        grouped
    }
}

/// Reads ratings of a judge's criteria. `file` is only a name for messages.
///
/// # Errors
/// Everything that is wrong with the text, with line and column; after the first thousand it stops.
pub fn read(file: &str, text: &str, format: Format, criteria: &[&str]) -> Result<Ratings, Vec<Problem>> {
    let mut problems = Problems { file, found: Vec::new() };
    let read = if text.len() > MAX_BYTES {
        problems.add(0, "", format!("is {} bytes long; at most {MAX_BYTES} are read", text.len()));
        None
    } else {
        // Spreadsheets mark UTF-8 with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let table = match format {
            Format::Csv => csv::table(text, &mut problems),
            Format::Json => json::table(text, &mut problems),
        };
        table.map(|table| ratings(&table, criteria, &mut problems))
    };
    match read {
        Some(ratings) if problems.found.is_empty() => Ok(ratings),
        _ => {
            problems.found.sort();
            Err(problems.found)
        }
    }
}

fn ratings(table: &Table, criteria: &[&str], problems: &mut Problems) -> Ratings {
    let columns = columns::recognised(table, criteria, problems);
    let rated = |name: &&str| columns.iter().any(|column| matches!(column, Some(Column::Score(c)) if c == name));
    let criteria = criteria.iter().copied().filter(|name| *name != OVERALL).chain([OVERALL]).filter(rated);
    let criteria = criteria.map(str::to_owned).collect();
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for row in &table.rows {
        let Some(rating) = rating(row, &columns, problems) else { continue };
        if !seen.insert((rating.conversation.clone(), rating.rater.clone())) {
            let by = if rating.rater.is_empty() { String::new() } else { format!(" by `{}`", short(&rating.rater)) };
            let message = format!("`{}` is rated twice{by}; name the raters or drop one", short(&rating.conversation));
            problems.add(row.line, CONVERSATION, message);
        }
        rows.push(rating);
    }
    if table.rows.is_empty() && problems.found.is_empty() {
        problems.add(0, "", "holds no rating".to_owned());
    }
    Ratings { criteria, rows }
}

/// `None` if it cannot be said of what it is a rating.
fn rating(row: &Row, columns: &[Option<Column>], problems: &mut Problems) -> Option<Rating> {
    let mut rating =
        Rating { conversation: String::new(), rater: String::new(), scores: BTreeMap::new(), goal_achieved: None };
    for (column, cell) in columns.iter().zip(&row.cells).filter_map(|(column, cell)| Some((column.as_ref()?, cell))) {
        match column {
            Column::Conversation => rating.conversation.clone_from(cell),
            Column::Rater => rating.rater.clone_from(cell),
            _ if cell.is_empty() => {}
            Column::Score(criterion) => match score(cell) {
                Ok(score) => drop(rating.scores.insert(criterion.clone(), score)),
                Err(message) => problems.add(row.line, criterion, message),
            },
            Column::GoalAchieved => {
                rating.goal_achieved = yes_or_no(cell);
                if rating.goal_achieved.is_none() {
                    let message = format!("`{}` is neither true nor false (nor yes, no, 1, 0)", short(cell));
                    problems.add(row.line, GOAL_ACHIEVED, message);
                }
            }
        }
    }
    if !rating.conversation.is_empty() {
        return Some(rating);
    }
    // Without the column, that is said once, not for every row.
    if columns.contains(&Some(Column::Conversation)) {
        problems.add(row.line, CONVERSATION, "is empty; it names the conversation that is rated".to_owned());
    }
    None
}

/// A whole number from 0 to 10. Programs that have no empty whole numbers write `7.0`.
fn score(cell: &str) -> Result<u8, String> {
    let whole = cell.strip_suffix(".0").unwrap_or(cell);
    match whole.parse::<u8>() {
        Ok(score) if score <= 10 => Ok(score),
        _ => Err(format!("`{}` is not a whole number from 0 to 10; leave it empty if it was not rated", short(cell))),
    }
}

fn yes_or_no(cell: &str) -> Option<bool> {
    match cell.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Some(true),
        "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// A text as it stands in a message: a cell may hold a novel.
fn short(text: &str) -> String {
    const LONGEST: usize = 40;
    let cut = text.char_indices().nth(LONGEST).map(|(cut, _)| cut);
    let shown = text[..cut.unwrap_or(text.len())].replace(char::is_control, " ");
    if cut.is_some() { shown + "..." } else { shown }
}

struct Problems<'a> {
    file: &'a str,
    found: Vec<Problem>,
}

impl Problems<'_> {
    fn add(&mut self, line: usize, column: &str, message: String) {
        if self.found.len() < MAX_PROBLEMS {
            self.found.push(Problem::new(self.file, line, column, message));
        }
    }
}
