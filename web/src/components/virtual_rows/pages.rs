//! The pages of a list that are here.
//!
//! A page is reached by the cursor of the one before, so that a jump far down walks there; what is left behind is
//! forgotten, but for the cursors.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use domain::api::Page;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client::{Answer, ApiError};

/// Rows of a page: as many as the API gives at once.
pub const PAGE: usize = 200;
/// Pages that are kept: scrolling to and fro asks for nothing twice.
const KEPT: usize = 24;

type Fetch<T> = Box<dyn Fn(Option<String>) -> std::pin::Pin<Box<dyn Future<Output = Answer<Page<T>>>>>>;

pub struct Pages<T: Send + Sync + 'static> {
    here: RwSignal<HashMap<usize, Arc<Vec<T>>>>,
    /// Where each page begins, as far as it is known.
    cursors: StoredValue<Vec<Option<String>>>,
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
    pub fn new<F>(load: impl Fn(Option<String>) -> F + 'static) -> Self
    where
        F: Future<Output = Answer<Page<T>>> + 'static,
    {
        Self {
            here: RwSignal::new(HashMap::new()),
            cursors: StoredValue::new(vec![None]),
            end: RwSignal::new(None),
            wanted: StoredValue::new(0..0),
            busy: StoredValue::new(false),
            failed: RwSignal::new(None),
            fetch: StoredValue::new_local(Box::new(move |after| Box::pin(load(after)))),
        }
    }

    /// How many rows there are: exactly, or as was said beforehand, or at least those that are here.
    pub fn total(self, said: Option<u64>) -> usize {
        let said = said.and_then(|said| usize::try_from(said).ok());
        let here = || self.here.read().iter().map(|(page, rows)| page * PAGE + rows.len()).max();
        self.end.get().or(said).or_else(here).unwrap_or_default()
    }

    pub fn row(self, index: usize) -> Option<T> {
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
            while let Some((page, after)) = self.next() {
                let Some(answer) = self.fetch.try_with_value(|fetch| fetch(after)) else { return };
                match answer.await {
                    Ok(rows) => self.keep(page, rows),
                    Err(error) => {
                        self.failed.try_set(Some(error));
                        break;
                    }
                }
            }
            self.busy.try_update_value(|busy| *busy = false);
        });
    }

    /// The page to fetch next: one that is wanted, or one on the way there.
    fn next(self) -> Option<(usize, Option<String>)> {
        let wanted = self.wanted.try_get_value()?;
        let known = self.cursors.try_get_value()?;
        let here = self.here.try_read_untracked()?;
        let missing = pages_of(&wanted).find(|page| !here.contains_key(page))?;
        let page = missing.min(known.len().checked_sub(1)?);
        // The last page is here, and what is wanted would be behind it.
        if here.contains_key(&page) { None } else { Some((page, known[page].clone())) }
    }

    fn keep(self, page: usize, rows: Page<T>) {
        let Some(wanted) = self.wanted.try_get_value() else { return };
        let known = self.cursors.try_update_value(|cursors| {
            if rows.next.is_some() && cursors.len() == page + 1 {
                cursors.push(rows.next.clone());
            }
        });
        if known.is_none() {
            return;
        }
        if rows.next.is_none() {
            self.end.try_set(Some(page * PAGE + rows.items.len()));
        }
        let wanted = pages_of(&wanted);
        let on_the_way = rows.next.is_some() && page + 1 < *wanted.start();
        if on_the_way {
            return;
        }
        self.here.try_update(|here| {
            here.insert(page, Arc::new(rows.items));
            while here.len() > KEPT {
                let Some(farthest) = here.keys().copied().max_by_key(|own| own.abs_diff(*wanted.start())) else {
                    return;
                };
                here.remove(&farthest);
            }
        });
    }
}

fn pages_of(rows: &Range<usize>) -> std::ops::RangeInclusive<usize> {
    rows.start / PAGE..=rows.end.saturating_sub(1).max(rows.start) / PAGE
}
