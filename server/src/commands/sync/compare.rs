//! What differs between two sides, file by file.

use domain::api::documents::Change;

use projects::library::Files;

pub struct Difference {
    pub path: String,
    pub change: Change,
}

/// What must happen to the files of `to` so that they are those of `from`.
pub fn differences(from: &Files, to: &Files) -> Vec<Difference> {
    let difference = |path: &String, change| Difference { path: path.clone(), change };
    let there = from.iter().filter_map(|(path, text)| match to.get(path) {
        None => Some(difference(path, Change::Added)),
        Some(old) if old != text => Some(difference(path, Change::Changed)),
        Some(_) => None,
    });
    let gone = to.iter().filter(|(path, _)| from.get(path).is_none());
    let mut all: Vec<Difference> = there.chain(gone.map(|(path, _)| difference(path, Change::Deleted))).collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

/// The difference as it is shown.
pub const fn word(change: Change, push: bool, pull: bool, delete: bool) -> &'static str {
    match change {
        Change::Changed | Change::Promoted => "changed",
        Change::Added if push || pull => "new",
        Change::Added => "only here",
        Change::Deleted if delete && (push || pull) => "deleted",
        Change::Deleted if pull => "only here",
        Change::Deleted => "only there",
    }
}
