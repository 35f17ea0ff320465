//! Lists of what is built in the background: they follow what is still being built.

use domain::api::{BuildState, CorpusSummary, DatasetSummary, ExportSummary, IndexSummary, Page};
use leptos::prelude::*;

use super::progress::follow_part;
use ui::api_client::{Answer, ApiError};

/// Rows that the API gives at once.
const PAGE: usize = 50;

/// What stands in such a list, newest first.
pub trait ListedJob: Clone + PartialEq + Send + Sync + 'static {
    fn id(&self) -> &str;
    fn state(&self) -> BuildState;

    fn is_building(&self) -> bool {
        self.state() == BuildState::Building
    }
}

impl ListedJob for CorpusSummary {
    fn id(&self) -> &str {
        &self.id
    }

    fn state(&self) -> BuildState {
        self.state
    }
}

impl ListedJob for ExportSummary {
    fn id(&self) -> &str {
        &self.id
    }

    fn state(&self) -> BuildState {
        self.state
    }
}

impl ListedJob for DatasetSummary {
    fn id(&self) -> &str {
        &self.id
    }

    fn state(&self) -> BuildState {
        self.state
    }
}

impl ListedJob for IndexSummary {
    fn id(&self) -> &str {
        &self.id
    }

    fn state(&self) -> BuildState {
        self.state
    }
}

/// Keeps rows as they are on the server, as long as one of them is being built. `load` gives the page after a row. Gives why
/// the last answer did not come, if it did not.
pub fn follow_rows<T: ListedJob, F>(
    rows: RwSignal<Vec<T>>,
    load: impl Fn(Option<String>) -> F + 'static,
) -> Signal<Option<ApiError>>
where
    F: Future<Output = Answer<Page<T>>> + 'static,
{
    let load = StoredValue::new_local(load);
    let newest = move || {
        let before = rows.with_untracked(|rows| before_oldest(rows));
        let page = load.with_value(|load| load(before.clone()));
        async move { page.await.map(|page| (before, page)) }
    };
    follow_part(
        rows,
        |rows| rows.iter().any(ListedJob::is_building),
        newest,
        |rows, (before, page)| renew(rows, before.as_deref(), page),
    )
}

/// A row as it is now.
pub fn row<T: ListedJob>(rows: RwSignal<Vec<T>>, first: T) -> Memo<T> {
    Memo::new(move |before: Option<&T>| {
        let own = before.unwrap_or(&first);
        rows.read().iter().find(|row| row.id() == own.id()).unwrap_or(own).clone()
    })
}

/// The row after which a page begins that holds the oldest one that is being built. The oldest is built first.
fn before_oldest<T: ListedJob>(rows: &[T]) -> Option<String> {
    let oldest = rows.iter().rposition(ListedJob::is_building)?;
    let before = (oldest + 1).checked_sub(PAGE + 1)?;
    Some(rows[before].id().to_owned())
}

/// Takes over what a page says of rows that are here; what it should hold and does not was deleted.
fn renew<T: ListedJob>(rows: &mut Vec<T>, before: Option<&str>, page: Page<T>) -> bool {
    let old = rows.clone();
    let first = before.map_or(Some(0), |id| rows.iter().position(|row| row.id() == id).map(|at| at + 1));
    let Some(first) = first else { return false };
    let Page { items, next } = page;
    let last = match (&next, items.last()) {
        (Some(_), Some(last)) => rows.iter().rposition(|row| row.id() == last.id()).map_or(first, |at| at + 1),
        _ => rows.len(),
    };
    let mut at = 0;
    rows.retain_mut(|row| {
        let within = (first..last).contains(&at);
        at += 1;
        match items.iter().find(|item| item.id() == row.id()) {
            Some(item) => row.clone_from(item),
            None => return !within,
        }
        true
    });
    *rows != old
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Row(String, bool);

    impl ListedJob for Row {
        fn id(&self) -> &str {
            &self.0
        }

        fn state(&self) -> BuildState {
            if self.1 { BuildState::Building } else { BuildState::Ready }
        }
    }

    fn rows(all: &[(&str, bool)]) -> Vec<Row> {
        all.iter().map(|(id, building)| Row((*id).to_owned(), *building)).collect()
    }

    fn page(items: &[(&str, bool)], next: bool) -> Page<Row> {
        Page { items: rows(items), next: next.then(|| "next".to_owned()) }
    }

    #[test]
    fn rows_become_what_the_page_says_and_others_stay() {
        let mut list = rows(&[("d", true), ("c", true), ("b", false), ("a", false)]);
        assert!(!renew(&mut list, None, page(&[("d", true), ("c", true)], true)), "nothing is new");
        // One was begun by somebody else; it comes with the next visit.
        assert!(renew(&mut list, None, page(&[("e", true), ("d", true), ("c", false)], true)));
        assert_eq!(list, rows(&[("d", true), ("c", false), ("b", false), ("a", false)]));
        // What the page passes over, or what should stand on the last page, is gone.
        assert!(renew(&mut list, None, page(&[("c", false), ("b", false)], true)));
        assert_eq!(list, rows(&[("c", false), ("b", false), ("a", false)]));
        assert!(renew(&mut list, Some("c"), page(&[("b", false)], false)));
        assert_eq!(list, rows(&[("c", false), ("b", false)]));
        assert!(!renew(&mut list, Some("gone"), page(&[], false)));
    }

    #[test]
    fn the_page_with_the_oldest_that_is_built_is_asked_for() {
        let numbered = |building: usize| -> Vec<Row> { (0..120).map(|i| Row(i.to_string(), i == building)).collect() };
        assert_eq!(before_oldest(&numbered(49)), None);
        assert_eq!(before_oldest(&numbered(50)), Some("0".to_owned()));
        assert_eq!(before_oldest(&numbered(119)), Some("69".to_owned()));
        assert_eq!(before_oldest(&numbered(200)), None);
    }
}
