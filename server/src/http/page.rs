//! Lists come in pages.

use std::str::FromStr;

use domain::api::Page;
pub use domain::api::PageParams;

use super::error::{HttpError, Result};

const LIMIT: u16 = 50;
const LARGEST: u16 = 200;

/// Reads where a page begins and how long it is.
pub trait Paging {
    /// # Errors
    /// A limit out of range.
    fn limit(&self) -> Result<u16>;

    /// Where the page begins.
    ///
    /// # Errors
    /// Text that was no page's `next`.
    fn cursor<T: FromStr>(&self) -> Result<Option<T>>;

    /// After which name the page begins, in lists that are ordered by it.
    fn name(&self) -> &str;
}

impl Paging for PageParams {
    fn limit(&self) -> Result<u16> {
        match self.limit.unwrap_or(LIMIT) {
            limit @ 1..=LARGEST => Ok(limit),
            other => Err(HttpError::parameter("limit", format!("{other} is not from 1 to {LARGEST}"))),
        }
    }

    fn cursor<T: FromStr>(&self) -> Result<Option<T>> {
        let read = |text: &String| {
            text.parse().map_err(|_| HttpError::parameter("after", format!("`{text}` is not a cursor")))
        };
        self.after.as_ref().map(read).transpose()
    }

    fn name(&self) -> &str {
        self.after.as_deref().unwrap_or_default()
    }
}

/// A page of what was read with one more than it holds: that one tells whether there is a next.
pub fn page<T>(mut items: Vec<T>, limit: u16, cursor: impl Fn(&T) -> String) -> Page<T> {
    let limit = usize::from(limit);
    let more = items.len() > limit;
    items.truncate(limit);
    let next = if more { items.last().map(cursor) } else { None };
    Page { items, next }
}
