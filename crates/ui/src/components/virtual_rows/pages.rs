//! The pages of a list that are here.
//!
//! A page is reached by the cursor of the one before, if that was read, else by passing over those between: a jump far down
//! reads only what is shown there. Pages far from what is in sight are forgotten, but for their cursors.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use domain::api::Page;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client::{Answer, ApiError, PAGE, PageStart};

/// Pages that are kept: scrolling to and fro asks for nothing twice.
const KEPT: usize = 24;

type Fetch<T> = Box<dyn Fn(PageStart) -> std::pin::Pin<Box<dyn Future<Output = Answer<Page<T>>>>>>;

pub struct Pages<T: Send + Sync + 'static> {
    here: RwSignal<HashMap<usize, Vec<Arc<T>>>>,
    /// What stands before each page, as far as it is known.
    cursors: StoredValue<BTreeMap<usize, String>>,
    /// How many rows there are, once the last page was here.
    end: RwSignal<Option<usize>>,
    /// The rows that are in sight.
    wanted: StoredValue<Range<usize>>,
    busy: StoredValue<bool>,
    failed: RwSignal<Option<ApiError>>,
    fetch: StoredValue<Fetch<T>, LocalStorage>,
}

impl<T: Send + Sync + 'static> Clone for Pages<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Pages<T> {}

impl<T: Clone + Send + Sync + 'static> Pages<T> {
    pub fn new<F>(load: impl Fn(PageStart) -> F + 'static) -> Self
    where
        F: Future<Output = Answer<Page<T>>> + 'static,
    {
        Self {
            here: RwSignal::new(HashMap::new()),
            cursors: StoredValue::new(BTreeMap::new()),
            end: RwSignal::new(None),
            wanted: StoredValue::new(0..0),
            busy: StoredValue::new(false),
            failed: RwSignal::new(None),
            fetch: StoredValue::new_local(Box::new(move |place| Box::pin(load(place)))),
        }
    }

    /// How many rows there are: exactly, or as was said beforehand, or at least those that are here.
    pub fn total(self, said: Option<u64>) -> usize {
        let said = said.and_then(|said| usize::try_from(said).ok());
        let here = || self.here.read().iter().map(|(page, rows)| page * PAGE + rows.len()).max();
        self.end.get().or(said).or_else(here).unwrap_or_default()
    }

    pub fn row(self, index: usize) -> Option<Arc<T>> {
        self.here.read().get(&(index / PAGE))?.get(index % PAGE).cloned()
    }

    pub fn failed(self) -> Option<ApiError> {
        self.failed.get()
    }

    pub fn again(self, wanted: Range<usize>) {
        self.failed.set(None);
        self.want(wanted);
    }

    /// Fetches what is missing of these rows; what was wanted before is no longer.
    pub fn want(self, rows: Range<usize>) {
        self.wanted.set_value(rows);
        if self.busy.get_value() || self.failed.read_untracked().is_some() {
            return;
        }
        self.busy.set_value(true);
        spawn_local(async move {
            // Signals are gone once the reader has left the page.
            while let Some((page, place)) = self.next() {
                let Some(answer) = self.fetch.try_with_value(|fetch| fetch(place)) else { return };
                match answer.await {
                    Ok(rows) => self.insert_page(page, rows),
                    Err(error) => {
                        self.failed.try_set(Some(error));
                        break;
                    }
                }
            }
            self.busy.try_update_value(|busy| *busy = false);
        });
    }

    /// The page to fetch next: the first that is wanted and not here.
    fn next(self) -> Option<(usize, PageStart)> {
        let wanted = self.wanted.try_get_value()?;
        let here = self.here.try_read_untracked()?;
        // What was foretold may be more than there is.
        let end = self.end.try_get_untracked()?.unwrap_or(usize::MAX);
        let missing = pages_of(&wanted).find(|page| !here.contains_key(page) && page * PAGE < end.max(1))?;
        Some((missing, self.cursors.try_with_value(|cursors| place_of(missing, cursors))?))
    }

    fn insert_page(self, page: usize, rows: Page<T>) {
        let Some(wanted) = self.wanted.try_get_value() else { return };
        match &rows.next {
            Some(next) => {
                self.cursors.try_update_value(|cursors| cursors.insert(page + 1, next.clone()));
            }
            // A page behind the last one is empty, and does not tell where the last one ends.
            None if page == 0 || !rows.items.is_empty() => {
                self.end.try_set(Some(page * PAGE + rows.items.len()));
            }
            None => {
                self.end.try_update(|end| *end = Some(end.map_or(page * PAGE, |end| end.min(page * PAGE))));
            }
        }
        let wanted = pages_of(&wanted);
        self.here.try_update(|here| {
            here.insert(page, rows.items.into_iter().map(Arc::new).collect());
            while here.len() > KEPT {
                let Some(farthest) = here.keys().copied().max_by_key(|own| own.abs_diff(*wanted.start())) else {
                    return;
                };
                here.remove(&farthest);
            }
        });
    }
}

/// From the nearest cursor before it.
fn place_of(page: usize, cursors: &BTreeMap<usize, String>) -> PageStart {
    let nearest = cursors.range(..=page).next_back();
    let (from, after) = nearest.map_or((0, None), |(from, cursor)| (*from, Some(cursor.clone())));
    PageStart { after, skip: (page - from) * PAGE }
}

fn pages_of(rows: &Range<usize>) -> std::ops::RangeInclusive<usize> {
    rows.start / PAGE..=rows.end.saturating_sub(1).max(rows.start) / PAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_reached_from_the_nearest_cursor_before_it() {
        let place = |after: Option<&str>, skip| PageStart { after: after.map(str::to_owned), skip };
        let cursors = [(1, "a"), (7, "b")].map(|(page, cursor)| (page, cursor.to_owned())).into();
        assert_eq!(place_of(0, &cursors), place(None, 0));
        assert_eq!(place_of(1, &cursors), place(Some("a"), 0));
        assert_eq!(place_of(6, &cursors), place(Some("a"), 5 * PAGE));
        assert_eq!(place_of(499, &cursors), place(Some("b"), 492 * PAGE));
        assert_eq!(place_of(499, &BTreeMap::new()), place(None, 499 * PAGE));
    }
}
